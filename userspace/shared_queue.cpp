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

} // namespace

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

	return ibv_cmd_modify_srq(srq, attr, attr_mask, &request, sizeof(request));
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
