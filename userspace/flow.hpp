// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// flow.hpp: which frames a raw packet QP gets.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

// Returns null and sets errno.
ibv_flow *create_flow(ibv_qp *qp, ibv_flow_attr *attr) noexcept;

// Returns 0 or an errno.
int destroy_flow(ibv_flow *flow) noexcept;

} // namespace bellhop
