// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * send.c: the sender's steps.
 *
 *	fetch --> wait, if told to --> respond (the peer's side), or send it --> complete
 *	             ^                    |
 *	             +--- rest, retry ----+
 *
 * Everything that a request does to its responder happens within bellhop_respond(), so
 * an entry is complete when it is done, and a fence or the order of two entries
 * needs nothing more.
 */
#include <linux/ktime.h>
#include "carry.h"
#include "cq.h"
#include "datagram.h"
#include "device.h"
#include "mw.h"
#include "qp.h"
#include "raw.h"
#include "rendezvous.h"
#include "respond.h"
#include "run.h"
#include "send.h"
#include "slot.h"
#include "stream.h"

static void fail(struct bellhop_qp *qp, enum bellhop_reason reason)
{
	spin_lock(&qp->slot->lock);
	bellhop_qp_fail(qp, reason);
	spin_unlock(&qp->slot->lock);
}

/* Returns as bellhop_cq_push(). */
static int complete_entry(struct bellhop_qp *qp, enum bellhop_wc_status status,
			  enum bellhop_reason reason)
{
	struct bellhop_sender *send = &qp->send;
	bool error = status != BELLHOP_WC_SUCCESS;
	u64 wr_id = bellhop_ledger_retire(&qp->send_ledger, send->index);

	if (error || send->signal_all || (send->wqe.head.flags & BELLHOP_SQE_SIGNALED)) {
		struct bellhop_completion completion = {
			.wr_id = wr_id,
			.qpn = qp->qpn,
			.wqe_index = send->index,
			.byte_len = send->wqe.length,
			.vendor_err = reason,
			.opcode = send->wqe.op->wc,
			.status = status,
		};

		return bellhop_cq_push(qp->send_cq, qp, &completion, error);
	}
	return 0;
}

void bellhop_send_complete(struct bellhop_qp *qp, enum bellhop_wc_status status,
			   enum bellhop_reason reason)
{
	struct bellhop_sender *send = &qp->send;
	int err;

	send->busy = false;
	send->resume_ns = 0;
	if (status != BELLHOP_WC_SUCCESS && status != BELLHOP_WC_WR_FLUSH_ERR) {
		bellhop_counters_count(&qp->device->counters, BELLHOP_COUNTER_SEND_ERRORS);
		spin_lock(&qp->slot->lock);
		bellhop_qp_fail_send(qp, reason);
		spin_unlock(&qp->slot->lock);
	}
	err = unlikely(send->is_own) ? bellhop_rendezvous_complete(qp, status, reason)
				     : complete_entry(qp, status, reason);
	if (err && !bellhop_state_flushes(bellhop_qp_state(qp))) {
		fail(qp, BELLHOP_REASON_CQ_OVERRUN);
		bellhop_qp_event(qp, IB_EVENT_QP_FATAL);
	}
}

/* The same of an entry that this side itself is to blame for. */
static void complete_faulty(struct bellhop_qp *qp, enum bellhop_wc_status status,
			    enum bellhop_reason reason)
{
	bellhop_counters_count(&qp->device->counters, bellhop_counter_of(reason));
	bellhop_send_complete(qp, status, reason);
}

static void report_drained(struct bellhop_qp *qp)
{
	/* Told once per request (IBA 10.3.1.5); the runner is alone here. */
	if (bellhop_qp_state(qp) == BELLHOP_QPS_SQD && qp->send.sqd_notify) {
		qp->send.sqd_notify = false;
		bellhop_qp_event(qp, IB_EVENT_SQ_DRAINED);
	}
}

/* What is done when it is done here: a window is bound or invalidated. */
static noinline void execute_local(struct bellhop_qp *qp)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	enum bellhop_reason reason = wqe->op->traits & BELLHOP_OP_INVALIDATE
					     ? bellhop_mw_invalidate(qp, wqe->head.ex)
					     : bellhop_mw_bind(qp);

	if (reason)
		complete_faulty(qp, bellhop_window_status(reason), reason);
	else
		bellhop_send_complete(qp, BELLHOP_WC_SUCCESS, reason);
}

/* What is not in the queue, if there is such a thing. */
static noinline bool fetch_own(struct bellhop_qp *qp)
{
	if (!bellhop_rendezvous_fetch(qp))
		return false;
	if (!qp->send.max_rd_atomic)
		complete_faulty(qp, bellhop_wqe_status(BELLHOP_REASON_NO_RD_ATOMIC),
				BELLHOP_REASON_NO_RD_ATOMIC);
	return true;
}

static bool has_stream_busy(const struct bellhop_qp *qp)
{
	return qp->stream && bellhop_stream_is_busy(qp->stream);
}

static bool is_complete_at_once(const struct bellhop_qp *qp)
{
	u16 traits = qp->send.wqe.op->traits;

	return (traits & BELLHOP_OP_LOCAL) ||
	       ((traits & BELLHOP_OP_READ) && !qp->send.max_rd_atomic);
}

static bool fetch(struct bellhop_qp *qp, struct bellhop_share *share)
{
	struct bellhop_sender *send = &qp->send;
	enum bellhop_reason reason;
	int pending;

	if (!bellhop_state_sends(bellhop_qp_state(qp))) {
		if (!has_stream_busy(qp))
			report_drained(qp);
		return false;
	}
	if (unlikely(!list_empty(&qp->rendezvous)) && fetch_own(qp)) {
		share->wqes--;
		return true;
	}
	pending = bellhop_ring_pending(&send->ring);
	if (pending <= 0) {
		if (pending < 0) {
			fail(qp, BELLHOP_REASON_RING_INDEX);
			bellhop_qp_event(qp, IB_EVENT_QP_FATAL);
		}
		return pending < 0;
	}
	share->wqes--;
	reason =
		bellhop_wqe_decode_send(&send->wqe, bellhop_ring_front(&send->ring), &send->limits);
	/* What is complete at once has to wait for those that are under way. */
	if (unlikely(has_stream_busy(qp)) && (reason || is_complete_at_once(qp)))
		return false;
	send->index = bellhop_ring_take(&send->ring);
	send->busy = true;
	send->begun = false;
	send->moved = 0;
	bellhop_retry_progress(&send->retry);
	if (!reason && (send->wqe.op->traits & (BELLHOP_OP_READ | BELLHOP_OP_LOCAL))) {
		if (send->wqe.op->traits & BELLHOP_OP_LOCAL) {
			execute_local(qp);
			return true;
		}
		if (!send->max_rd_atomic)
			reason = BELLHOP_REASON_NO_RD_ATOMIC;
	}
	if (!reason && send->limits.service == BELLHOP_SERVICE_UD)
		reason = bellhop_datagram_address(qp);
	else if (!reason && send->limits.service == BELLHOP_SERVICE_RAW)
		reason = bellhop_raw_check(qp);
	if (reason)
		complete_faulty(qp, bellhop_wqe_status(reason), reason);
	return true;
}

/*
 * After the last entry that was there when it was fetched there is nothing to do: whoever
 * posted more since then kicks, and finds this runner or none. That does not hold for an
 * entry that had to wait, since the kicks that came meanwhile are gone. What states
 * other than RTS ask for is fetch()'s. A sender that is busy again goes on by itself.
 */
static bool has_more(const struct bellhop_qp *qp, bool fresh)
{
	return !fresh || qp->send.busy || !bellhop_ring_is_done(&qp->send.ring) ||
	       !bellhop_state_sends(bellhop_qp_state(qp));
}

static bool is_resting(struct bellhop_sender *send)
{
	if (!send->resume_ns)
		return false;
	if (!READ_ONCE(send->woken) && ktime_get_ns() < send->resume_ns)
		return true;
	send->resume_ns = 0;
	return false;
}

/* Nobody has taken the message; whether it could have been sent is to be seen nevertheless. */
static bool has_own_fault(struct bellhop_qp *qp)
{
	enum bellhop_reason reason = bellhop_carry_check_own(qp);

	if (reason)
		complete_faulty(qp, BELLHOP_WC_LOC_PROT_ERR, reason);
	return reason;
}

static void retry(struct bellhop_qp *qp, struct bellhop_share *share,
		  struct bellhop_retry_plan plan, enum bellhop_reason reason)
{
	static const enum bellhop_counter counters[2][2] = {
		{ BELLHOP_COUNTER_SILENT_WAITS, BELLHOP_COUNTER_SILENT_EXCEEDED },
		{ BELLHOP_COUNTER_RNR_WAITS, BELLHOP_COUNTER_RNR_EXCEEDED },
	};

	bellhop_run_charge(share);
	if (has_own_fault(qp))
		return;
	bellhop_counters_count(&qp->device->counters,
			       counters[reason == BELLHOP_REASON_RNR][plan.give_up]);
	if (plan.give_up)
		bellhop_send_complete(qp, bellhop_responder_refuse(reason)->requester, reason);
	else
		bellhop_run_rest(qp, plan.wait_ns);
}

/* The same step again when the pages are there, or their fetch is overdue. */
static void wait_for_pages(struct bellhop_qp *qp, struct bellhop_share *share)
{
	struct bellhop_sender *send = &qp->send;
	struct bellhop_retry_plan plan =
		bellhop_retry_absent(&send->retry, send->index, send->moved, ktime_get_ns());

	bellhop_run_charge(share);
	if (!plan.give_up)
		bellhop_run_rest(qp, plan.wait_ns);
	else if (send->limits.service & BELLHOP_SERVICES_RELIABLE)
		bellhop_send_complete(qp,
				      bellhop_responder_refuse(BELLHOP_REASON_SILENT)->requester,
				      BELLHOP_REASON_SILENT);
	else
		bellhop_send_complete(qp, BELLHOP_WC_SUCCESS, BELLHOP_REASON_NONE);
}

/* The next part of the message, whichever way it goes. */
static struct bellhop_answer go(struct bellhop_qp *qp, u32 bytes)
{
	if (unlikely(qp->send.remote))
		return bellhop_datagram_send(qp);
	return likely(qp->send.limits.service != BELLHOP_SERVICE_RAW) ? bellhop_respond(qp, bytes)
								      : bellhop_raw_send(qp);
}

/* Each copy has its price, so that who sends to many makes way as others do. */
static bool has_copies(struct bellhop_qp *qp, struct bellhop_share *share,
		       enum bellhop_answer_kind kind, u32 bytes)
{
	if (kind == BELLHOP_ANSWER_OWN_FAULT || kind == BELLHOP_ANSWER_FETCHING ||
	    !bellhop_datagram_go_on(qp))
		return false;
	bellhop_run_charge(share);
	share->bytes -= min(share->bytes, bytes);
	return true;
}

/* Of a connection to another host, many are under way at a time. */
static noinline bool step_stream(struct bellhop_qp *qp, struct bellhop_share *share)
{
	bool more = bellhop_stream_advance(qp, share);

	while (share->wqes && bellhop_requester_has_room(&qp->stream->requester) &&
	       fetch(qp, share)) {
		if (qp->send.busy)
			bellhop_stream_post(qp);
		more = true;
	}
	return more;
}

bool bellhop_send_step(struct bellhop_qp *qp, struct bellhop_share *share)
{
	struct bellhop_sender *send = &qp->send;
	struct bellhop_answer answer;
	bool fresh = !send->busy;
	u32 bytes;

	if (unlikely(qp->stream))
		return step_stream(qp, share);
	if (fresh && !fetch(qp, share))
		return false;
	if (!send->busy)
		return true;
	if (is_resting(send))
		return false;

	/* Only a receive that is posted from here on is worth waking up for. */
	WRITE_ONCE(send->woken, false);
	bytes = min(send->wqe.length - send->moved, BELLHOP_STEP_BYTES);
	answer = go(qp, bytes);
	if (unlikely(send->to_group) && has_copies(qp, share, answer.kind, bytes))
		return true;
	switch (answer.kind) {
	case BELLHOP_ANSWER_ACK:
		send->moved += bytes;
		bellhop_flow_count(&send->flow, bellhop_flow_direction(send->wqe.op), bytes);
		share->bytes -= min(share->bytes, bytes);
		if (send->moved < send->wqe.length)
			return true;
		bellhop_send_complete(qp, BELLHOP_WC_SUCCESS, BELLHOP_REASON_NONE);
		return has_more(qp, fresh);
	case BELLHOP_ANSWER_RNR:
		retry(qp, share, bellhop_retry_rnr(&send->retry, answer.min_rnr_timer),
		      BELLHOP_REASON_RNR);
		return true;
	case BELLHOP_ANSWER_ABSENT:
		if (!(send->limits.service & BELLHOP_SERVICES_RELIABLE))
			bellhop_counters_count(&qp->device->counters,
					       BELLHOP_COUNTER_DROPPED_NOBODY);
		fallthrough;
	case BELLHOP_ANSWER_NONE:
		if (!(send->limits.service & BELLHOP_SERVICES_RELIABLE)) {
			/* Lost, which nobody notices (IBA 9.8.2, 9.8.3). */
			if (has_own_fault(qp))
				return true;
			bellhop_flow_count(&send->flow, BELLHOP_OUT, bytes);
			bellhop_send_complete(qp, BELLHOP_WC_SUCCESS, BELLHOP_REASON_NONE);
			return has_more(qp, fresh);
		}
		retry(qp, share, bellhop_retry_silent(&send->retry), BELLHOP_REASON_SILENT);
		return true;
	case BELLHOP_ANSWER_NAK:
		bellhop_send_complete(qp, bellhop_responder_refuse(answer.reason)->requester,
				      answer.reason);
		return true;
	case BELLHOP_ANSWER_FETCHING:
		wait_for_pages(qp, share);
		return true;
	case BELLHOP_ANSWER_OWN_FAULT:
		break;
	}
	complete_faulty(qp, BELLHOP_WC_LOC_PROT_ERR, answer.reason);
	return true;
}
