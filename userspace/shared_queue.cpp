// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shared_queue.cpp: creates, modifies and destroys shared receive queues.
#include "shared_queue.hpp"

#include "completion_queue.hpp"
#include "heap.hpp"

namespace bellhop
{

namespace
{

int check(const ibv_srq_init_attr_ex &attr) noexcept
{
	// What an SRQ of its type needs; an ordinary one does not come here.
	constexpr std::uint32_t ALL =
		IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
	const bool is_tagged = attr.srq_type == IBV_SRQT_TM;
	const std::uint32_t known =
		ALL | (is_tagged ? IBV_SRQ_INIT_ATTR_TM : IBV_SRQ_INIT_ATTR_XRCD);

	if ((attr.comp_mask & ~known) || !(attr.comp_mask & IBV_SRQ_INIT_ATTR_TYPE) ||
	    (attr.srq_type != IBV_SRQT_XRC && !is_tagged))
		return EOPNOTSUPP;
	if (attr.comp_mask != known || !attr.pd || !attr.cq || (!is_tagged && !attr.xrcd))
		return EINVAL;
	// A completion has one place for a tag and the time of day.
	return is_tagged && CompletionQueue::of(attr.cq)->cq_ex.read_completion_wallclock_ns
		       ? EOPNOTSUPP
		       : 0;
}

// The kernel's part and ours; on failure neither remains.
int create(SharedQueue &queue, ibv_srq_init_attr_ex &attr) noexcept
{
	Request<ib_uverbs_create_xsrq> request{};
	Response<ib_uverbs_create_srq_resp, bellhop_create_srq_resp> response{};
	int error = ibv_cmd_create_srq_ex(attr.pd->context, &queue, &attr, &request,
					  sizeof(request), response.core(), sizeof(response));

	if (error)
		return error;
	queue.srq.srq_context = attr.srq_context;
	queue.srq_num = response.driver().srqn;
	queue.cq = queue.srq_num ? attr.cq : nullptr;
	error = queue.map(response.driver().srq, attr.attr.max_sge);
	if (error)
		ibv_cmd_destroy_srq(&queue.srq);
	return error;
}

// One step of changing an SRQ's ring. map: of BELLHOP_RESIZE_MAKE, else null.
int command_resize(ibv_srq *srq, ibv_srq_attr attr, int attr_mask, bellhop_resize_step step,
		   bellhop_ring_map *map = nullptr) noexcept
{
	DriverRequest<ib_uverbs_modify_srq, bellhop_modify_srq> request(
		{ step, 0, reinterpret_cast<std::uintptr_t>(map) });

	return ibv_cmd_modify_srq(srq, &attr, attr_mask, &request, sizeof(request));
}

ibv_srq *create(ibv_srq_init_attr_ex &attr) noexcept
{
	auto queue =
		make<SharedQueue>(!ProtectionDomain::of(attr.pd)->is_single_threaded(), attr.pd);
	int error = queue ? create(*queue, attr) : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return &queue.release()->srq;
}

} // namespace

int SharedQueue::resize(const ibv_srq_attr &attr, int attr_mask) noexcept
{
	Mapping next;
	bellhop_ring_map map{};
	int error = command_resize(&srq, attr, IBV_SRQ_MAX_WR, BELLHOP_RESIZE_MAKE, &map);

	if (!error)
		error = next.map(srq.context->cmd_fd, map.offset, map.length,
				 PROT_READ | PROT_WRITE);
	if (!error)
		error = command_resize(&srq, attr, attr_mask, BELLHOP_RESIZE_MOVE);
	if (error) {
		command_resize(&srq, attr, IBV_SRQ_MAX_WR, BELLHOP_RESIZE_DROP);
		return error;
	}
	mapping_.swap(next);
	move(mapping_.memory(), map);
	return 0;
}

ibv_srq *create_srq(ibv_pd *pd, ibv_srq_init_attr *attr) noexcept
{
	ibv_srq_init_attr_ex extended{};

	extended.srq_context = attr->srq_context;
	extended.attr = attr->attr;
	extended.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	extended.pd = pd;
	ibv_srq *srq = create(extended);

	if (srq)
		attr->attr = extended.attr;
	return srq;
}

ibv_srq *create_srq_ex(ibv_context *, ibv_srq_init_attr_ex *attr) noexcept
{
	if (int error = check(*attr)) {
		errno = error;
		return nullptr;
	}
	return create(*attr);
}

int get_srq_num(ibv_srq *srq, std::uint32_t *srq_num) noexcept
{
	auto *queue = SharedQueue::of(srq);

	if (queue->srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*srq_num = queue->srq_num;
	return 0;
}

int modify_srq(ibv_srq *srq, ibv_srq_attr *attr, int attr_mask) noexcept
{
	Request<ib_uverbs_modify_srq> request{};
	auto *queue = SharedQueue::of(srq);

	if (!(attr_mask & IBV_SRQ_MAX_WR))
		return ibv_cmd_modify_srq(srq, attr, attr_mask, &request, sizeof(request));
	return queue->is_locked() ? queue->resize<true>(*attr, attr_mask)
				  : queue->resize<false>(*attr, attr_mask);
}

int query_srq(ibv_srq *srq, ibv_srq_attr *attr) noexcept
{
	Request<ib_uverbs_query_srq> request{};

	return ibv_cmd_query_srq(srq, attr, &request, sizeof(request));
}

int destroy_srq(ibv_srq *srq) noexcept
{
	auto *queue = SharedQueue::of(srq);

	if (int error = ibv_cmd_destroy_srq(srq))
		return error;
	if (queue->cq)
		CompletionQueue::of(queue->cq)->remove_shared(queue->srq_num);
	dispose(queue);
	return 0;
}

int post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	auto *queue = SharedQueue::of(srq);

	return queue->is_locked() ? queue->post<true>(wr, bad_wr) : queue->post<false>(wr, bad_wr);
}

} // namespace bellhop
