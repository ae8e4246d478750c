// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * respond.c: the responder's side of a request, executed by the requester's runner
 * under the responder's slot lock, in the order of IBA 9.7.4.1.
 */
#include "carry.h"
#include "datagram.h"
#include "device.h"
#include "match.h"
#include "port.h"
#include "qp.h"
#include "receive.h"
#include "respond.h"
#include "slot.h"
#include "xrcd.h"

static bool is_reliable(const struct bellhop_qp *qp)
{
	return qp->send.limits.service & BELLHOP_SERVICES_RELIABLE;
}

static bool is_same_gid(const union ib_gid *a, const union ib_gid *b)
{
	return a->global.subnet_prefix == b->global.subnet_prefix &&
	       a->global.interface_id == b->global.interface_id;
}

/* Both ports are up, and the GID that is addressed belongs to the responder's. */
static bool is_reached(const struct bellhop_qp *qp, const struct bellhop_qp *peer)
{
	return bellhop_port_joins(qp->device, peer->device) &&
	       (is_same_gid(&qp->send.peer_gid, &peer->recv.gid) ||
		bellhop_port_has_gid(peer->device, &qp->send.peer_gid, NULL));
}

/* The first part of a message: does the responder take it? */
static enum bellhop_reason begin(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	struct bellhop_receiver *recv = &peer->recv;
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	enum bellhop_reason reason;

	reason = bellhop_responder_admit(&recv->rules, qp->qpn, qp->send.limits.service, wqe->op);
	if (reason == BELLHOP_REASON_SILENT || !is_reached(qp, peer))
		return BELLHOP_REASON_SILENT;
	if (recv->busy) {
		if (is_reliable(qp))
			return BELLHOP_REASON_SEQUENCE;
		/* The rest of that message is lost; its entry is this one's (IBA 9.8.2.2). */
		bellhop_receive_give_back(peer);
	}
	if (reason)
		return reason;
	if (wqe->op->traits & BELLHOP_OP_RECV) {
		if (wqe->op->traits & BELLHOP_OP_REMOTE) {
			reason = bellhop_carry_check_remote(qp, peer);
			if (reason)
				return reason;
		}
		reason = unlikely(recv->matches)
				 ? bellhop_match_take(qp, peer)
				 : bellhop_receive_take(peer, is_reliable(qp) ? qp->qpn : 0);
		if (reason)
			return reason;
		if ((wqe->op->traits & BELLHOP_OP_SCATTER) && wqe->length > recv->wqe.length)
			return BELLHOP_REASON_RECV_TOO_SHORT;
	}
	bellhop_receive_establish(peer);
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
	       bellhop_responder_admit(&recv->rules, qp->qpn, qp->send.limits.service, op) ==
		       BELLHOP_REASON_NONE &&
	       (recv->busy || !(op->traits & BELLHOP_OP_RECV));
}

static enum bellhop_reason finish(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	struct bellhop_completion completion = {
		.byte_len = wqe->length,
		.src_qp = qp->qpn,
	};

	if (wqe->op->traits & BELLHOP_OP_RECV)
		return bellhop_receive_deliver(peer, wqe->op, wqe->head.ex,
					       wqe->head.flags & BELLHOP_SQE_SOLICITED,
					       &completion);
	return BELLHOP_REASON_NONE;
}

/* What an unreliable service does not take is as if it had not come (IBA 9.8.2.2). */
static struct bellhop_answer refuse(struct bellhop_qp *qp, struct bellhop_qp *peer,
				    enum bellhop_reason reason)
{
	const struct bellhop_answer none = { .kind = BELLHOP_ANSWER_NONE };

	if (reason != BELLHOP_REASON_SILENT || !is_reliable(qp))
		bellhop_counters_count(&peer->device->counters, bellhop_counter_of(reason));
	if (reason == BELLHOP_REASON_SILENT)
		return none;
	if (is_reliable(qp) || bellhop_responder_refuse(reason)->own)
		bellhop_receive_refuse(peer, reason);
	else if (peer->recv.busy)
		bellhop_receive_give_back(peer);
	return is_reliable(qp)
		       ? (struct bellhop_answer){ .kind = BELLHOP_ANSWER_NAK, .reason = reason }
		       : none;
}

/* The requester's own bytes cannot be had, or not yet. */
static struct bellhop_answer refuse_own(enum bellhop_reason reason)
{
	return reason == BELLHOP_REASON_ABSENT
		       ? (struct bellhop_answer){ .kind = BELLHOP_ANSWER_FETCHING }
		       : (struct bellhop_answer){ .kind = BELLHOP_ANSWER_OWN_FAULT,
						  .reason = reason };
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
	if (reason == BELLHOP_REASON_RNR && is_reliable(qp))
		return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_RNR,
						.min_rnr_timer = peer->recv.min_rnr_timer };
	if (!reason && bytes) {
		result = bellhop_carry(qp, peer, bytes);
		if (result.reason == BELLHOP_REASON_ABSENT)
			return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_FETCHING };
		if (result.reason && !result.destination) {
			if ((qp->send.wqe.op->traits & BELLHOP_OP_RECV) && !qp->send.moved)
				bellhop_receive_give_back(peer);
			return refuse_own(result.reason);
		}
		reason = result.reason;
	}
	if (!reason && qp->send.moved + bytes == qp->send.wqe.length)
		reason = finish(qp, peer);
	if (reason)
		return refuse(qp, peer, reason);
	bellhop_flow_count(&peer->slot->flow, bellhop_flow_opposite(qp->send.wqe.op), bytes);
	return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_ACK };
}

/*
 * Only who is connected to the QP is told that it cannot reach the SRQ, or puts the QP in error.
 * What a message before has taken is ended in the SRQ that it was taken from, whatever this one
 * names.
 */
static struct bellhop_answer answer_xrc(struct bellhop_qp *qp, struct bellhop_qp *peer, u32 bytes)
{
	struct bellhop_answer answer = { .kind = BELLHOP_ANSWER_NONE };
	enum bellhop_reason reason = BELLHOP_REASON_NONE;

	if (bellhop_responder_admit(&peer->recv.rules, qp->qpn, BELLHOP_SERVICE_XRC,
				    qp->send.wqe.op) == BELLHOP_REASON_SILENT ||
	    !is_reached(qp, peer))
		return answer;
	if (!bellhop_xrcd_enter_taken(peer))
		reason = bellhop_xrcd_enter(peer, qp->send.wqe.head.srqn);
	if (reason)
		return refuse(qp, peer, reason);
	answer = answer_locked(qp, peer, bytes);
	bellhop_xrcd_leave(peer);
	return answer;
}

/*
 * The headers say where a message goes, so they are looked at before it begins. Those of somebody
 * who is not connected to the QP are not.
 */
static struct bellhop_answer answer_matching(struct bellhop_qp *qp, struct bellhop_qp *peer,
					     u32 bytes)
{
	struct bellhop_copy_result result = {};

	if (!qp->send.begun &&
	    bellhop_responder_admit(&peer->recv.rules, qp->qpn, qp->send.limits.service,
				    qp->send.wqe.op) == BELLHOP_REASON_NONE)
		result = bellhop_match_peek(qp, peer);
	return result.reason ? refuse_own(result.reason) : answer_locked(qp, peer, bytes);
}

static bool is_special(const struct bellhop_qp *qp, const struct bellhop_qp *peer)
{
	return (qp->send.limits.service & BELLHOP_SERVICES_ADDRESSED) || peer->recv.matches;
}

static noinline struct bellhop_answer answer_special(struct bellhop_qp *qp, struct bellhop_qp *peer,
						     u32 bytes)
{
	switch (qp->send.limits.service) {
	case BELLHOP_SERVICE_UD:
		return bellhop_datagram_deliver(qp, peer);
	case BELLHOP_SERVICE_XRC:
		return answer_xrc(qp, peer, bytes);
	default:
		return answer_matching(qp, peer, bytes);
	}
}

struct bellhop_answer bellhop_respond(struct bellhop_qp *qp, u32 bytes)
{
	struct bellhop_answer answer = { .kind = BELLHOP_ANSWER_ABSENT };
	struct bellhop_slot *slot = bellhop_slot_find(qp->send.peer_qpn);

	if (!slot)
		return answer;
	spin_lock(&slot->lock);
	if (slot->qp && slot->qpn == qp->send.peer_qpn)
		answer = unlikely(is_special(qp, slot->qp)) ? answer_special(qp, slot->qp, bytes)
							    : answer_locked(qp, slot->qp, bytes);
	spin_unlock(&slot->lock);
	return answer;
}
