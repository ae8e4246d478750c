// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ah.hpp: makes and destroys address handles.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

// Returns null and sets errno.
ibv_ah *create_ah(ibv_pd *pd, ibv_ah_attr *attr) noexcept;

// Returns 0 or an errno.
int destroy_ah(ibv_ah *ah) noexcept;

} // namespace bellhop
