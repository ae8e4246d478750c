// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* stream_send.c: the requester's packets to another host, and the answers to them. */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <net/dst.h>
#include <rdma/ib_mad.h>
#include "copy.h"
#include "device.h"
#include "packet.h"
#include "proto/responder.h"
#include "qp.h"
#include "route.h"
#include "run.h"
#include "send.h"
#include "slot.h"
#include "stream.h"
#include "wire.h"

/* A timer costs more than what it could gain by being earlier. */
#define WAIT_MIN_NS (100 * NSEC_PER_USEC)

/* Makes an entry that is under way the one that is executed, to be completed. */
static void resume(struct bellhop_qp *qp, u32 place)
{
	struct bellhop_stream *stream = qp->stream;

	qp->send.wqe.head = stream->wqes[place].head;
	qp->send.wqe.op = stream->wqes[place].op;
	qp->send.wqe.length = stream->wqes[place].length;
	qp->send.index = stream->indices[place];
}

bool bellhop_stream_take_back(struct bellhop_qp *qp)
{
	u32 place;

	if (!bellhop_requester_abandon(&qp->stream->requester, &place))
		return false;
	resume(qp, place);
	return true;
}

static void fail(struct bellhop_qp *qp, enum bellhop_wc_status status, enum bellhop_reason reason)
{
	if (bellhop_stream_take_back(qp))
		bellhop_send_complete(qp, status, reason);
}

static void collect(struct bellhop_qp *qp)
{
	struct bellhop_stream *stream = qp->stream;
	u32 place;

	while (bellhop_requester_done(&stream->requester, &place)) {
		resume(qp, place);
		bellhop_flow_count(&qp->send.flow, bellhop_flow_direction(qp->send.wqe.op),
				   qp->send.wqe.length);
		bellhop_send_complete(qp, BELLHOP_WC_SUCCESS, BELLHOP_REASON_NONE);
	}
	if (stream->broken && bellhop_requester_oldest(&stream->requester) == stream->broken_at) {
		bellhop_counters_count(&qp->device->counters, bellhop_counter_of(stream->broken));
		fail(qp, BELLHOP_WC_LOC_PROT_ERR, stream->broken);
	}
}

/* The bytes that a plan or a packet speaks of, of an entry that is under way. */
static struct bellhop_cursor own_bytes(struct bellhop_qp *qp, u32 place, u32 access)
{
	struct bellhop_cursor cursor = bellhop_cursor_own(qp, access);
	struct bellhop_send_wqe *wqe = &qp->stream->wqes[place];

	cursor.sge = wqe->sge;
	cursor.memory = wqe->head.flags & BELLHOP_SQE_INLINE ? wqe->data : NULL;
	return cursor;
}

static enum bellhop_reason place_answer(struct bellhop_qp *qp,
					const struct bellhop_requester_plan *plan,
					struct bellhop_arrival *arrival)
{
	struct bellhop_cursor to = own_bytes(qp, plan->request, BELLHOP_ACCESS_LOCAL_WRITE);
	const struct bellhop_send_wqe *wqe = &qp->stream->wqes[plan->request];
	u64 *original = &arrival->transport.original;
	struct bellhop_cursor from = bellhop_cursor_memory(original, sizeof(*original));
	bool last = plan->offset + plan->bytes == wqe->length;
	enum bellhop_reason reason;

	if (!plan->bytes)
		return BELLHOP_REASON_NONE;
	spin_lock(&qp->slot->lock);
	bellhop_cursor_seek(&to, plan->offset);
	bellhop_cursor_seek(&from, 0);
	reason = wqe->op->traits & BELLHOP_OP_ATOMIC
			 ? bellhop_copy(&to, &from, sizeof(*original), true).reason
			 : bellhop_wire_scatter(arrival, &to, last);
	bellhop_cursor_end(&to);
	spin_unlock(&qp->slot->lock);
	return reason;
}

static bool is_alive(const struct bellhop_qp *qp)
{
	return !bellhop_state_flushes_sends(bellhop_qp_state(qp));
}

static void act(struct bellhop_qp *qp, const struct bellhop_requester_plan *plan,
		struct bellhop_arrival *arrival, u64 now)
{
	enum bellhop_reason reason;

	collect(qp);
	if (plan->verdict == BELLHOP_REQUESTER_FAIL)
		fail(qp, bellhop_responder_refuse(plan->reason)->requester, plan->reason);
	if (plan->verdict != BELLHOP_REQUESTER_PLACE || !is_alive(qp))
		return;
	reason = place_answer(qp, plan, arrival);
	/* As if it had been lost: it is asked for again. */
	if (reason == BELLHOP_REASON_ABSENT)
		return;
	if (reason) {
		fail(qp, BELLHOP_WC_LOC_PROT_ERR, reason);
		return;
	}
	bellhop_requester_placed(&qp->stream->requester, plan, now);
	collect(qp);
}

static void hear(struct bellhop_qp *qp, struct sk_buff *skb, u64 now)
{
	struct bellhop_arrival arrival = { .device = qp->device, .skb = skb };
	struct bellhop_requester_plan plan;

	if (bellhop_wire_headers(&arrival)) {
		plan = bellhop_requester_receive(&qp->stream->requester, &arrival.transport, now);
		act(qp, &plan, &arrival, now);
	}
	consume_skb(skb);
}

static bool hear_all(struct bellhop_qp *qp, struct bellhop_share *share, u64 now)
{
	struct sk_buff *skb;

	while (is_alive(qp) && share->bytes && (skb = skb_dequeue(&qp->stream->answers))) {
		share->bytes -= min(share->bytes, skb->len);
		hear(qp, skb, now);
	}
	return !skb_queue_empty(&qp->stream->answers);
}

static struct bellhop_transport describe(const struct bellhop_qp *qp,
					 const struct bellhop_request_packet *packet)
{
	const struct bellhop_send_wqe *wqe = &qp->stream->wqes[packet->request];
	u16 headers = bellhop_bth_row(packet->opcode)->headers;
	struct bellhop_transport transport = {
		.opcode = packet->opcode,
		.qpn = qp->stream->path.peer_qpn,
		.psn = packet->psn,
		.pkey = IB_DEFAULT_PKEY_FULL,
		.ack_request = packet->ack_request,
		.solicited = packet->solicited,
		.migrated = true,
		.repairs = qp->send.limits.service & BELLHOP_SERVICES_RELIABLE,
		.payload = packet->bytes,
	};

	if (headers & (BELLHOP_HAS_RETH | BELLHOP_HAS_ATOMICETH)) {
		transport.address = wqe->head.remote_addr;
		transport.rkey = wqe->head.rkey;
		transport.length = wqe->length;
	}
	if (wqe->head.opcode == BELLHOP_WR_RDMA_READ) {
		transport.address += packet->offset;
		transport.length = packet->bytes;
		transport.payload = 0;
	}
	if (headers & BELLHOP_HAS_ATOMICETH) {
		bool swaps = wqe->head.opcode == BELLHOP_WR_ATOMIC_CMP_AND_SWP;

		transport.payload = 0;
		transport.compare = swaps ? wqe->operands.compare_add : 0;
		transport.swap_add = swaps ? wqe->operands.swap : wqe->operands.compare_add;
	}
	if (headers & BELLHOP_HAS_IMMDT)
		transport.imm = (__force __be32)wqe->head.ex;
	if (headers & BELLHOP_HAS_IETH)
		transport.invalidate_rkey = wqe->head.ex;
	return transport;
}

static enum bellhop_reason gather(struct bellhop_qp *qp,
				  const struct bellhop_request_packet *packet, u8 *payload)
{
	struct bellhop_cursor from = own_bytes(qp, packet->request, 0);
	struct bellhop_cursor to = bellhop_cursor_memory(payload, packet->bytes);
	struct bellhop_send_wqe *wqe = &qp->stream->wqes[packet->request];
	enum bellhop_reason reason;

	/* Of an atomic write, the word may stand in the entry itself. */
	if ((wqe->op->traits & BELLHOP_OP_WORD) && !wqe->head.num_sge && !from.memory)
		from = bellhop_cursor_memory(&wqe->operands.compare_add, BELLHOP_ATOMIC_BYTES);
	spin_lock(&qp->slot->lock);
	bellhop_cursor_seek(&from, packet->offset);
	bellhop_cursor_seek(&to, 0);
	reason = bellhop_copy(&to, &from, packet->bytes, false).reason;
	bellhop_cursor_end(&from);
	spin_unlock(&qp->slot->lock);
	return reason;
}

/* Its pages are being fetched, which wakes the QP. Returns why they are not waited for any more. */
static enum bellhop_reason rest(struct bellhop_stream *stream,
				const struct bellhop_request_packet *packet, u64 now)
{
	struct bellhop_retry_plan plan = bellhop_retry_absent(&stream->requester.retry,
							      packet->request, packet->offset, now);

	if (plan.give_up)
		return BELLHOP_REASON_LKEY_ABSENT;
	stream->is_resting = true;
	bellhop_requester_rest(&stream->requester, now + plan.wait_ns);
	return BELLHOP_REASON_NONE;
}

/* Returns whether another may be sent. What the host has no room for counts as lost. */
static bool send(struct bellhop_qp *qp, const struct bellhop_request_packet *packet,
		 struct dst_entry *dst, u64 now)
{
	struct bellhop_transport transport = describe(qp, packet);
	struct bellhop_stream *stream = qp->stream;
	struct bellhop_route route = bellhop_stream_route(&stream->path);
	enum bellhop_reason reason = BELLHOP_REASON_NONE;
	struct sk_buff *skb;
	u8 *payload;

	skb = bellhop_packet_build(dst_clone(dst), &transport, &payload);
	if (!skb)
		return false;
	if (transport.payload)
		reason = gather(qp, packet, payload);
	if (!reason) {
		if (packet->again)
			bellhop_counters_count(&qp->device->counters,
					       BELLHOP_COUNTER_PACKETS_SENT_AGAIN);
		bellhop_packet_send(qp->device, skb, &route, stream->path.source_port);
		return true;
	}
	kfree_skb(skb);
	if (reason == BELLHOP_REASON_ABSENT)
		reason = rest(stream, packet, now);
	if (reason && !stream->broken) {
		stream->broken = reason;
		stream->broken_at = packet->request;
		collect(qp);
	}
	return false;
}

static bool send_all(struct bellhop_qp *qp, struct bellhop_share *share, u64 now)
{
	struct bellhop_stream *stream = qp->stream;
	struct bellhop_route route = bellhop_stream_route(&stream->path);
	struct bellhop_request_packet packet;
	struct dst_entry *dst = NULL;
	bool goes_on = true;

	/* One way for all that go at a time. */
	while (goes_on && share->bytes && is_alive(qp) &&
	       bellhop_requester_next(&stream->requester, now, &packet)) {
		if (!dst)
			dst = bellhop_route_find(qp->device, stream->path.sgid_index, &route,
						 stream->path.source_port);
		share->bytes -= min(share->bytes, packet.bytes + BELLHOP_BTH_MAX_BYTES);
		/* Without one it is lost, and the next try may have one. */
		goes_on = !IS_ERR(dst) && send(qp, &packet, dst, now);
	}
	if (!IS_ERR_OR_NULL(dst))
		dst_release(dst);
	collect(qp);
	return goes_on && !share->bytes;
}

/* A timer that goes off early is set again then: each message puts its time off, few need it. */
static void wait(struct bellhop_qp *qp, u64 now)
{
	u64 wake = bellhop_requester_wake_ns(&qp->stream->requester);

	if (wake && !(hrtimer_is_queued(&qp->timer) &&
		      ktime_to_ns(hrtimer_get_expires(&qp->timer)) <= wake))
		hrtimer_start(&qp->timer,
			      ns_to_ktime(wake > now + WAIT_MIN_NS ? wake - now : WAIT_MIN_NS),
			      HRTIMER_MODE_REL);
}

bool bellhop_stream_advance(struct bellhop_qp *qp, struct bellhop_share *share)
{
	struct bellhop_stream *stream = qp->stream;
	u64 now = ktime_get_ns();
	struct bellhop_requester_plan plan;
	bool more;

	if (READ_ONCE(qp->send.woken)) {
		WRITE_ONCE(qp->send.woken, false);
		if (stream->is_resting)
			bellhop_requester_rouse(&stream->requester);
		stream->is_resting = false;
	}
	more = hear_all(qp, share, now);
	plan = bellhop_requester_expire(&stream->requester, now);
	act(qp, &plan, NULL, now);
	more |= send_all(qp, share, now);
	if (bellhop_stream_reply(qp->qpn)) {
		bellhop_run_charge(share);
		more = true;
	}
	if (is_alive(qp))
		wait(qp, now);
	return more || !is_alive(qp);
}
