// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* acceptor.c: the order, the sequence and the lengths of the packets of requests. */
#include "acceptor.h"
#include "bth.h"
#include "psn.h"
#include "responder.h"
#include "segment.h"
#include "syndrome.h"

/*
 * Packets so far behind may be old ones still, those farther behind are ahead: so many were lost
 * that the numbers have gone round.
 */
#define STALE 0x10000

static bool is_reliable(const struct bellhop_acceptor *acceptor)
{
	return acceptor->service & BELLHOP_SERVICES_RELIABLE;
}

static struct bellhop_acceptor_plan just(enum bellhop_acceptor_verdict verdict)
{
	return (struct bellhop_acceptor_plan){ .verdict = verdict };
}

void bellhop_acceptor_begin(struct bellhop_acceptor *acceptor, u32 psn)
{
	*acceptor = (struct bellhop_acceptor){
		.replies = acceptor->replies,
		.service = acceptor->service,
		.mtu = acceptor->mtu,
		.expected = psn,
		.asked = psn,
	};
	acceptor->replies.service = acceptor->service;
	acceptor->replies.mtu = acceptor->mtu;
	bellhop_replies_begin(&acceptor->replies);
}

static void nak(struct bellhop_acceptor *acceptor, enum bellhop_syndrome kind, u32 value)
{
	u8 syndrome = bellhop_syndrome_encode(kind, value);

	bellhop_replies_acknowledge(&acceptor->replies, acceptor->expected, syndrome);
}

static void ack(struct bellhop_acceptor *acceptor)
{
	u8 syndrome = bellhop_syndrome_encode(BELLHOP_SYNDROME_ACK, BELLHOP_SYNDROME_NO_CREDITS);

	bellhop_replies_acknowledge(&acceptor->replies, bellhop_psn_add(acceptor->expected, -1u),
				    syndrome);
}

/* IBA 9.7.5.2.1 */
static enum bellhop_nak nak_of(enum bellhop_reason reason)
{
	switch (bellhop_responder_refuse(reason)->requester) {
	case BELLHOP_WC_REM_INV_REQ_ERR:
		return BELLHOP_NAK_INVALID_REQUEST;
	case BELLHOP_WC_REM_ACCESS_ERR:
		return BELLHOP_NAK_REMOTE_ACCESS_ERROR;
	default:
		return BELLHOP_NAK_REMOTE_OPERATIONAL_ERROR;
	}
}

/* The message is lost, and all packets up to the next first one with it (IBA 9.8.2.2). */
static void lose(struct bellhop_acceptor *acceptor, u32 psn)
{
	acceptor->operation = 0;
	acceptor->expected = bellhop_psn_add(psn, 1);
}

/* Packets are missing before this one (IBA 9.7.4.1.2). */
static struct bellhop_acceptor_plan miss(struct bellhop_acceptor *acceptor)
{
	if (acceptor->is_waiting)
		return just(BELLHOP_ACCEPTOR_DROP);
	acceptor->is_waiting = true;
	nak(acceptor, BELLHOP_SYNDROME_NAK, BELLHOP_NAK_PSN_SEQUENCE_ERROR);
	return just(BELLHOP_ACCEPTOR_REPLY);
}

/* Asks for what is missing before the first that is kept, once: a requester has its timers. */
static void ask(struct bellhop_acceptor *acceptor)
{
	u32 gap = bellhop_stash_gap(&acceptor->stash, acceptor->expected);

	if (!gap || bellhop_psn_before(acceptor->expected, acceptor->asked) ||
	    !bellhop_replies_have_room(&acceptor->replies))
		return;
	if (gap > BELLHOP_SYNDROME_REPAIR_PACKETS)
		gap = BELLHOP_SYNDROME_REPAIR_PACKETS;
	acceptor->asked = bellhop_psn_add(acceptor->expected, gap);
	nak(acceptor, BELLHOP_SYNDROME_REPAIR, gap - 1);
}

/* Whatever it is: it is looked at when it can be executed. */
static struct bellhop_acceptor_plan keep(struct bellhop_acceptor *acceptor, u32 psn)
{
	struct bellhop_acceptor_plan plan = just(BELLHOP_ACCEPTOR_KEEP);

	if (!bellhop_stash_put(&acceptor->stash, acceptor->expected, psn, &plan.place))
		return just(BELLHOP_ACCEPTOR_DROP);
	ask(acceptor);
	return plan;
}

/* It was executed before (IBA 9.7.4.1.2): what it was answered is said again, if it is known. */
static struct bellhop_acceptor_plan repeat(struct bellhop_acceptor *acceptor,
					   const struct bellhop_transport *transport)
{
	switch (bellhop_bth_row(transport->opcode)->operation) {
	case BELLHOP_OPERATION_SEND:
	case BELLHOP_OPERATION_WRITE:
		ack(acceptor);
		return just(BELLHOP_ACCEPTOR_REPLY);
	default:
		return just(bellhop_replies_repeat(&acceptor->replies, transport)
				    ? BELLHOP_ACCEPTOR_REPLY
				    : BELLHOP_ACCEPTOR_DROP);
	}
}

/* Whether it goes on with what has begun, or begins when nothing has (IBA 9.7.4.1.3). */
static bool is_in_sequence(const struct bellhop_acceptor *acceptor, const struct bellhop_bth *row)
{
	return row->traits & BELLHOP_BTH_IS_FIRST ? !acceptor->operation
						  : acceptor->operation == row->operation;
}

/* All but the last are full, and only a message of one packet may be empty (IBA 9.7.4.1.6). */
static bool has_right_length(const struct bellhop_acceptor *acceptor, const struct bellhop_bth *row,
			     const struct bellhop_acceptor_plan *plan)
{
	bool is_whole = plan->first && plan->last;

	if (!plan->last)
		return plan->bytes == acceptor->mtu;
	if (row->operation == BELLHOP_OPERATION_ATOMIC_WRITE)
		return plan->bytes == BELLHOP_ATOMIC_BYTES;
	return plan->bytes <= acceptor->mtu && (plan->bytes || is_whole);
}

static bool fits_message(const struct bellhop_acceptor_plan *plan)
{
	if (plan->offset > BELLHOP_MAX_MESSAGE - plan->bytes)
		return false;
	switch (plan->operation) {
	case BELLHOP_OPERATION_WRITE:
		if (plan->length > BELLHOP_MAX_MESSAGE)
			return false;
		return plan->last ? plan->offset + plan->bytes == plan->length
				  : plan->offset + plan->bytes < plan->length;
	case BELLHOP_OPERATION_ATOMIC_WRITE:
		return plan->length == plan->bytes;
	case BELLHOP_OPERATION_READ:
		return plan->length <= BELLHOP_MAX_MESSAGE;
	default:
		return true;
	}
}

static struct bellhop_acceptor_plan plan_for(const struct bellhop_acceptor *acceptor,
					     const struct bellhop_transport *transport)
{
	const struct bellhop_bth *row = bellhop_bth_row(transport->opcode);
	bool first = row->traits & BELLHOP_BTH_IS_FIRST;
	bool last = row->traits & BELLHOP_BTH_IS_LAST;
	bool send = row->operation == BELLHOP_OPERATION_SEND;

	return (struct bellhop_acceptor_plan){
		.verdict = BELLHOP_ACCEPTOR_EXECUTE,
		.operation = row->operation,
		.first = first,
		.last = last,
		.takes_receive = send ? first : (row->headers & BELLHOP_HAS_IMMDT) != 0,
		.offset = first ? 0 : acceptor->received,
		.bytes = transport->payload,
		.length = first ? transport->length : acceptor->length,
		.rkey = first ? transport->rkey : acceptor->rkey,
		.address = first ? transport->address : acceptor->address,
	};
}

static bool is_supported(const struct bellhop_bth *row)
{
	return row->operation != BELLHOP_OPERATION_FLUSH &&
	       row->operation != BELLHOP_OPERATION_NOTIFY;
}

/* The next that was expected. */
static struct bellhop_acceptor_plan take(struct bellhop_acceptor *acceptor,
					 const struct bellhop_transport *transport)
{
	const struct bellhop_bth *row = bellhop_bth_row(transport->opcode);
	struct bellhop_acceptor_plan plan = plan_for(acceptor, transport);

	if (is_supported(row) && is_in_sequence(acceptor, row) &&
	    has_right_length(acceptor, row, &plan) && fits_message(&plan))
		return plan;
	plan.verdict = BELLHOP_ACCEPTOR_REFUSE;
	plan.reason = BELLHOP_REASON_SEQUENCE;
	nak(acceptor, BELLHOP_SYNDROME_NAK, BELLHOP_NAK_INVALID_REQUEST);
	return plan;
}

/* Of what is not in order, or not right, nobody is told. */
static struct bellhop_acceptor_plan take_unreliable(struct bellhop_acceptor *acceptor,
						    const struct bellhop_transport *transport,
						    s32 ahead)
{
	const struct bellhop_bth *row = bellhop_bth_row(transport->opcode);
	bool begun = acceptor->operation;
	bool abandons = begun && (ahead || (row->traits & BELLHOP_BTH_IS_FIRST));
	struct bellhop_acceptor_plan plan;

	/* The network has doubled it, or kept it back. */
	if (ahead < 0 && ahead >= -STALE)
		return just(BELLHOP_ACCEPTOR_DROP);
	if (abandons)
		lose(acceptor, transport->psn);
	plan = plan_for(acceptor, transport);
	plan.abandons = abandons;
	if (!is_in_sequence(acceptor, row) || !has_right_length(acceptor, row, &plan) ||
	    !fits_message(&plan)) {
		plan.verdict = BELLHOP_ACCEPTOR_DROP;
		plan.abandons = begun;
		lose(acceptor, transport->psn);
	}
	return plan;
}

struct bellhop_acceptor_plan bellhop_acceptor_receive(struct bellhop_acceptor *acceptor,
						      const struct bellhop_transport *transport)
{
	s32 ahead = bellhop_psn_distance(acceptor->expected, transport->psn);

	if (bellhop_bth_row(transport->opcode)->service != acceptor->service)
		return just(BELLHOP_ACCEPTOR_DROP);
	if (!is_reliable(acceptor))
		return take_unreliable(acceptor, transport, ahead);
	/* The requester will ask again. */
	if (!bellhop_replies_have_room(&acceptor->replies))
		return just(BELLHOP_ACCEPTOR_DROP);
	if (ahead > 0 && transport->repairs && !acceptor->is_waiting)
		return keep(acceptor, transport->psn);
	if (ahead > 0)
		return miss(acceptor);
	return ahead < 0 ? repeat(acceptor, transport) : take(acceptor, transport);
}

static void pass(struct bellhop_acceptor *acceptor, u32 packets)
{
	bellhop_stash_pass(&acceptor->stash, acceptor->expected, packets);
	acceptor->expected = bellhop_psn_add(acceptor->expected, packets);
}

static void answer(struct bellhop_acceptor *acceptor, const struct bellhop_acceptor_plan *plan,
		   const struct bellhop_transport *transport, u64 original)
{
	struct bellhop_reply reply = {
		.psn = transport->psn,
		.packets = 1,
		.length = plan->length,
		.rkey = plan->rkey,
		.address = plan->address,
		.original = original,
	};

	switch (plan->operation) {
	case BELLHOP_OPERATION_READ:
		reply.kind = BELLHOP_REPLY_READ;
		reply.packets = bellhop_segment_count(plan->length, acceptor->mtu);
		break;
	case BELLHOP_OPERATION_ATOMIC:
		reply.kind = BELLHOP_REPLY_ATOMIC;
		break;
	case BELLHOP_OPERATION_ATOMIC_WRITE:
		reply.kind = BELLHOP_REPLY_DONE;
		break;
	default:
		pass(acceptor, 1);
		if (transport->ack_request)
			ack(acceptor);
		return;
	}
	pass(acceptor, reply.packets);
	bellhop_replies_add(&acceptor->replies, &reply);
}

void bellhop_acceptor_commit(struct bellhop_acceptor *acceptor,
			     const struct bellhop_acceptor_plan *plan,
			     const struct bellhop_transport *transport, u64 original)
{
	acceptor->is_waiting = false;
	if (plan->last) {
		acceptor->msn = bellhop_psn_add(acceptor->msn, 1);
		acceptor->operation = 0;
	} else {
		acceptor->operation = plan->operation;
		acceptor->received = plan->offset + plan->bytes;
		acceptor->length = plan->length;
		acceptor->rkey = plan->rkey;
		acceptor->address = plan->address;
	}
	if (is_reliable(acceptor))
		answer(acceptor, plan, transport, original);
	else
		acceptor->expected = bellhop_psn_add(transport->psn, 1);
}

void bellhop_acceptor_lose(struct bellhop_acceptor *acceptor, u32 place)
{
	bellhop_stash_take(&acceptor->stash, place, &place);
}

bool bellhop_acceptor_resume(struct bellhop_acceptor *acceptor, u32 *place)
{
	if (bellhop_stash_take(&acceptor->stash, acceptor->expected, place))
		return true;
	ask(acceptor);
	return false;
}

void bellhop_acceptor_refuse(struct bellhop_acceptor *acceptor, enum bellhop_reason reason,
			     u8 timer)
{
	if (!is_reliable(acceptor)) {
		lose(acceptor, acceptor->expected);
		return;
	}
	switch (reason) {
	case BELLHOP_REASON_RNR:
		/* What follows is not executed either, and its requester knows (IBA 9.7.5.2.8). */
		acceptor->is_waiting = true;
		nak(acceptor, BELLHOP_SYNDROME_RNR_NAK, timer);
		break;
	case BELLHOP_REASON_SILENT:
		break;
	default:
		nak(acceptor, BELLHOP_SYNDROME_NAK, nak_of(reason));
	}
}
