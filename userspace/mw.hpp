// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mw.hpp: memory windows. Those of type 2 are bound by post_send and wr_bind_mw.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

// Returns null and sets errno.
ibv_mw *alloc_mw(ibv_pd *pd, ibv_mw_type type) noexcept;

// Returns 0 or an errno.
int dealloc_mw(ibv_mw *mw) noexcept;

// Posts a bind of a window of type 1, which has its new rkey then. Returns 0 or an errno.
int bind_mw(ibv_qp *qp, ibv_mw *mw, ibv_mw_bind *bind) noexcept;

} // namespace bellhop
