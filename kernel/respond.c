// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * respond.c: the responder's side of a request, executed by the requester's runner
 * under the responder's slot lock, in the order of IBA 9.7.4.1.
 */
#include <linux/netdevice.h>
#include <rdma/ib_cache.h>
#include "carry.h"
#include "cq.h"
#include "device.h"
#include "port.h"
#include "qp.h"
#include "respond.h"
#include "run.h"
#include "slot.h"

void bellhop_respond_complete(struct bellhop_qp *qp, struct bellhop_completion *completion,
			      bool solicited)
{
	struct bellhop_receiver *recv = &qp->recv;

	lockdep_assert_held(&qp->slot->lock);

	recv->busy = false;
	completion->qpn = qp->qpn;
	completion->wqe_index = recv->index;
	if (bellhop_cq_push(qp->recv_cq, completion, solicited) &&
	    !bellhop_state_flushes(recv->rules.state)) {
		bellhop_qp_fail(qp, BELLHOP_REASON_CQ_OVERRUN);
		bellhop_qp_event(qp, IB_EVENT_QP_FATAL);
		bellhop_run_defer(qp);
	}
}

static bool is_same_gid(const union ib_gid *a, const union ib_gid *b)
{
	return a->global.subnet_prefix == b->global.subnet_prefix &&
	       a->global.interface_id == b->global.interface_id;
}

/* Both ports are up, and the GID that is addressed belongs to the responder's. */
static bool is_reached(const struct bellhop_qp *qp, const struct bellhop_qp *peer)
{
	const struct ib_gid_attr *found;

	if (!bellhop_port_is_active(peer->device))
		return false;
	if (qp->device != peer->device &&
	    (!bellhop_port_is_active(qp->device) ||
	     !net_eq(dev_net(qp->device->netdev), dev_net(peer->device->netdev))))
		return false;
	if (is_same_gid(&qp->send.peer_gid, &peer->recv.gid))
		return true;
	/* The peer answers by another of its addresses. */
	found = rdma_find_gid_by_port(&peer->device->ibdev, &qp->send.peer_gid,
				      IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (IS_ERR(found))
		return false;
	rdma_put_gid_attr(found);
	return true;
}

/*
 * Nothing to receive: the sender's number is there before the library is asked to kick,
 * so that whoever answers the request finds it.
 */
static int wait_for_receive(struct bellhop_receiver *recv, u32 sender)
{
	int pending;

	WRITE_ONCE(recv->waiter_qpn, sender);
	bellhop_ring_want(&recv->ring, true);
	pending = bellhop_ring_pending(&recv->ring);
	if (pending) {
		WRITE_ONCE(recv->waiter_qpn, 0);
		bellhop_ring_want(&recv->ring, false);
	}
	return pending;
}

static enum bellhop_reason take_receive(struct bellhop_qp *qp, u32 sender)
{
	struct bellhop_receiver *recv = &qp->recv;
	/* Its producer index is looked at only when it must be: it is the other side's line. */
	int pending = bellhop_ring_is_done(&recv->ring) ? bellhop_ring_pending(&recv->ring) : 1;
	enum bellhop_reason reason;

	if (!pending)
		pending = wait_for_receive(recv, sender);
	if (!pending)
		return BELLHOP_REASON_RNR;
	if (pending < 0) {
		/* There is no entry whose completion could tell its owner. */
		bellhop_qp_fail(qp, BELLHOP_REASON_RECV_FAULTY);
		bellhop_qp_event(qp, IB_EVENT_QP_FATAL);
		return BELLHOP_REASON_RECV_FAULTY;
	}
	reason =
		bellhop_wqe_decode_recv(&recv->wqe, bellhop_ring_front(&recv->ring), &recv->limits);
	recv->index = bellhop_ring_take(&recv->ring);
	recv->busy = true;
	return reason ? BELLHOP_REASON_RECV_FAULTY : BELLHOP_REASON_NONE;
}

/* As if the message had not come. */
static void give_back_receive(struct bellhop_qp *qp, struct bellhop_receiver *recv)
{
	if (!(qp->send.wqe.op->traits & BELLHOP_OP_RECV) || qp->send.moved)
		return;
	recv->ring.head--;
	recv->busy = false;
}

/* The first part of a message: does the responder take it? */
static enum bellhop_reason begin(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	struct bellhop_receiver *recv = &peer->recv;
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	enum bellhop_reason reason;

	reason = bellhop_responder_admit(&recv->rules, qp->qpn, wqe->op);
	if (reason == BELLHOP_REASON_SILENT || !is_reached(qp, peer))
		return BELLHOP_REASON_SILENT;
	if (recv->busy)
		return BELLHOP_REASON_SEQUENCE;
	if (reason)
		return reason;
	if (wqe->op->traits & BELLHOP_OP_RECV) {
		if (wqe->op->traits & BELLHOP_OP_REMOTE) {
			reason = bellhop_carry_check_remote(qp, peer);
			if (reason)
				return reason;
		}
		reason = take_receive(peer, qp->qpn);
		if (reason)
			return reason;
		if ((wqe->op->traits & BELLHOP_OP_SCATTER) && wqe->length > recv->wqe.length)
			return BELLHOP_REASON_RECV_TOO_SHORT;
	}
	if (recv->rules.state == BELLHOP_QPS_RTR && !recv->established) {
		recv->established = true;
		bellhop_qp_event(peer, IB_EVENT_COMM_EST);
	}
	qp->send.epoch = recv->epoch;
	qp->send.begun = true;
	return BELLHOP_REASON_NONE;
}

/* A later part: the responder is still the one that took the message, and still takes it. */
static bool continues(const struct bellhop_qp *qp, const struct bellhop_qp *peer)
{
	const struct bellhop_receiver *recv = &peer->recv;
	const struct bellhop_opcode *op = qp->send.wqe.op;

	return qp->send.epoch == recv->epoch &&
	       bellhop_responder_admit(&recv->rules, qp->qpn, op) == BELLHOP_REASON_NONE &&
	       (recv->busy || !(op->traits & BELLHOP_OP_RECV));
}

static void finish(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	struct bellhop_completion completion = {
		.byte_len = wqe->length,
		.src_qp = qp->qpn,
		.opcode = wqe->op->recv_wc,
		.status = BELLHOP_WC_SUCCESS,
	};

	if (!(wqe->op->traits & BELLHOP_OP_RECV))
		return;
	if (wqe->op->traits & BELLHOP_OP_IMM) {
		completion.ex = wqe->head.ex;
		completion.wc_flags = BELLHOP_WC_WITH_IMM;
	}
	bellhop_respond_complete(peer, &completion, wqe->head.flags & BELLHOP_SQE_SOLICITED);
}

static void refuse(struct bellhop_qp *peer, enum bellhop_reason reason)
{
	const struct bellhop_refusal *refusal = bellhop_responder_refuse(reason);

	if (!refusal->fatal)
		return;
	bellhop_qp_fail(peer, reason);
	if (peer->recv.busy) {
		struct bellhop_completion completion = {
			.opcode = BELLHOP_WC_RECV,
			.status = refusal->responder,
			.vendor_err = reason,
		};

		bellhop_respond_complete(peer, &completion, true);
	}
	if (refusal->event == BELLHOP_EVENT_ACCESS)
		bellhop_qp_event(peer, IB_EVENT_QP_ACCESS_ERR);
	else if (refusal->event == BELLHOP_EVENT_REQUEST)
		bellhop_qp_event(peer, IB_EVENT_QP_REQ_ERR);
	bellhop_run_defer(peer);
}

static struct bellhop_answer answer_locked(struct bellhop_qp *qp, struct bellhop_qp *peer,
					   u32 bytes)
{
	struct bellhop_copy_result result = {};
	enum bellhop_reason reason = BELLHOP_REASON_NONE;

	if (!qp->send.begun)
		reason = begin(qp, peer);
	else if (!continues(qp, peer))
		reason = BELLHOP_REASON_SILENT;
	if (reason == BELLHOP_REASON_RNR)
		return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_RNR,
						.min_rnr_timer = peer->recv.min_rnr_timer };
	if (reason == BELLHOP_REASON_SILENT)
		return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_NONE };
	if (!reason && bytes) {
		result = bellhop_carry(qp, peer, bytes);
		if (result.reason && !result.destination) {
			give_back_receive(qp, &peer->recv);
			return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_OWN_FAULT,
							.reason = result.reason };
		}
		reason = result.reason;
	}
	if (reason) {
		refuse(peer, reason);
		return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_NAK, .reason = reason };
	}
	if (qp->send.moved + bytes == qp->send.wqe.length)
		finish(qp, peer);
	return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_ACK };
}

struct bellhop_answer bellhop_respond(struct bellhop_qp *qp, u32 bytes)
{
	struct bellhop_answer answer = { .kind = BELLHOP_ANSWER_NONE };
	struct bellhop_slot *slot = bellhop_slot_find(qp->send.peer_qpn);

	if (!slot)
		return answer;
	spin_lock(&slot->lock);
	if (slot->qp && slot->qpn == qp->send.peer_qpn)
		answer = answer_locked(qp, slot->qp, bytes);
	spin_unlock(&slot->lock);
	return answer;
}

void bellhop_respond_wake_waiter(struct bellhop_qp *qp)
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
