// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mr.hpp: memory regions.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

// Returns null and sets errno.
ibv_mr *reg_mr(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova, int access) noexcept;

// Returns 0 or an errno.
int dereg_mr(verbs_mr *mr) noexcept;

} // namespace bellhop
