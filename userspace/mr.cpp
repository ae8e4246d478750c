// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mr.cpp: memory regions.
#include "mr.hpp"

#include <cerrno>
#include "heap.hpp"

namespace bellhop
{

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
