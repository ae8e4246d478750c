// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// dm.hpp: device memory, which the program reaches without a system call.
#pragma once

#include "mapping.hpp"
#include "verbs_abi.hpp"

namespace bellhop
{

struct DeviceMemory : verbs_dm {
	Mapping mapping;
	std::size_t size = 0; // bytes that were asked for

	static DeviceMemory *of(ibv_dm *memory) noexcept
	{
		// It is the first member.
		return static_cast<DeviceMemory *>(reinterpret_cast<verbs_dm *>(memory));
	}
};

// Both return null and set errno. The second is of memory that the kernel has already.
ibv_dm *alloc_dm(ibv_context *context, ibv_alloc_dm_attr *attr) noexcept;
ibv_dm *import_dm(ibv_context *context, std::uint32_t handle) noexcept;

// Returns 0 or an errno: EBUSY while it is registered.
int free_dm(ibv_dm *memory) noexcept;

// The kernel keeps it.
void unimport_dm(ibv_dm *memory) noexcept;

// Its addresses begin with 0. Returns null and sets errno.
ibv_mr *reg_dm_mr(ibv_pd *pd, ibv_dm *memory, std::uint64_t offset, std::size_t length,
		  unsigned access) noexcept;

} // namespace bellhop
