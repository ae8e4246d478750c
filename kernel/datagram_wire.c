// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* datagram_wire.c: datagrams to other hosts, and from them (IBA 9.8.3, A17). */
#include <linux/skbuff.h>
#include <net/dst.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "datagram.h"
#include "device.h"
#include "gsi.h"
#include "mcast.h"
#include "packet.h"
#include "port.h"
#include "proto/group.h"
#include "proto/psn.h"
#include "qp.h"
#include "receive.h"
#include "route.h"
#include "slot.h"
#include "wire.h"

static struct bellhop_transport describe(const struct bellhop_qp *qp)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	bool has_imm = wqe->op->traits & BELLHOP_OP_IMM;

	return (struct bellhop_transport){
		.opcode = BELLHOP_BTH_UD |
			  (has_imm ? BELLHOP_BTH_SEND_ONLY_IMM : BELLHOP_BTH_SEND_ONLY),
		.payload = wqe->length,
		.qpn = wqe->av.qpn,
		.psn = qp->send.psn,
		.qkey = bellhop_responder_effective_qkey(wqe->av.qkey, qp->recv.rules.qkey),
		.source_qpn = qp->ibqp.qp_num,
		.imm = (__force __be32)wqe->head.ex,
		.pkey = IB_DEFAULT_PKEY_FULL,
		.solicited = wqe->head.flags & BELLHOP_SQE_SOLICITED,
		.migrated = true,
	};
}

/* The payload, as the QP's keys open it. */
static enum bellhop_reason gather(struct bellhop_qp *qp, u8 *payload)
{
	u32 length = qp->send.wqe.length;
	struct bellhop_cursor own = bellhop_cursor_own(qp, 0);
	struct bellhop_cursor to = bellhop_cursor_memory(payload, length);
	enum bellhop_reason reason;

	if (!length)
		return BELLHOP_REASON_NONE;
	spin_lock(&qp->slot->lock);
	bellhop_cursor_seek(&own, 0);
	bellhop_cursor_seek(&to, 0);
	reason = bellhop_copy(&to, &own, length, false).reason;
	bellhop_cursor_end(&own);
	spin_unlock(&qp->slot->lock);
	return reason;
}

static struct bellhop_answer lose(const struct bellhop_qp *qp, enum bellhop_counter why)
{
	bellhop_counters_count(&qp->device->counters, why);
	return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_NONE };
}

struct bellhop_answer bellhop_datagram_send(struct bellhop_qp *qp)
{
	const struct bellhop_transport transport = describe(qp);
	const struct bellhop_route route = bellhop_datagram_route(qp);
	u16 port = rdma_get_udp_sport(route.flow_label, transport.source_qpn, transport.qpn);
	struct bellhop_device *device = qp->device;
	enum bellhop_reason reason;
	struct dst_entry *dst;
	struct sk_buff *packet;
	u8 *payload;

	if (!bellhop_port_is_active(device))
		return lose(qp, BELLHOP_COUNTER_DROPPED_NO_ROUTE);
	dst = bellhop_route_find(device, qp->send.wqe.av.sgid_index, &route, port);
	if (IS_ERR(dst))
		return lose(qp, BELLHOP_COUNTER_DROPPED_NO_ROUTE);
	packet = bellhop_packet_build(dst, &transport, &payload);
	if (!packet)
		return lose(qp, BELLHOP_COUNTER_DROPPED_NO_ROOM);
	reason = gather(qp, payload);
	if (reason) {
		kfree_skb(packet);
		return (struct bellhop_answer){ .kind = reason == BELLHOP_REASON_ABSENT
								? BELLHOP_ANSWER_FETCHING
								: BELLHOP_ANSWER_OWN_FAULT,
						.reason = reason };
	}
	bellhop_packet_send(device, packet, &route, port);
	qp->send.psn = bellhop_psn_add(qp->send.psn, 1);
	return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_ACK };
}

/* Into the entry that was taken, which has room for both. */
static enum bellhop_reason fill(const struct bellhop_arrival *arrival, struct bellhop_qp *qp,
				u8 *grh)
{
	bool is_empty = !arrival->transport.payload;
	struct bellhop_fault *fault = NULL;
	struct bellhop_cursor header = bellhop_cursor_memory(grh, BELLHOP_GRH_BYTES);
	struct bellhop_cursor to = bellhop_cursor_receive(qp, &fault, 0);
	enum bellhop_reason reason;

	bellhop_cursor_seek(&header, 0);
	bellhop_cursor_seek(&to, 0);
	reason = bellhop_copy(&to, &header, BELLHOP_GRH_BYTES, is_empty).reason;
	if (!reason && !is_empty)
		reason = bellhop_wire_scatter(arrival, &to, true);
	bellhop_cursor_end(&to);
	bellhop_fault_put(fault);
	return reason;
}

/* Why the QP does not get it, or BELLHOP_COUNTERS if it did. */
static enum bellhop_counter take(const struct bellhop_arrival *arrival, struct bellhop_qp *qp)
{
	const struct bellhop_transport *transport = &arrival->transport;
	bool has_imm = bellhop_bth_row(transport->opcode)->headers & BELLHOP_HAS_IMMDT;
	struct bellhop_completion completion = {
		.byte_len = BELLHOP_GRH_BYTES + transport->payload,
		.src_qp = transport->source_qpn,
		.ex = (__force u32)transport->imm,
		.opcode = BELLHOP_WC_RECV,
		.status = BELLHOP_WC_SUCCESS,
		.wc_flags = BELLHOP_WC_GRH | (has_imm ? BELLHOP_WC_WITH_IMM : 0),
	};
	enum bellhop_reason reason;
	u8 grh[BELLHOP_GRH_BYTES];

	if (qp->recv.rules.service != BELLHOP_SERVICE_UD ||
	    !bellhop_state_responds(qp->recv.rules.state))
		return BELLHOP_COUNTER_DROPPED_STATE;
	if (!bellhop_responder_admit_datagram(&qp->recv.rules, transport->qkey))
		return BELLHOP_COUNTER_DROPPED_QKEY;
	reason = bellhop_receive_take(qp, 0);
	if (reason == BELLHOP_REASON_RNR)
		return BELLHOP_COUNTER_DROPPED_NO_RECEIVE;
	if (!reason && qp->recv.wqe.length < completion.byte_len) {
		if (qp->ibqp.qp_type == IB_QPT_GSI) {
			/* Nobody may put out of order what serves everybody. */
			bellhop_receive_give_back(qp);
			return BELLHOP_COUNTER_DROPPED_TOO_LONG;
		}
		reason = BELLHOP_REASON_RECV_TOO_SHORT;
	}
	if (!reason) {
		completion.sl = bellhop_wire_header(arrival, grh);
		completion.vlan = bellhop_datagram_vlan(qp, arrival->dgid.raw);
		reason = fill(arrival, qp, grh);
	}
	if (reason == BELLHOP_REASON_ABSENT) {
		/* Who sends it again finds the pages there, maybe. */
		bellhop_receive_give_back(qp);
		return BELLHOP_COUNTER_DROPPED_NO_RECEIVE;
	}
	if (reason) {
		bellhop_receive_refuse(qp, reason);
		return bellhop_counter_of(reason);
	}
	bellhop_receive_complete(qp, &completion, transport->solicited);
	bellhop_flow_count(&qp->slot->flow, BELLHOP_IN, transport->payload);
	return BELLHOP_COUNTERS;
}

/* Of other devices' QPs no packet is that came in on this one's interface. */
static enum bellhop_counter give(const struct bellhop_arrival *arrival, u32 qpn)
{
	enum bellhop_counter why = BELLHOP_COUNTER_DROPPED_NOBODY;
	struct bellhop_slot *slot = bellhop_slot_find(qpn);

	if (!slot)
		return why;
	spin_lock(&slot->lock);
	if (slot->qp && slot->qpn == qpn && slot->qp->device == arrival->device)
		why = take(arrival, slot->qp);
	spin_unlock(&slot->lock);
	return why;
}

/* What one of this host has sent to a group, its members here have got without a packet. */
static enum bellhop_counter give_group(const struct bellhop_arrival *arrival)
{
	enum bellhop_counter why = BELLHOP_COUNTER_DROPPED_NOBODY;
	u32 qpn = 0;

	if (bellhop_gsi_find(arrival->device, &arrival->sgid))
		return BELLHOP_COUNTER_DROPPED_ADDRESS;
	while ((qpn = bellhop_mcast_next(&arrival->dgid, qpn))) {
		enum bellhop_counter one = give(arrival, qpn);

		if (one == BELLHOP_COUNTERS)
			bellhop_counters_count(&arrival->device->counters,
					       BELLHOP_COUNTER_MULTICAST_COPIES);
		/* A member on another interface gets what comes in there. */
		if (why == BELLHOP_COUNTER_DROPPED_NOBODY)
			why = one;
		else if (one != BELLHOP_COUNTERS && one != BELLHOP_COUNTER_DROPPED_NOBODY)
			bellhop_counters_count(&arrival->device->counters, one);
	}
	return why;
}

enum bellhop_counter bellhop_datagram_receive(const struct bellhop_arrival *arrival)
{
	u32 qpn = arrival->transport.qpn;

	/* One packet holds a message, and no packet is larger (IBA 9.8.1). */
	if (arrival->transport.payload > ib_mtu_enum_to_int(bellhop_port_mtu(arrival->device)))
		return BELLHOP_COUNTER_DROPPED_TOO_LONG;
	if (bellhop_group_is_multicast(arrival->dgid.raw))
		return qpn == IB_MULTICAST_QPN ? give_group(arrival)
					       : BELLHOP_COUNTER_DROPPED_ADDRESS;
	return give(arrival, qpn == BELLHOP_GSI_QPN ? bellhop_gsi_number(arrival->device) : qpn);
}
