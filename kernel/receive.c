// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* receive.c: takes receive entries and ends them. */
#include "cq.h"
#include "device.h"
#include "match.h"
#include "mw.h"
#include "proto/responder.h"
#include "qp.h"
#include "receive.h"
#include "run.h"
#include "slot.h"
#include "srq.h"
#include "xrcd.h"

void bellhop_receive_complete(struct bellhop_qp *qp, struct bellhop_completion *completion,
			      bool solicited)
{
	struct bellhop_receiver *recv = &qp->recv;

	lockdep_assert_held(&qp->slot->lock);

	recv->busy = false;
	if (unlikely(recv->matches))
		bellhop_match_end(qp, completion->status);
	completion->wr_id =
		recv->srq ? recv->wqe.wr_id : bellhop_ledger_retire(&qp->recv_ledger, recv->index);
	completion->qpn = recv->cqe_qpn;
	completion->wqe_index = recv->index;
	if (bellhop_cq_push(qp->recv_cq, qp, completion, solicited) &&
	    !bellhop_state_flushes(recv->rules.state)) {
		bellhop_qp_fail(qp, BELLHOP_REASON_CQ_OVERRUN);
		bellhop_qp_event(qp, IB_EVENT_QP_FATAL);
		bellhop_run_defer(qp);
	}
}

void bellhop_receive_fail(struct bellhop_qp *qp, enum bellhop_wc_status status,
			  enum bellhop_reason reason)
{
	struct bellhop_completion completion = {
		.opcode = BELLHOP_WC_RECV,
		.status = status,
		.vendor_err = reason,
	};

	if (status != BELLHOP_WC_WR_FLUSH_ERR)
		bellhop_counters_count(&qp->device->counters, BELLHOP_COUNTER_RECV_ERRORS);
	bellhop_receive_complete(qp, &completion, true);
}

static void fail_queue(struct bellhop_qp *qp)
{
	/* There is no entry whose completion could tell its owner. */
	bellhop_qp_fail(qp, BELLHOP_REASON_RECV_FAULTY);
	bellhop_qp_event(qp, IB_EVENT_QP_FATAL);
}

static enum bellhop_reason take_shared(struct bellhop_qp *qp)
{
	enum bellhop_reason reason = bellhop_srq_take(qp->recv.srq, &qp->recv.wqe);

	if (reason == BELLHOP_REASON_RING_INDEX) {
		fail_queue(qp);
		return BELLHOP_REASON_RECV_FAULTY;
	}
	qp->recv.busy = reason != BELLHOP_REASON_RNR;
	return reason;
}

/*
 * Nothing to receive: the sender's number is there before the library is asked to kick,
 * so that whoever answers the request finds it.
 */
static int wait_for_receive(struct bellhop_receiver *recv, u32 waiter_qpn)
{
	int pending;

	WRITE_ONCE(recv->waiter_qpn, waiter_qpn);
	bellhop_ring_want(&recv->ring, true);
	pending = bellhop_ring_pending(&recv->ring);
	if (pending) {
		WRITE_ONCE(recv->waiter_qpn, 0);
		bellhop_ring_want(&recv->ring, false);
	}
	return pending;
}

enum bellhop_reason bellhop_receive_take(struct bellhop_qp *qp, u32 waiter_qpn)
{
	struct bellhop_receiver *recv = &qp->recv;
	enum bellhop_reason reason;
	int pending;

	lockdep_assert_held(&qp->slot->lock);

	if (recv->srq)
		return take_shared(qp);
	/* Its producer index is looked at only when it must be: it is the other side's line. */
	pending = bellhop_ring_is_done(&recv->ring) ? bellhop_ring_pending(&recv->ring) : 1;
	if (!pending && waiter_qpn)
		pending = wait_for_receive(recv, waiter_qpn);
	if (!pending)
		return BELLHOP_REASON_RNR;
	if (pending < 0) {
		fail_queue(qp);
		return BELLHOP_REASON_RECV_FAULTY;
	}
	reason =
		bellhop_wqe_decode_recv(&recv->wqe, bellhop_ring_front(&recv->ring), &recv->limits);
	recv->index = bellhop_ring_take(&recv->ring);
	recv->busy = true;
	return reason ? BELLHOP_REASON_RECV_FAULTY : BELLHOP_REASON_NONE;
}

/* Returns 0, or -ENOMEM. */
static int give_back_shared(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;

	if (recv->matches && bellhop_match_give_back(qp))
		return 0;
	return bellhop_srq_give_back(recv->srq, &recv->wqe);
}

void bellhop_receive_give_back(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;

	lockdep_assert_held(&qp->slot->lock);

	if (!recv->srq) {
		recv->ring.head--;
	} else if (give_back_shared(qp)) {
		/* Without memory its owner gets it, which is better than nobody. */
		bellhop_receive_fail(qp, BELLHOP_WC_WR_FLUSH_ERR, BELLHOP_REASON_FLUSHED);
	}
	recv->busy = false;
}

void bellhop_receive_abandon(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;
	bool entered = bellhop_xrcd_enter_taken(qp);

	if (recv->srq && recv->busy)
		give_back_shared(qp);
	recv->busy = false;
	if (entered)
		bellhop_xrcd_leave(qp);
}

enum bellhop_reason bellhop_receive_deliver(struct bellhop_qp *qp, const struct bellhop_opcode *op,
					    u32 ex, bool solicited,
					    struct bellhop_completion *completion)
{
	enum bellhop_reason reason = BELLHOP_REASON_NONE;
	u16 traits = op->traits;

	completion->opcode = op->recv_wc;
	completion->status = BELLHOP_WC_SUCCESS;
	if (traits & (BELLHOP_OP_IMM | BELLHOP_OP_INVALIDATE)) {
		if (traits & BELLHOP_OP_INVALIDATE)
			reason = bellhop_mw_invalidate(qp, ex);
		if (reason)
			return reason;
		completion->ex = ex;
		completion->wc_flags |=
			traits & BELLHOP_OP_IMM ? BELLHOP_WC_WITH_IMM : BELLHOP_WC_WITH_INV;
	}
	if (unlikely(qp->recv.matches) && (traits & BELLHOP_OP_SCATTER))
		bellhop_match_describe(qp, completion);
	bellhop_receive_complete(qp, completion, solicited);
	return BELLHOP_REASON_NONE;
}

void bellhop_receive_establish(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;

	lockdep_assert_held(&qp->slot->lock);

	if (recv->rules.state == BELLHOP_QPS_RTR && !recv->established) {
		recv->established = true;
		bellhop_qp_event(qp, IB_EVENT_COMM_EST);
	}
}

void bellhop_receive_refuse(struct bellhop_qp *qp, enum bellhop_reason reason)
{
	const struct bellhop_refusal *refusal = bellhop_responder_refuse(reason);

	lockdep_assert_held(&qp->slot->lock);

	if (!refusal->fatal)
		return;
	bellhop_qp_fail(qp, reason);
	if (qp->recv.busy)
		bellhop_receive_fail(qp, refusal->responder, reason);
	if (refusal->event == BELLHOP_EVENT_ACCESS)
		bellhop_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
	else if (refusal->event == BELLHOP_EVENT_REQUEST)
		bellhop_qp_event(qp, IB_EVENT_QP_REQ_ERR);
	bellhop_run_defer(qp);
}

void bellhop_receive_wake_waiter(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;
	u32 waiter = 0;

	spin_lock(&qp->slot->lock);
	if (bellhop_ring_pending(&recv->ring)) {
		waiter = recv->waiter_qpn;
		WRITE_ONCE(recv->waiter_qpn, 0);
		/* A QP that has failed meanwhile wants to hear of every receive. */
		bellhop_ring_want(&recv->ring, bellhop_state_flushes(recv->rules.state));
	}
	spin_unlock(&qp->slot->lock);
	if (waiter)
		bellhop_run_wake(waiter);
}
