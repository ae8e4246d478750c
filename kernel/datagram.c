// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* datagram.c: addresses datagrams, and delivers those that stay on this host. */
#include <rdma/ib_cache.h>
#include "carry.h"
#include "datagram.h"
#include "device.h"
#include "gsi.h"
#include "mcast.h"
#include "port.h"
#include "proto/grh.h"
#include "proto/group.h"
#include "qp.h"
#include "receive.h"
#include "slot.h"

/* The member of the group after @qpn that gets a copy, or 0. */
static u32 next_member(const struct bellhop_sender *send, u32 qpn)
{
	qpn = bellhop_mcast_next(&send->peer_gid, qpn);
	return qpn && qpn == send->spared_qpn ? bellhop_mcast_next(&send->peer_gid, qpn) : qpn;
}

/*
 * A GID that is a port's of this host is never looked for elsewhere. That is found out where it can
 * matter; without a wire the QP's number alone says whether there is somebody.
 */
static bool is_remote(const struct bellhop_qp *qp)
{
	return bellhop_socket_is_open(&qp->device->plug) &&
	       !bellhop_gsi_find(qp->device, &qp->send.peer_gid);
}

/* Behind the members on this host comes the wire, if there is one. */
static void turn_to_member(struct bellhop_qp *qp, u32 qpn)
{
	qp->send.peer_qpn = qpn;
	qp->send.remote = !qpn && bellhop_socket_is_open(&qp->device->plug);
}

enum bellhop_reason bellhop_datagram_address(struct bellhop_qp *qp)
{
	struct bellhop_sender *send = &qp->send;
	const struct bellhop_av *av = &send->wqe.av;

	/* One packet holds it all (IBA 9.8.1). */
	if (send->wqe.length > ib_mtu_enum_to_int(bellhop_port_mtu(qp->device)))
		return BELLHOP_REASON_WR_LENGTH;
	send->to_group = false;
	send->remote = false;
	send->peer_qpn = 0;
	/*
	 * An address that was taken from the port meanwhile sends nothing. Nor does one of the
	 * other family: of it, the header would show a part, which may be somebody else's address.
	 */
	if (rdma_query_gid(&qp->device->ibdev, 1, av->sgid_index, &send->own_gid) ||
	    bellhop_grh_is_ipv4(send->own_gid.raw) != bellhop_grh_is_ipv4(av->dgid))
		return BELLHOP_REASON_NONE;
	memcpy(send->peer_gid.raw, av->dgid, sizeof(send->peer_gid.raw));
	send->to_group = av->qpn == IB_MULTICAST_QPN && bellhop_group_is_multicast(av->dgid);
	if (send->to_group) {
		bellhop_counters_count(&qp->device->counters, BELLHOP_COUNTER_MULTICAST_SENT);
		turn_to_member(qp, next_member(send, 0));
	} else if (is_remote(qp)) {
		send->remote = true;
	} else if (av->qpn == BELLHOP_GSI_QPN) {
		send->peer_qpn = bellhop_gsi_find(qp->device, &send->peer_gid);
	} else {
		send->peer_qpn = av->qpn;
	}
	return BELLHOP_REASON_NONE;
}

bool bellhop_datagram_go_on(struct bellhop_qp *qp)
{
	struct bellhop_sender *send = &qp->send;

	if (send->remote)
		return false;
	turn_to_member(qp, next_member(send, send->peer_qpn));
	return send->peer_qpn || send->remote;
}

static bool is_addressed(const struct bellhop_qp *qp, const struct bellhop_qp *peer)
{
	return qp->send.to_group ? bellhop_mcast_has(&qp->send.peer_gid, peer->qpn)
				 : bellhop_port_has_gid(peer->device, &qp->send.peer_gid, NULL);
}

/* Why the peer does not take it, or BELLHOP_COUNTERS if it does. */
static enum bellhop_counter admit(const struct bellhop_qp *qp, const struct bellhop_qp *peer)
{
	const struct bellhop_responder *rules = &peer->recv.rules;
	u32 qkey = bellhop_responder_effective_qkey(qp->send.wqe.av.qkey, qp->recv.rules.qkey);

	if (rules->service != BELLHOP_SERVICE_UD || !bellhop_state_responds(rules->state))
		return BELLHOP_COUNTER_DROPPED_STATE;
	if (!bellhop_port_joins(qp->device, peer->device) || !is_addressed(qp, peer))
		return BELLHOP_COUNTER_DROPPED_ADDRESS;
	if (!bellhop_responder_admit_datagram(rules, qkey))
		return BELLHOP_COUNTER_DROPPED_QKEY;
	return BELLHOP_COUNTERS;
}

static struct bellhop_answer lose(const struct bellhop_qp *peer, enum bellhop_counter why)
{
	bellhop_counters_count(&peer->device->counters, why);
	return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_NONE };
}

struct bellhop_route bellhop_datagram_route(const struct bellhop_qp *qp)
{
	const struct bellhop_av *av = &qp->send.wqe.av;

	return (struct bellhop_route){
		.sgid = qp->send.own_gid.raw,
		.dgid = av->dgid,
		.flow_label = av->flow_label,
		.hop_limit = av->hop_limit,
		.traffic_class = av->traffic_class,
	};
}

static enum bellhop_sl build_header(const struct bellhop_qp *qp, u8 grh[BELLHOP_GRH_BYTES])
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	const struct bellhop_route route = bellhop_datagram_route(qp);

	return bellhop_grh_build(grh, &route, wqe->length, wqe->op->traits & BELLHOP_OP_IMM);
}

u16 bellhop_datagram_vlan(const struct bellhop_qp *qp, const u8 *dgid)
{
	union ib_gid gid;

	if (qp->ibqp.qp_type != IB_QPT_GSI)
		return 0;
	memcpy(&gid, dgid, sizeof(gid));
	return bellhop_port_vlan(qp->device, &gid);
}

struct bellhop_answer bellhop_datagram_deliver(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	struct bellhop_completion completion = {
		.byte_len = BELLHOP_GRH_BYTES + wqe->length,
		.src_qp = qp->ibqp.qp_num,
		.wc_flags = BELLHOP_WC_GRH,
	};
	struct bellhop_copy_result result;
	enum bellhop_counter why;
	enum bellhop_reason reason;
	u8 grh[BELLHOP_GRH_BYTES];

	lockdep_assert_held(&peer->slot->lock);

	why = admit(qp, peer);
	if (why != BELLHOP_COUNTERS)
		return lose(peer, why);
	reason = bellhop_receive_take(peer, 0);
	if (reason == BELLHOP_REASON_RNR)
		return lose(peer, BELLHOP_COUNTER_DROPPED_NO_RECEIVE);
	if (!reason && peer->recv.wqe.length < completion.byte_len) {
		if (peer->ibqp.qp_type == IB_QPT_GSI) {
			/* Nobody may put out of order what serves everybody. */
			bellhop_receive_give_back(peer);
			return lose(peer, BELLHOP_COUNTER_DROPPED_TOO_LONG);
		}
		reason = BELLHOP_REASON_RECV_TOO_SHORT;
	}
	if (!reason) {
		completion.sl = build_header(qp, grh);
		completion.vlan = bellhop_datagram_vlan(peer, wqe->av.dgid);
		result = bellhop_carry_datagram(qp, peer, grh);
		if (result.reason == BELLHOP_REASON_ABSENT) {
			bellhop_receive_give_back(peer);
			return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_FETCHING };
		}
		if (result.reason && !result.destination) {
			bellhop_receive_give_back(peer);
			return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_OWN_FAULT,
							.reason = result.reason };
		}
		reason = result.reason;
	}
	if (reason) {
		bellhop_receive_refuse(peer, reason);
		return lose(peer, bellhop_counter_of(reason));
	}
	bellhop_receive_deliver(peer, wqe->op, wqe->head.ex,
				wqe->head.flags & BELLHOP_SQE_SOLICITED, &completion);
	bellhop_flow_count(&peer->slot->flow, BELLHOP_IN, wqe->length);
	if (qp->send.to_group)
		bellhop_counters_count(&peer->device->counters, BELLHOP_COUNTER_MULTICAST_COPIES);
	return (struct bellhop_answer){ .kind = BELLHOP_ANSWER_ACK };
}
