// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tagged.cpp: asks the kernel to add tagged buffers, and to take them out.
#include "tagged.hpp"

#include <algorithm>
#include <cerrno>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include "method.hpp"
#include "shared_queue.hpp"

namespace bellhop
{

static_assert(int{ BELLHOP_TAG_ADD } == IBV_WR_TAG_ADD);
static_assert(int{ BELLHOP_TAG_DEL } == IBV_WR_TAG_DEL);
static_assert(int{ BELLHOP_TAG_SYNC } == IBV_WR_TAG_SYNC);
static_assert(int{ BELLHOP_TAG_SIGNALED } == IBV_OPS_SIGNALED);
static_assert(int{ BELLHOP_TAG_COUNTED } == IBV_OPS_TM_SYNC);

namespace
{

int describe(const ibv_ops_wr &wr, bellhop_tag_op &op) noexcept
{
	op.opcode = static_cast<std::uint32_t>(wr.opcode);
	op.flags = static_cast<std::uint32_t>(wr.flags);
	op.wr_id = wr.wr_id;
	op.unmatched = wr.tm.unexpected_cnt;
	op.handle = wr.tm.handle;
	if (wr.opcode != IBV_WR_TAG_ADD)
		return 0;
	if (wr.tm.add.num_sge < 0 || wr.tm.add.num_sge > BELLHOP_MAX_TAG_SGE)
		return EINVAL;
	op.recv_wr_id = wr.tm.add.recv_wr_id;
	op.tag = wr.tm.add.tag;
	op.mask = wr.tm.add.mask;
	op.num_sge = static_cast<std::uint32_t>(wr.tm.add.num_sge);
	std::transform(wr.tm.add.sg_list, wr.tm.add.sg_list + wr.tm.add.num_sge, op.sge,
		       [](const ibv_sge &sge) {
			       return bellhop_sge{ sge.addr, sge.length, sge.lkey };
		       });
	return 0;
}

int post(ibv_srq *srq, ibv_ops_wr &wr) noexcept
{
	bellhop_tag_op op{};

	if (wr.opcode == IBV_WR_TAG_ADD)
		wr.tm.handle = SharedQueue::of(srq)->new_tag_handle();
	if (int error = describe(wr, op))
		return error;
	ib_uverbs_attr attributes[] = {
		object_attribute(BELLHOP_ATTR_SRQ_TAG_HANDLE, srq->handle),
		make_attribute(BELLHOP_ATTR_SRQ_TAG_OP, sizeof(op),
			       reinterpret_cast<std::uintptr_t>(&op)),
	};
	return call_method(srq->context->cmd_fd, UVERBS_OBJECT_SRQ, BELLHOP_METHOD_SRQ_TAG,
			   attributes);
}

} // namespace

int post_srq_ops(ibv_srq *srq, ibv_ops_wr *wr, ibv_ops_wr **bad_wr) noexcept
{
	for (; wr; wr = wr->next) {
		if (int error = post(srq, *wr)) {
			*bad_wr = wr;
			return error;
		}
	}
	return 0;
}

} // namespace bellhop
