// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// flow.cpp: flows, which are all the kernel's.
#include "flow.hpp"

#include <cerrno>
#include "heap.hpp"

namespace bellhop
{

ibv_flow *create_flow(ibv_qp *qp, ibv_flow_attr *attr) noexcept
{
	auto flow = make<ibv_flow>();
	int error = flow ? ibv_cmd_create_flow(qp, flow.get(), attr, nullptr, 0) : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return flow.release();
}

int destroy_flow(ibv_flow *flow) noexcept
{
	if (int error = ibv_cmd_destroy_flow(flow))
		return error;
	dispose(flow);
	return 0;
}

} // namespace bellhop
