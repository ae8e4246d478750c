// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// completion_queue.cpp: creates, polls and destroys completion queues.
#include "completion_queue.hpp"

#include "completion_session.hpp"
#include "context.hpp"
#include "heap.hpp"
#include "pd.hpp"

namespace bellhop
{

static_assert(int{ BELLHOP_WC_SUCCESS } == IBV_WC_SUCCESS);
static_assert(int{ BELLHOP_WC_LOC_LEN_ERR } == IBV_WC_LOC_LEN_ERR);
static_assert(int{ BELLHOP_WC_LOC_QP_OP_ERR } == IBV_WC_LOC_QP_OP_ERR);
static_assert(int{ BELLHOP_WC_LOC_PROT_ERR } == IBV_WC_LOC_PROT_ERR);
static_assert(int{ BELLHOP_WC_WR_FLUSH_ERR } == IBV_WC_WR_FLUSH_ERR);
static_assert(int{ BELLHOP_WC_MW_BIND_ERR } == IBV_WC_MW_BIND_ERR);
static_assert(int{ BELLHOP_WC_LOC_ACCESS_ERR } == IBV_WC_LOC_ACCESS_ERR);
static_assert(int{ BELLHOP_WC_REM_INV_REQ_ERR } == IBV_WC_REM_INV_REQ_ERR);
static_assert(int{ BELLHOP_WC_REM_ACCESS_ERR } == IBV_WC_REM_ACCESS_ERR);
static_assert(int{ BELLHOP_WC_REM_OP_ERR } == IBV_WC_REM_OP_ERR);
static_assert(int{ BELLHOP_WC_RETRY_EXC_ERR } == IBV_WC_RETRY_EXC_ERR);
static_assert(int{ BELLHOP_WC_RNR_RETRY_EXC_ERR } == IBV_WC_RNR_RETRY_EXC_ERR);
static_assert(int{ BELLHOP_WC_FATAL_ERR } == IBV_WC_FATAL_ERR);
static_assert(int{ BELLHOP_WC_SEND } == IBV_WC_SEND);
static_assert(int{ BELLHOP_WC_RDMA_WRITE } == IBV_WC_RDMA_WRITE);
static_assert(int{ BELLHOP_WC_RDMA_READ } == IBV_WC_RDMA_READ);
static_assert(int{ BELLHOP_WC_COMP_SWAP } == IBV_WC_COMP_SWAP);
static_assert(int{ BELLHOP_WC_FETCH_ADD } == IBV_WC_FETCH_ADD);
static_assert(int{ BELLHOP_WC_BIND_MW } == IBV_WC_BIND_MW);
static_assert(int{ BELLHOP_WC_LOCAL_INV } == IBV_WC_LOCAL_INV);
static_assert(int{ BELLHOP_WC_RECV } == IBV_WC_RECV);
static_assert(int{ BELLHOP_WC_RECV_RDMA_WITH_IMM } == IBV_WC_RECV_RDMA_WITH_IMM);
static_assert(int{ BELLHOP_WC_TM_ERR } == IBV_WC_TM_ERR);
static_assert(int{ BELLHOP_WC_TM_RNDV_INCOMPLETE } == IBV_WC_TM_RNDV_INCOMPLETE);
static_assert(int{ BELLHOP_WC_TM_ADD } == IBV_WC_TM_ADD);
static_assert(int{ BELLHOP_WC_TM_DEL } == IBV_WC_TM_DEL);
static_assert(int{ BELLHOP_WC_TM_SYNC } == IBV_WC_TM_SYNC);
static_assert(int{ BELLHOP_WC_TM_RECV } == IBV_WC_TM_RECV);
static_assert(int{ BELLHOP_WC_TM_NO_TAG } == IBV_WC_TM_NO_TAG);
static_assert(int{ BELLHOP_WC_TM_SYNC_REQ } == IBV_WC_TM_SYNC_REQ);
static_assert(int{ BELLHOP_WC_TM_MATCH } == IBV_WC_TM_MATCH);
static_assert(int{ BELLHOP_WC_TM_DATA_VALID } == IBV_WC_TM_DATA_VALID);
static_assert(int{ BELLHOP_WC_WITH_IMM } == IBV_WC_WITH_IMM);
static_assert(int{ BELLHOP_WC_WITH_INV } == IBV_WC_WITH_INV);
static_assert(offsetof(ibv_wc, invalidated_rkey) == offsetof(ibv_wc, imm_data));

namespace
{

int check(const ibv_cq_init_attr_ex &attr) noexcept
{
	constexpr std::uint32_t KNOWN = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	bool has_flags = attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS;

	if ((attr.comp_mask & ~KNOWN) || (attr.wc_flags & ~COMPLETION_FIELDS) ||
	    (has_flags && (attr.flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED)))
		return EOPNOTSUPP;
	// A completion has room for one of them.
	if ((attr.wc_flags & IBV_WC_EX_WITH_TM_INFO) &&
	    (attr.wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
		return EOPNOTSUPP;
	if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    (!attr.parent_domain || !ProtectionDomain::of(attr.parent_domain)->is_parent()))
		return EINVAL;
	return 0;
}

ibv_pd *domain_of(const ibv_cq_init_attr_ex &attr) noexcept
{
	return attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr.parent_domain : nullptr;
}

bool is_single_threaded(const ibv_cq_init_attr_ex &attr) noexcept
{
	if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    (attr.flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		return true;
	ibv_pd *domain = domain_of(attr);

	return domain && ProtectionDomain::of(domain)->is_single_threaded();
}

// The kernel's part and ours; on failure neither remains.
int create(ibv_context *context, CompletionQueue *cq, const ibv_cq_init_attr_ex &attr) noexcept
{
	RequestEx<ib_uverbs_ex_create_cq> request{};
	Response<ib_uverbs_ex_create_cq_resp, bellhop_create_cq_resp> response{};
	int error = ibv_cmd_create_cq_ex(context, &attr,
#if BELLHOP_PABI >= 65
					 nullptr,
#endif
					 cq, &request, sizeof(request), response.core(),
					 sizeof(response), 0);

	if (error)
		return error;
	error = cq->attach(context->cmd_fd, response.driver().cq);
	if (error)
		ibv_cmd_destroy_cq(&cq->cq);
	return error;
}

CompletionQueue *create(ibv_context *context, const ibv_cq_init_attr_ex &attr) noexcept
{
	int error = check(attr);

	if (error) {
		errno = error;
		return nullptr;
	}
	auto cq = make<CompletionQueue>(!is_single_threaded(attr), Context::of(context)->own.qps,
					domain_of(attr));

	error = cq ? create(context, cq.get(), attr) : ENOMEM;
	if (error) {
		errno = error;
		return nullptr;
	}
	return cq.release();
}

int command_resize(ibv_cq *cq, int cqe, bellhop_resize_step step, bellhop_ring_map &map) noexcept
{
	DriverRequest<ib_uverbs_resize_cq, bellhop_resize_cq> request({ step, 0 });
	Response<ib_uverbs_resize_cq_resp, bellhop_resize_cq_resp> response{};
	int error = ibv_cmd_resize_cq(cq, cqe, &request, sizeof(request), response.core(),
				      sizeof(response));

	map = response.driver().cq;
	return error;
}

} // namespace

int CompletionQueue::resize(int cqe) noexcept
{
	auto next = make<NextRing>();
	bellhop_ring_map map;
	bellhop_ring_map none;

	if (!next)
		return ENOMEM;
	int error = command_resize(&cq, cqe, BELLHOP_RESIZE_MAKE, map);

	if (!error)
		error = next->mapping.map(cq.context->cmd_fd, map.offset, map.length,
					  PROT_READ | PROT_WRITE);
	if (!error)
		error = command_resize(&cq, cqe, BELLHOP_RESIZE_MOVE, none);
	// Of either step the answer alone may be lost.
	if (error && !newest().is_left()) {
		command_resize(&cq, cqe, BELLHOP_RESIZE_DROP, none);
		return error;
	}
	cq.cqe = static_cast<int>(map.slots);
	next->ring.attach(next->mapping.memory(), map);
	append(std::move(next));
	return 0;
}

int CompletionQueue::follow(int polled, int num_entries, ibv_wc *wc) noexcept
{
	while (polled < num_entries && advance())
		polled += take(num_entries - polled, wc + polled);
	return polled;
}

bool CompletionQueue::advance() noexcept
{
	if (!next_)
		return false;
	Owned<NextRing> next = std::move(next_);

	mapping_.swap(next->mapping);
	ring_ = next->ring;
	next_ = std::move(next->next);
	return true;
}

ibv_cq *create_cq(ibv_context *context, int cqe, ibv_comp_channel *channel,
		  int comp_vector) noexcept
{
	ibv_cq_init_attr_ex attr{};

	attr.cqe = static_cast<std::uint32_t>(cqe);
	attr.channel = channel;
	attr.comp_vector = static_cast<std::uint32_t>(comp_vector);
	CompletionQueue *cq = create(context, attr);

	return cq ? &cq->cq : nullptr;
}

ibv_cq_ex *create_cq_ex(ibv_context *context, ibv_cq_init_attr_ex *attr) noexcept
{
	CompletionQueue *cq = create(context, *attr);

	if (!cq)
		return nullptr;
	offer_completion_session(*cq, attr->wc_flags);
	return &cq->cq_ex;
}

int destroy_cq(ibv_cq *cq) noexcept
{
	if (int error = ibv_cmd_destroy_cq(cq))
		return error;
	dispose(CompletionQueue::of(cq));
	return 0;
}

int modify_cq(ibv_cq *cq, ibv_modify_cq_attr *attr) noexcept
{
	RequestEx<ib_uverbs_ex_modify_cq> request{};

	return ibv_cmd_modify_cq(cq, attr, &request, sizeof(request));
}

int poll_cq(ibv_cq *ibv_cq, int num_entries, ibv_wc *wc) noexcept
{
	auto *cq = CompletionQueue::of(ibv_cq);

	return cq->is_locked() ? cq->poll<true>(num_entries, wc) : cq->poll<false>(num_entries, wc);
}

int req_notify_cq(ibv_cq *ibv_cq, int solicited_only) noexcept
{
	auto *cq = CompletionQueue::of(ibv_cq);

	if (cq->is_locked())
		cq->arm<true>(solicited_only);
	else
		cq->arm<false>(solicited_only);
	return 0;
}

int resize_cq(ibv_cq *ibv_cq, int cqe) noexcept
{
	auto *cq = CompletionQueue::of(ibv_cq);

	return cq->is_locked() ? cq->resize<true>(cqe) : cq->resize<false>(cqe);
}

} // namespace bellhop
