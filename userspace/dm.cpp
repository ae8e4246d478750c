// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// dm.cpp: device memory, which the program reaches without a system call.
#include "dm.hpp"

#include <cerrno>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include "heap.hpp"
#include "method.hpp"

namespace bellhop
{

namespace
{

// Whole words, as devices have it.
constexpr std::uint64_t WORD = 4;

// Returns where the range is mapped, or null where it is none of the memory's.
std::byte *find(ibv_dm *memory, std::uint64_t offset, std::size_t length) noexcept
{
	const auto *dm = DeviceMemory::of(memory);

	if (offset % WORD || length % WORD || offset > dm->size || length > dm->size - offset)
		return nullptr;
	return static_cast<std::byte *>(dm->mapping.memory()) + offset;
}

int copy_to(ibv_dm *memory, std::uint64_t offset, const void *from, std::size_t length) noexcept
{
	std::byte *to = find(memory, offset, length);

	if (!to)
		return EINVAL;
	std::memcpy(to, from, length);
	return 0;
}

int copy_from(void *to, ibv_dm *memory, std::uint64_t offset, std::size_t length) noexcept
{
	const std::byte *from = find(memory, offset, length);

	if (!from)
		return EINVAL;
	std::memcpy(to, from, length);
	return 0;
}

// What the kernel has told about the memory with that handle.
int enter(DeviceMemory &dm, ibv_context *context, std::uint32_t handle,
	  const bellhop_dm_resp &told) noexcept
{
	int error =
		dm.mapping.map(context->cmd_fd, told.offset, told.length, PROT_READ | PROT_WRITE);

	dm.size = told.size;
	dm.handle = handle;
	dm.dm.handle = handle;
	dm.dm.context = context;
	dm.dm.memcpy_to_dm = copy_to;
	dm.dm.memcpy_from_dm = copy_from;
	dm.dm.comp_mask = IBV_DM_MASK_HANDLE;
	return error;
}

int allocate(DeviceMemory &dm, ibv_context *context, const ibv_alloc_dm_attr &attr) noexcept
{
	bellhop_dm_resp told{};
	ib_uverbs_attr attributes[] = {
		object_attribute(UVERBS_ATTR_ALLOC_DM_HANDLE),
		number_attribute<std::uint64_t>(UVERBS_ATTR_ALLOC_DM_LENGTH, attr.length),
		number_attribute(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, attr.log_align_req),
		answer_attribute(BELLHOP_ATTR_ALLOC_DM_RESP, told),
	};

	if (attr.comp_mask)
		return EOPNOTSUPP;
	int error =
		call_method(context->cmd_fd, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, attributes);
	if (error)
		return error;
	error = enter(dm, context, static_cast<std::uint32_t>(attributes[0].data), told);
	if (error)
		ibv_cmd_free_dm(&dm);
	return error;
}

int join(DeviceMemory &dm, ibv_context *context, std::uint32_t handle) noexcept
{
	bellhop_dm_resp told{};
	ib_uverbs_attr attributes[] = {
		object_attribute(BELLHOP_ATTR_QUERY_DM_HANDLE, handle),
		answer_attribute(BELLHOP_ATTR_QUERY_DM_RESP, told),
	};
	int error =
		call_method(context->cmd_fd, UVERBS_OBJECT_DM, BELLHOP_METHOD_DM_QUERY, attributes);

	return error ? error : enter(dm, context, handle, told);
}

} // namespace

ibv_dm *alloc_dm(ibv_context *context, ibv_alloc_dm_attr *attr) noexcept
{
	auto dm = make<DeviceMemory>();
	int error = dm ? allocate(*dm, context, *attr) : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return &dm.release()->dm;
}

ibv_dm *import_dm(ibv_context *context, std::uint32_t handle) noexcept
{
	auto dm = make<DeviceMemory>();
	int error = dm ? join(*dm, context, handle) : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return &dm.release()->dm;
}

int free_dm(ibv_dm *memory) noexcept
{
	auto *dm = DeviceMemory::of(memory);

	if (int error = ibv_cmd_free_dm(dm))
		return error;
	dispose(dm);
	return 0;
}

void unimport_dm(ibv_dm *memory) noexcept
{
	dispose(DeviceMemory::of(memory));
}

ibv_mr *reg_dm_mr(ibv_pd *pd, ibv_dm *memory, std::uint64_t offset, std::size_t length,
		  unsigned access) noexcept
{
	auto mr = make<verbs_mr>();
	int error = mr ? ibv_cmd_reg_dm_mr(pd, DeviceMemory::of(memory), offset, length, access,
					   mr.get(), nullptr)
		       : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return &mr.release()->mr;
}

} // namespace bellhop
