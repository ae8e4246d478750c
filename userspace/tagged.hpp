// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tagged.hpp: the tagged buffers of a shared receive queue, which are the kernel's to keep.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

// As ibv_post_srq_ops(): 0 or an errno, and what stands before *bad_wr is done.
int post_srq_ops(ibv_srq *srq, ibv_ops_wr *wr, ibv_ops_wr **bad_wr) noexcept;

} // namespace bellhop
