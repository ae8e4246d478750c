// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wq.cpp: creates, changes and destroys receive work queues and their tables.
#include "wq.hpp"

#include <cerrno>
#include "context.hpp"
#include "heap.hpp"

namespace bellhop
{

namespace
{

int check(const ibv_wq_init_attr &attr) noexcept
{
	constexpr std::uint32_t KNOWN = IBV_WQ_INIT_ATTR_FLAGS;

	if ((attr.comp_mask & ~KNOWN) || attr.wq_type != IBV_WQT_RQ ||
	    ((attr.comp_mask & IBV_WQ_INIT_ATTR_FLAGS) && attr.create_flags))
		return EOPNOTSUPP;
	return attr.pd && attr.cq ? 0 : EINVAL;
}

int post_wq_recv(ibv_wq *wq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	return post_recv(&ReceiveWorkQueue::of(wq)->receiver.qp, wr, bad_wr);
}

// The kernel's part and ours; on failure neither remains.
int create(ibv_context *context, ReceiveWorkQueue *wq, ibv_wq_init_attr *attr) noexcept
{
	RequestEx<ib_uverbs_ex_create_wq> request{};
	Response<ib_uverbs_ex_create_wq_resp, bellhop_create_qp_resp> response{};
	ibv_qp &qp = wq->receiver.qp;
	int error = ibv_cmd_create_wq(context, attr, wq, &request, sizeof(request), response.core(),
				      sizeof(response));

	if (error)
		return error;
	wq->state = IBV_WQS_RESET;
	wq->post_recv = post_wq_recv;
	qp.context = context;
	qp.recv_cq = attr->cq;
	qp.qp_type = IBV_QPT_RAW_PACKET;
	qp.qp_num = wq->wq_num;
	ibv_qp_cap cap{};

	cap.max_recv_wr = attr->max_wr;
	cap.max_recv_sge = attr->max_sge;
	error = wq->receiver.attach(response.driver(), cap);
	if (!error && !Context::of(context)->own.qps.insert(wq->wq_num, &wq->receiver))
		error = ENOMEM;
	if (error)
		ibv_cmd_destroy_wq(wq);
	return error;
}

} // namespace

ibv_wq *create_wq(ibv_context *context, ibv_wq_init_attr *attr) noexcept
{
	int error = check(*attr);

	if (error) {
		errno = error;
		return nullptr;
	}
	auto wq = make<ReceiveWorkQueue>(!ProtectionDomain::of(attr->pd)->is_single_threaded(),
					 attr->pd);

	error = wq ? create(context, wq.get(), attr) : ENOMEM;
	if (error) {
		errno = error;
		return nullptr;
	}
	return wq.release();
}

int modify_wq(ibv_wq *wq, ibv_wq_attr *attr) noexcept
{
	RequestEx<ib_uverbs_ex_modify_wq> request{};

	if (int error = ibv_cmd_modify_wq(wq, attr, &request, sizeof(request)))
		return error;
	if (attr->attr_mask & IBV_WQ_ATTR_STATE)
		ReceiveWorkQueue::of(wq)->receiver.enter(
			attr->wq_state == IBV_WQS_RESET ? IBV_QPS_RESET : IBV_QPS_RTR);
	return 0;
}

int destroy_wq(ibv_wq *wq) noexcept
{
	auto *queue = ReceiveWorkQueue::of(wq);
	QpTable &qps = Context::of(wq->context)->own.qps;

	if (int error = ibv_cmd_destroy_wq(wq))
		return error;
	// In this order: what can still be polled must still be found.
	queue->receiver.remove_completions();
	qps.erase(wq->wq_num);
	dispose(queue);
	return 0;
}

ibv_rwq_ind_table *create_rwq_ind_table(ibv_context *context,
					ibv_rwq_ind_table_init_attr *attr) noexcept
{
	auto table = make<ibv_rwq_ind_table>();
	ib_uverbs_ex_create_rwq_ind_table_resp response{};
	int error = table ? ibv_cmd_create_rwq_ind_table(context, attr, table.get(), &response,
							 sizeof(response))
			  : ENOMEM;

	if (error) {
		errno = error;
		return nullptr;
	}
	return table.release();
}

int destroy_rwq_ind_table(ibv_rwq_ind_table *table) noexcept
{
	if (int error = ibv_cmd_destroy_rwq_ind_table(table))
		return error;
	dispose(table);
	return 0;
}

} // namespace bellhop
