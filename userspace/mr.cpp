// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mr.cpp: memory regions.
#include "mr.hpp"

#include <cerrno>
#include <cstdint>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include "heap.hpp"
#include "method.hpp"

namespace bellhop
{

namespace
{

// libibverbs has a call for it, whose signature is another in later releases.
int register_dmabuf(verbs_mr &mr, ibv_pd *pd, std::uint64_t offset, std::uint64_t length,
		    std::uint64_t iova, int fd, int access) noexcept
{
	ib_uverbs_attr attributes[] = {
		object_attribute(UVERBS_ATTR_REG_DMABUF_MR_HANDLE),
		object_attribute(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd->handle),
		number_attribute(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset),
		number_attribute(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, length),
		number_attribute(UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova),
		number_attribute(UVERBS_ATTR_REG_DMABUF_MR_FD, static_cast<std::uint32_t>(fd)),
		number_attribute(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
				 static_cast<std::uint32_t>(access)),
		answer_attribute(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, mr.mr.lkey),
		answer_attribute(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, mr.mr.rkey),
	};
	static_assert(std::size(attributes) <= MAX_ATTRIBUTES);

	int error = call_method(pd->context->cmd_fd, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR,
				attributes);

	mr.mr.context = pd->context;
	mr.mr.pd = pd;
	mr.mr.addr = reinterpret_cast<void *>(offset);
	mr.mr.length = length;
	mr.mr.handle = static_cast<std::uint32_t>(attributes[0].data);
	mr.mr_type = VERBS_MR_TYPE_DMABUF;
	return error;
}

} // namespace

ibv_mr *reg_mr(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova, int access) noexcept
{
	auto mr = make<verbs_mr>();
	Request<ib_uverbs_reg_mr> request{};
	ib_uverbs_reg_mr_resp response{};
	int error = !mr ? ENOMEM
			: ibv_cmd_reg_mr(pd, addr, length, iova, access, mr.get(), &request,
					 sizeof(request), &response, sizeof(response));

	if (error) {
		errno = error;
		return nullptr;
	}
	return &mr.release()->mr;
}

ibv_mr *reg_dmabuf_mr(ibv_pd *pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
		      int fd, int access) noexcept
{
	auto mr = make<verbs_mr>();
	int error = mr ? register_dmabuf(*mr, pd, offset, length, iova, fd, access) : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return &mr.release()->mr;
}

ibv_mr *alloc_null_mr(ibv_pd *pd) noexcept
{
	auto mr = make<verbs_mr>();
	DriverRequest<ib_uverbs_reg_mr, bellhop_reg_mr> request({ BELLHOP_MR_NULL, 0 });
	ib_uverbs_reg_mr_resp response{};
	int error = !mr ? ENOMEM
			: ibv_cmd_reg_mr(pd, nullptr, SIZE_MAX, 0, IBV_ACCESS_LOCAL_WRITE, mr.get(),
					 &request, sizeof(request), &response, sizeof(response));

	if (error) {
		errno = error;
		return nullptr;
	}
	mr->mr.context = pd->context;
	mr->mr.pd = pd;
	mr->mr.length = SIZE_MAX;
	mr->mr.rkey = 0;
	mr->mr_type = VERBS_MR_TYPE_NULL;
	return &mr.release()->mr;
}

int rereg_mr(verbs_mr *mr, int flags, ibv_pd *pd, void *addr, std::size_t length,
	     int access) noexcept
{
	Request<ib_uverbs_rereg_mr> request{};
	ib_uverbs_rereg_mr_resp response{};
	int error = ibv_cmd_rereg_mr(mr, static_cast<std::uint32_t>(flags), addr, length,
				     reinterpret_cast<std::uintptr_t>(addr), access, pd, &request,
				     sizeof(request), &response, sizeof(response));

	// libibverbs tells programs no more than that the command has failed.
	if (error)
		errno = error;
	return error;
}

int dereg_mr(verbs_mr *mr) noexcept
{
	if (int error = ibv_cmd_dereg_mr(mr))
		return error;
	dispose(mr);
	return 0;
}

ibv_mr *import_mr(ibv_pd *pd, std::uint32_t handle) noexcept
{
	auto mr = make<verbs_mr>();
	int error = mr ? ibv_cmd_query_mr(pd, mr.get(), handle) : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return &mr.release()->mr;
}

void unimport_mr(ibv_mr *mr) noexcept
{
	// It is the first member.
	dispose(reinterpret_cast<verbs_mr *>(mr));
}

} // namespace bellhop
