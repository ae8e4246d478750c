// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shared_queue.cpp: creates, modifies and destroys shared receive queues.
#include "shared_queue.hpp"

#include "heap.hpp"

namespace bellhop
{

namespace
{

// The kernel's part and ours; on failure neither remains.
int create(ibv_pd *pd, SharedQueue &queue, ibv_srq_init_attr *attr) noexcept
{
	Request<ib_uverbs_create_srq> request{};
	Response<ib_uverbs_create_srq_resp, bellhop_create_srq_resp> response{};
	int error = ibv_cmd_create_srq(pd, &queue, attr, &request, sizeof(request), response.core(),
				       sizeof(response));

	if (error)
		return error;
	queue.context = pd->context;
	error = queue.map(response.driver().srq, attr->attr.max_sge);
	if (error)
		ibv_cmd_destroy_srq(&queue);
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

} // namespace

int SharedQueue::resize(const ibv_srq_attr &attr, int attr_mask) noexcept
{
	Mapping next;
	bellhop_ring_map map{};
	int error = command_resize(this, attr, IBV_SRQ_MAX_WR, BELLHOP_RESIZE_MAKE, &map);

	if (!error)
		error = next.map(context->cmd_fd, map.offset, map.length, PROT_READ | PROT_WRITE);
	if (!error)
		error = command_resize(this, attr, attr_mask, BELLHOP_RESIZE_MOVE);
	if (error) {
		command_resize(this, attr, IBV_SRQ_MAX_WR, BELLHOP_RESIZE_DROP);
		return error;
	}
	mapping_.swap(next);
	move(mapping_.memory(), map);
	return 0;
}

ibv_srq *create_srq(ibv_pd *pd, ibv_srq_init_attr *attr) noexcept
{
	auto queue = make<SharedQueue>(!ProtectionDomain::of(pd)->is_single_threaded(), pd);
	int error = queue ? create(pd, *queue, attr) : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return queue.release();
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
	if (int error = ibv_cmd_destroy_srq(srq))
		return error;
	dispose(SharedQueue::of(srq));
	return 0;
}

int post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	auto *queue = SharedQueue::of(srq);

	return queue->is_locked() ? queue->post<true>(wr, bad_wr) : queue->post<false>(wr, bad_wr);
}

} // namespace bellhop
