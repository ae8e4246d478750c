// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// work_request.hpp: the ibv_wr_* calls of an extended QP.
#pragma once

#include <cstdint>
#include <infiniband/verbs.h>
#include "service.hpp"

namespace bellhop
{

class QueuePair;

// The operations that can be asked for of a QP, of enum ibv_qp_create_send_ops_flags.
constexpr std::uint64_t work_requests_of(Service service) noexcept
{
	std::uint64_t operations = IBV_QP_EX_WITH_SEND;

	if (service & SERVICES_IBA)
		operations |= IBV_QP_EX_WITH_SEND_WITH_IMM;
	if (service & SERVICES_CONNECTED)
		operations |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			      IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
	if (service & SERVICES_RELIABLE)
		operations |= IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV |
			      IBV_QP_EX_WITH_ATOMIC_WRITE;
	return operations;
}

// Fills in the calls for the operations of send_ops_flags, a part of work_requests_of().
void offer_work_requests(QueuePair &qp, std::uint64_t send_ops_flags) noexcept;

} // namespace bellhop
