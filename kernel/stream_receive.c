// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* stream_receive.c: what comes from another host for a connected QP, and what is answered. */
#include <linux/skbuff.h>
#include <net/dst.h>
#include <rdma/ib_mad.h>
#include "atomic.h"
#include "carry.h"
#include "copy.h"
#include "device.h"
#include "packet.h"
#include "proto/segment.h"
#include "proto/syndrome.h"
#include "qp.h"
#include "receive.h"
#include "route.h"
#include "run.h"
#include "slot.h"
#include "stream.h"
#include "wire.h"

/* Packets that one call sends: a long read is somebody's who can wait. */
#define REPLY_PACKETS 64

/* Packets that were kept and are executed under one lock: 64 KiB with the one that has come. */
#define RESUMED_PACKETS 15

/* What a packet asks for, as if it had been posted here. */
static const struct bellhop_opcode *asked(const struct bellhop_transport *transport)
{
	return bellhop_opcode_row(bellhop_segment_wr(transport->opcode));
}

static struct bellhop_cursor remote_bytes(const struct bellhop_qp *qp,
					  const struct bellhop_sge *range, u32 access,
					  struct bellhop_fault **fault)
{
	return (struct bellhop_cursor){
		.device = qp->device,
		.pdn = qp->pdn,
		.qp_id = qp->id,
		.access = access,
		.remote = true,
		.side = BELLHOP_SIDE_RESPONDER,
		.sge = range,
		.fault = fault,
	};
}

static enum bellhop_reason scatter(const struct bellhop_arrival *arrival,
				   const struct bellhop_acceptor_plan *plan,
				   struct bellhop_cursor to)
{
	enum bellhop_reason reason;

	if (!plan->bytes)
		return BELLHOP_REASON_NONE;
	bellhop_cursor_seek(&to, plan->offset);
	reason = bellhop_wire_scatter(arrival, &to, plan->last);
	bellhop_cursor_end(&to);
	return reason;
}

/* Payload, or the word; nothing else is changed. */
static enum bellhop_reason carry(const struct bellhop_arrival *arrival, struct bellhop_qp *qp,
				 const struct bellhop_acceptor_plan *plan,
				 struct bellhop_fault **fault, u64 *word)
{
	const struct bellhop_transport *transport = &arrival->transport;
	const struct bellhop_opcode *op = asked(transport);
	const struct bellhop_sge range = {
		.addr = plan->address,
		.length = plan->operation == BELLHOP_OPERATION_ATOMIC ? BELLHOP_ATOMIC_BYTES
								      : plan->length,
		.lkey = plan->rkey,
	};
	const struct bellhop_operands operands = {
		.compare_add = transport->opcode % 32 == BELLHOP_BTH_COMPARE_SWAP
				       ? transport->compare
				       : transport->swap_add,
		.swap = transport->swap_add,
	};
	struct bellhop_cursor to = remote_bytes(qp, &range, op->access, fault);

	switch (plan->operation) {
	case BELLHOP_OPERATION_SEND:
		if (plan->offset + plan->bytes > qp->recv.wqe.length)
			return BELLHOP_REASON_RECV_TOO_SHORT;
		return scatter(arrival, plan, bellhop_cursor_receive(qp, fault, 0));
	case BELLHOP_OPERATION_WRITE:
		return scatter(arrival, plan, to);
	case BELLHOP_OPERATION_READ:
		return bellhop_carry_check_range(qp, &range, op->access);
	case BELLHOP_OPERATION_ATOMIC_WRITE:
		if (skb_copy_bits(arrival->skb, arrival->payload_at, word, sizeof(*word)))
			return BELLHOP_REASON_SILENT;
		fallthrough;
	default:
		return bellhop_atomic_change(&to, bellhop_segment_wr(transport->opcode), &operands,
					     word);
	}
}

static enum bellhop_reason deliver(const struct bellhop_arrival *arrival, struct bellhop_qp *qp,
				   const struct bellhop_acceptor_plan *plan)
{
	const struct bellhop_transport *transport = &arrival->transport;
	const struct bellhop_opcode *op = asked(transport);
	struct bellhop_completion completion = {
		.byte_len = plan->offset + plan->bytes,
		.src_qp = qp->recv.rules.source_qpn,
	};
	u32 ex = op->traits & BELLHOP_OP_IMM ? (__force u32)transport->imm
					     : transport->invalidate_rkey;

	return bellhop_receive_deliver(qp, op, ex, transport->solicited, &completion);
}

/* In the order of IBA 9.7.4.1. */
static enum bellhop_reason execute(const struct bellhop_arrival *arrival, struct bellhop_qp *qp,
				   const struct bellhop_acceptor_plan *plan, u64 *word)
{
	struct bellhop_responder *rules = &qp->recv.rules;
	struct bellhop_fault *fault = NULL;
	enum bellhop_reason reason;

	reason = bellhop_responder_admit(rules, rules->source_qpn, rules->service,
					 asked(&arrival->transport));
	if (!reason && plan->takes_receive && !qp->recv.busy)
		reason = bellhop_receive_take(qp, 0);
	if (!reason && plan->first)
		bellhop_receive_establish(qp);
	if (!reason) {
		reason = carry(arrival, qp, plan, &fault, word);
		bellhop_fault_put(fault);
	}
	if (!reason && plan->last && qp->recv.busy)
		reason = deliver(arrival, qp, plan);
	return reason;
}

static void refuse(struct bellhop_qp *qp, enum bellhop_reason reason)
{
	bool reliable = qp->recv.rules.service & BELLHOP_SERVICES_RELIABLE;

	/* Pages on demand are fetched meanwhile: who asks again later finds them (IBA 9.7.5.2.8).
	 */
	if (reason == BELLHOP_REASON_ABSENT)
		reason = BELLHOP_REASON_RNR;
	bellhop_acceptor_refuse(&qp->stream->acceptor, reason, qp->recv.min_rnr_timer);
	if (reason == BELLHOP_REASON_RNR || reason == BELLHOP_REASON_SILENT) {
		if (!reliable && qp->recv.busy)
			bellhop_receive_give_back(qp);
		return;
	}
	bellhop_counters_count(&qp->device->counters, bellhop_counter_of(reason));
	if (reliable || bellhop_responder_refuse(reason)->own)
		bellhop_receive_refuse(qp, reason);
	else if (qp->recv.busy)
		bellhop_receive_give_back(qp);
}

/*
 * A copy, since what is lent may be part of more, and is the network's to account for. Whoever
 * repairs has few packets under way, and a QP keeps no more than these.
 */
static void keep(const struct bellhop_arrival *arrival, struct bellhop_qp *qp, u32 place)
{
	struct bellhop_stream *stream = qp->stream;

	kfree_skb(stream->stash[place]);
	stream->stash[place] = skb_copy(arrival->skb, GFP_NOWAIT | __GFP_NOWARN);
	if (!stream->stash[place])
		bellhop_acceptor_lose(&stream->acceptor, place);
}

/* The acceptor, or its replies, have answered already. */
static void fail(struct bellhop_qp *qp, enum bellhop_reason reason)
{
	bellhop_counters_count(&qp->device->counters, bellhop_counter_of(reason));
	bellhop_receive_refuse(qp, reason);
}

static void accept(const struct bellhop_arrival *arrival, struct bellhop_qp *qp)
{
	struct bellhop_acceptor *acceptor = &qp->stream->acceptor;
	struct bellhop_acceptor_plan plan = bellhop_acceptor_receive(acceptor, &arrival->transport);
	enum bellhop_reason reason;
	u64 word = 0;

	if (plan.abandons && qp->recv.busy)
		bellhop_receive_give_back(qp);
	if (plan.verdict == BELLHOP_ACCEPTOR_REFUSE)
		fail(qp, plan.reason);
	if (plan.verdict == BELLHOP_ACCEPTOR_KEEP)
		keep(arrival, qp, plan.place);
	if (plan.verdict != BELLHOP_ACCEPTOR_EXECUTE)
		return;
	reason = execute(arrival, qp, &plan, &word);
	if (reason) {
		refuse(qp, reason);
		return;
	}
	bellhop_acceptor_commit(acceptor, &plan, &arrival->transport, word);
	bellhop_flow_count(&qp->slot->flow, BELLHOP_IN, plan.bytes);
}

static bool is_from_peer(const struct bellhop_arrival *arrival, const struct bellhop_qp *qp)
{
	const struct bellhop_path *path = &qp->stream->path;

	return !memcmp(&arrival->sgid, &path->peer_gid, sizeof(arrival->sgid)) &&
	       !memcmp(&arrival->dgid, &path->own_gid, sizeof(arrival->dgid));
}

static enum bellhop_counter take(const struct bellhop_arrival *arrival, struct bellhop_qp *qp)
{
	struct bellhop_stream *stream = qp->stream;

	if (!stream || !bellhop_state_responds(qp->recv.rules.state))
		return BELLHOP_COUNTER_DROPPED_STATE;
	if (!is_from_peer(arrival, qp))
		return BELLHOP_COUNTER_DROPPED_ADDRESS;
	if (!(bellhop_bth_row(arrival->transport.opcode)->traits & BELLHOP_BTH_IS_RESPONSE)) {
		accept(arrival, qp);
		return BELLHOP_COUNTERS;
	}
	if (skb_queue_len_lockless(&stream->answers) >= BELLHOP_STREAM_BACKLOG)
		return BELLHOP_COUNTER_DROPPED_NO_ROOM;
	skb_queue_tail(&stream->answers, skb_get(arrival->skb));
	return BELLHOP_COUNTERS;
}

/* Executes some of the packets that were kept; returns whether there may be more. */
static bool resume(struct bellhop_qp *qp)
{
	struct bellhop_stream *stream = qp->stream;
	u32 left, place;

	for (left = RESUMED_PACKETS; left; left--) {
		struct bellhop_arrival arrival = { .device = qp->device };

		if (!stream || !bellhop_state_responds(qp->recv.rules.state) ||
		    !bellhop_acceptor_resume(&stream->acceptor, &place))
			return false;
		arrival.skb = stream->stash[place];
		stream->stash[place] = NULL;
		if (bellhop_wire_headers(&arrival))
			accept(&arrival, qp);
		consume_skb(arrival.skb);
	}
	return true;
}

static bool is_here(const struct bellhop_slot *slot, u32 qpn)
{
	return slot->qp && slot->qpn == qpn;
}

enum bellhop_counter bellhop_stream_receive(const struct bellhop_arrival *arrival)
{
	const struct bellhop_bth *row = bellhop_bth_row(arrival->transport.opcode);
	enum bellhop_counter why = BELLHOP_COUNTER_DROPPED_NOBODY;
	bool is_response = row->traits & BELLHOP_BTH_IS_RESPONSE;
	u32 qpn = arrival->transport.qpn;
	struct bellhop_slot *slot = bellhop_slot_find(qpn);
	bool more = false;

	if (!slot)
		return why;
	spin_lock(&slot->lock);
	if (is_here(slot, qpn) && slot->qp->device == arrival->device)
		why = take(arrival, slot->qp);
	if (why == BELLHOP_COUNTERS && !is_response)
		more = resume(slot->qp);
	spin_unlock(&slot->lock);
	while (more) {
		spin_lock(&slot->lock);
		more = is_here(slot, qpn) && resume(slot->qp);
		spin_unlock(&slot->lock);
	}
	if (why != BELLHOP_COUNTERS)
		return why;
	if (is_response)
		bellhop_run_poke(qpn);
	else if (bellhop_stream_reply(qpn))
		bellhop_run_wake(qpn);
	return why;
}

static struct bellhop_transport describe(const struct bellhop_stream *stream,
					 const struct bellhop_reply_packet *packet)
{
	return (struct bellhop_transport){
		.opcode = packet->opcode,
		.qpn = stream->path.peer_qpn,
		.psn = packet->psn,
		.pkey = IB_DEFAULT_PKEY_FULL,
		.syndrome = packet->syndrome,
		.msn = stream->acceptor.msn,
		.original = packet->original,
		.payload = packet->bytes,
		.migrated = true,
	};
}

static enum bellhop_reason gather(struct bellhop_qp *qp, const struct bellhop_reply_packet *packet,
				  u8 *payload)
{
	const struct bellhop_sge range = {
		.addr = packet->address,
		.length = packet->bytes,
		.lkey = packet->rkey,
	};
	u32 access = bellhop_opcode_row(BELLHOP_WR_RDMA_READ)->access;
	struct bellhop_fault *fault = NULL;
	struct bellhop_cursor from = remote_bytes(qp, &range, access, &fault);
	struct bellhop_cursor to = bellhop_cursor_memory(payload, packet->bytes);
	enum bellhop_reason reason;

	bellhop_cursor_seek(&from, 0);
	bellhop_cursor_seek(&to, 0);
	reason = bellhop_copy(&to, &from, packet->bytes, false).reason;
	bellhop_cursor_end(&from);
	bellhop_fault_put(fault);
	return reason;
}

/* The next packet, with its way; NULL if there is none. */
static struct sk_buff *build(struct bellhop_qp *qp, struct dst_entry *dst)
{
	struct bellhop_stream *stream = qp->stream;
	struct bellhop_reply_packet packet;
	struct bellhop_transport transport;
	enum bellhop_reason reason;
	struct sk_buff *skb;
	u8 *payload;

	while (bellhop_replies_next(&stream->acceptor.replies, &packet)) {
		transport = describe(stream, &packet);
		skb = bellhop_packet_build(dst_clone(dst), &transport, &payload);
		if (!skb)
			continue;
		reason = packet.bytes ? gather(qp, &packet, payload) : BELLHOP_REASON_NONE;
		if (!reason) {
			bellhop_flow_count(&qp->slot->flow, BELLHOP_OUT, packet.bytes);
			return skb;
		}
		kfree_skb(skb);
		/* What is absent is lost, and asked for again. */
		if (reason == BELLHOP_REASON_ABSENT)
			continue;
		bellhop_replies_refuse(&stream->acceptor.replies, &packet,
				       bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK,
							       BELLHOP_NAK_REMOTE_ACCESS_ERROR));
		fail(qp, reason);
	}
	return NULL;
}

bool bellhop_stream_reply(u32 qpn)
{
	struct bellhop_slot *slot = bellhop_slot_find(qpn);
	struct bellhop_device *device = NULL;
	struct dst_entry *dst = NULL;
	struct bellhop_path path;
	struct bellhop_route route;
	struct sk_buff *skb;
	bool more = slot;
	int left;

	for (left = REPLY_PACKETS; left && more; left--) {
		skb = NULL;
		spin_lock(&slot->lock);
		more = is_here(slot, qpn) && slot->qp->stream &&
		       slot->qp->stream->acceptor.replies.head !=
			       slot->qp->stream->acceptor.replies.tail;
		if (more && !dst) {
			device = slot->qp->device;
			path = slot->qp->stream->path;
			route = bellhop_stream_route(&path);
			dst = bellhop_route_find(device, path.sgid_index, &route, path.source_port);
			more = !IS_ERR(dst);
		}
		if (more)
			skb = build(slot->qp, dst);
		spin_unlock(&slot->lock);
		if (skb)
			bellhop_packet_send(device, skb, &route, path.source_port);
	}
	if (!IS_ERR_OR_NULL(dst))
		dst_release(dst);
	return more;
}
