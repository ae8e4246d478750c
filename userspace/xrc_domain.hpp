// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// xrc_domain.hpp: XRC domains, which processes share by a file.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

// Operations of libibverbs. The first returns null and sets errno, the other 0 or an errno.
ibv_xrcd *open_xrcd(ibv_context *context, ibv_xrcd_init_attr *attr) noexcept;
int close_xrcd(ibv_xrcd *xrcd) noexcept;

} // namespace bellhop
