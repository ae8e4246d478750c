// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mr.hpp: memory regions.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

// Returns null and sets errno.
ibv_mr *reg_mr(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova, int access) noexcept;

// A region of memory that another driver exports as a file. Returns null and sets errno.
ibv_mr *reg_dmabuf_mr(ibv_pd *pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
		      int fd, int access) noexcept;

// A region of nothing: zeros are read of it, and what is written is dropped. It is for this side
// only. Returns null and sets errno.
ibv_mr *alloc_null_mr(ibv_pd *pd) noexcept;

// A region that the kernel has already, under its handle; its address is not known. Returns null
// and sets errno.
ibv_mr *import_mr(ibv_pd *pd, std::uint32_t handle) noexcept;

// The kernel keeps it.
void unimport_mr(ibv_mr *mr) noexcept;

// Changes what the IBV_REREG_MR_CHANGE_ flags say. Returns 0, and mr has the keys of what is
// registered now; or an errno, and all is as before.
int rereg_mr(verbs_mr *mr, int flags, ibv_pd *pd, void *addr, std::size_t length,
	     int access) noexcept;

// Returns 0 or an errno.
int dereg_mr(verbs_mr *mr) noexcept;

} // namespace bellhop
