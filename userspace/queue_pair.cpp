// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// queue_pair.cpp: creates, modifies and destroys queue pairs.
#include "queue_pair.hpp"

#include <cerrno>
#include "completion_queue.hpp"
#include "context.hpp"
#include "heap.hpp"
#include "work_request.hpp"

namespace bellhop
{

namespace
{

// EOPNOTSUPP tells a program to try something else; EINVAL that it made a mistake.
int check(const ibv_qp_init_attr_ex &attr) noexcept
{
	constexpr std::uint32_t KNOWN = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
					IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (!service_of(attr.qp_type) || (attr.comp_mask & ~KNOWN))
		return EOPNOTSUPP;
	if (attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) {
		if (attr.create_flags & ~std::uint32_t{ IBV_QP_CREATE_BLOCK_SELF_MCAST_LB })
			return EOPNOTSUPP;
		if (attr.create_flags && attr.qp_type != IBV_QPT_UD)
			return EINVAL;
	}
	if ((attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    (attr.send_ops_flags & ~work_requests_of(service_of(attr.qp_type))))
		return EOPNOTSUPP;
	if (!(attr.comp_mask & IBV_QP_INIT_ATTR_PD) || !attr.pd || !attr.send_cq ||
	    (!attr.recv_cq && attr.qp_type != IBV_QPT_XRC_SEND))
		return EINVAL;
	return 0;
}

// Of a target QP, which is made in an XRC domain and has no queues.
int check_target(const ibv_qp_init_attr_ex &attr) noexcept
{
	constexpr std::uint32_t KNOWN =
		IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS;

	if ((attr.comp_mask & ~KNOWN) ||
	    ((attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr.create_flags))
		return EOPNOTSUPP;
	return (attr.comp_mask & IBV_QP_INIT_ATTR_XRCD) && attr.xrcd ? 0 : EINVAL;
}

constexpr std::uint32_t SPREAD = IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;

// Of a QP whose frames receive work queues take, so that it has no queues itself.
int check_spread(const ibv_qp_init_attr_ex &attr) noexcept
{
	constexpr std::uint32_t KNOWN =
		SPREAD | IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	const ibv_rx_hash_conf &hash = attr.rx_hash_conf;

	if (attr.qp_type != IBV_QPT_RAW_PACKET || (attr.comp_mask & ~KNOWN) ||
	    ((attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr.create_flags) ||
	    attr.send_cq || hash.rx_hash_function != IBV_RX_HASH_FUNC_TOEPLITZ ||
	    (hash.rx_hash_fields_mask & ~std::uint64_t{ BELLHOP_HASH_FIELDS }))
		return EOPNOTSUPP;
	return (attr.comp_mask & SPREAD) == SPREAD && attr.rwq_ind_tbl &&
			       (attr.comp_mask & IBV_QP_INIT_ATTR_PD) && attr.pd &&
			       hash.rx_hash_key_len == BELLHOP_HASH_KEY_BYTES
		       ? 0
		       : EINVAL;
}

bool is_spread(const ibv_qp_init_attr_ex &attr) noexcept
{
	return attr.comp_mask & SPREAD;
}

int check_any(const ibv_qp_init_attr_ex &attr) noexcept
{
	if (is_spread(attr))
		return check_spread(attr);
	return attr.qp_type == IBV_QPT_XRC_RECV ? check_target(attr) : check(attr);
}

// The kernel's part and ours; on failure neither remains.
int create(ibv_context *context, QueuePair *qp, ibv_qp_init_attr_ex *attr) noexcept
{
	DriverRequestEx<ib_uverbs_ex_create_qp, bellhop_create_qp> request{};
	std::size_t request_size = sizeof(request.core);
	Response<ib_uverbs_ex_create_qp_resp, bellhop_create_qp_resp> response{};

	if (is_spread(*attr)) {
		const ibv_rx_hash_conf &hash = attr->rx_hash_conf;

		request_size = sizeof(request);
		request.driver.hash_fields = static_cast<std::uint32_t>(hash.rx_hash_fields_mask);
		std::memcpy(request.driver.hash_key, hash.rx_hash_key, hash.rx_hash_key_len);
	}
	int error = ibv_cmd_create_qp_ex2(context, qp, attr, &request, request_size,
#if BELLHOP_PABI >= 65
					  response.core(), sizeof(response), nullptr);
#else
					  response.core(), sizeof(response));
#endif

	if (error)
		return error;
	qp->forget_absent();
	error = qp->attach(response.driver(), attr->cap);
	if (!error && qp->has_completions() &&
	    !Context::of(context)->own.qps.insert(qp->qp.qp_num, qp))
		error = ENOMEM;
	if (error)
		ibv_cmd_destroy_qp(&qp->qp);
	return error;
}

} // namespace

int QueuePair::attach(const bellhop_create_qp_resp &rings, const ibv_qp_cap &cap) noexcept
{
	constexpr int PROTECTION = PROT_READ | PROT_WRITE;
	const Kick &kick = Context::of(qp.context)->own.kick;
	int fd = qp.context->cmd_fd;

	if (int error = send_mapping_.map(fd, rings.sq.offset, rings.sq.length, PROTECTION))
		return error;
	if (int error = recv_mapping_.map(fd, rings.rq.offset, rings.rq.length, PROTECTION))
		return error;
	const WqeLimits send_limits{ .max_sge = cap.max_send_sge,
				     .max_inline = cap.max_inline_data,
				     .service = service_of(qp.qp_type) };
	const WqeLimits recv_limits{ .max_sge = cap.max_recv_sge, .max_inline = 0 };
	const Allocator *allocator = domain_.allocator();
	bool attached = send.attach(send_mapping_.memory(), rings.sq, send_limits, kick, qp.qp_num,
				    allocator) &&
			recv.attach(recv_mapping_.memory(), rings.rq, recv_limits, kick, qp.qp_num,
				    allocator);

	return attached ? 0 : ENOMEM;
}

void QueuePair::enter(ibv_qp_state state) noexcept
{
	bool sends = state != IBV_QPS_RESET && state != IBV_QPS_INIT && state != IBV_QPS_RTR;

	if (state == IBV_QPS_RESET) {
		remove_completions();
		// Nobody may use a QP while it is reset, so the lock's other holders do not matter.
		send.reset<true>();
		recv.reset<true>();
		return;
	}
	send.set_open<true>(sends);
	recv.set_open<true>(true);
}

void QueuePair::forget_absent() noexcept
{
	if (qp.qp_type == IBV_QPT_XRC_RECV)
		qp.send_cq = nullptr;
	if (qp.qp_type == IBV_QPT_XRC_RECV || qp.qp_type == IBV_QPT_XRC_SEND)
		qp.recv_cq = nullptr;
}

void QueuePair::remove_completions() noexcept
{
	if (qp.send_cq)
		CompletionQueue::of(qp.send_cq)->remove(qp.qp_num);
	if (qp.recv_cq && qp.recv_cq != qp.send_cq)
		CompletionQueue::of(qp.recv_cq)->remove(qp.qp_num);
}

ibv_qp *create_qp_ex(ibv_context *context, ibv_qp_init_attr_ex *attr) noexcept
{
	bool is_target = attr->qp_type == IBV_QPT_XRC_RECV;
	int error = check_any(*attr);

	if (error) {
		errno = error;
		return nullptr;
	}
	ibv_pd *pd = is_target ? nullptr : attr->pd;
	bool is_locked = !pd || !ProtectionDomain::of(pd)->is_single_threaded();
	auto qp = make<QueuePair>(is_locked, pd);

	error = qp ? create(context, qp.get(), attr) : ENOMEM;
	if (error) {
		errno = error;
		return nullptr;
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		offer_work_requests(*qp, attr->send_ops_flags);
		qp->comp_mask |= VERBS_QP_EX;
	}
	return &qp.release()->qp;
}

ibv_qp *create_qp(ibv_pd *pd, ibv_qp_init_attr *attr) noexcept
{
	ibv_qp_init_attr_ex extended{};

	extended.qp_context = attr->qp_context;
	extended.send_cq = attr->send_cq;
	extended.recv_cq = attr->recv_cq;
	extended.srq = attr->srq;
	extended.cap = attr->cap;
	extended.qp_type = attr->qp_type;
	extended.sq_sig_all = attr->sq_sig_all;
	extended.comp_mask = IBV_QP_INIT_ATTR_PD;
	extended.pd = pd;
	ibv_qp *qp = create_qp_ex(pd->context, &extended);

	if (qp)
		attr->cap = extended.cap;
	return qp;
}

ibv_qp *open_qp(ibv_context *context, ibv_qp_open_attr *attr) noexcept
{
	auto qp = make<QueuePair>(true);
	Request<ib_uverbs_open_qp> request{};
	ib_uverbs_create_qp_resp response{};
	int error = !qp ? ENOMEM
			: ibv_cmd_open_qp(context, qp.get(), sizeof(verbs_qp), attr, &request,
					  sizeof(request), &response, sizeof(response));

	if (error) {
		errno = error;
		return nullptr;
	}
	return &qp.release()->qp;
}

int modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask) noexcept
{
	Request<ib_uverbs_modify_qp> request{};

	if (int error = ibv_cmd_modify_qp(qp, attr, attr_mask, &request, sizeof(request)))
		return error;
	if (attr_mask & IBV_QP_STATE)
		QueuePair::of(qp)->enter(attr->qp_state);
	return 0;
}

int query_qp(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask, ibv_qp_init_attr *init_attr) noexcept
{
	Request<ib_uverbs_query_qp> request{};

	return ibv_cmd_query_qp(qp, attr, attr_mask, init_attr, &request, sizeof(request));
}

int destroy_qp(ibv_qp *ibv_qp) noexcept
{
	auto *qp = QueuePair::of(ibv_qp);
	QpTable &qps = Context::of(ibv_qp->context)->own.qps;

	if (int error = ibv_cmd_destroy_qp(ibv_qp))
		return error;
	// In this order: what can still be polled must still be found.
	qp->remove_completions();
	if (qp->has_completions())
		qps.erase(ibv_qp->qp_num);
	dispose(qp);
	return 0;
}

int post_send(ibv_qp *ibv_qp, ibv_send_wr *wr, ibv_send_wr **bad_wr) noexcept
{
	auto *qp = QueuePair::of(ibv_qp);

	return qp->is_locked() ? qp->send.post<true>(wr, bad_wr) : qp->send.post<false>(wr, bad_wr);
}

int post_recv(ibv_qp *ibv_qp, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	auto *qp = QueuePair::of(ibv_qp);

	return qp->is_locked() ? qp->recv.post<true>(wr, bad_wr) : qp->recv.post<false>(wr, bad_wr);
}

} // namespace bellhop
