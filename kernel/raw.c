// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* raw.c: sends and delivers Ethernet frames. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include "copy.h"
#include "device.h"
#include "port.h"
#include "qp.h"
#include "raw.h"
#include "receive.h"
#include "rss.h"
#include "rule.h"
#include "send.h"
#include "slot.h"

enum bellhop_reason bellhop_raw_check(const struct bellhop_qp *qp)
{
	u32 most = READ_ONCE(qp->device->netdev->mtu) + VLAN_ETH_HLEN;
	u32 length = qp->send.wqe.length;

	return length >= ETH_HLEN && length <= min(most, BELLHOP_STEP_BYTES)
		       ? BELLHOP_REASON_NONE
		       : BELLHOP_REASON_WR_LENGTH;
}

/* The frame, as the QP's keys open it. */
static struct bellhop_copy_result gather(struct bellhop_qp *qp, struct sk_buff *skb)
{
	u32 length = qp->send.wqe.length;
	struct bellhop_cursor own = bellhop_cursor_own(qp, 0);
	struct bellhop_cursor to = bellhop_cursor_memory(skb_put(skb, length), length);
	struct bellhop_copy_result result;

	spin_lock(&qp->slot->lock);
	bellhop_cursor_seek(&own, 0);
	bellhop_cursor_seek(&to, 0);
	result = bellhop_copy(&to, &own, length, false);
	bellhop_cursor_end(&own);
	spin_unlock(&qp->slot->lock);
	return result;
}

static bool is_own_address(const struct bellhop_device *device, const u8 *frame)
{
	return ether_addr_equal_unaligned(frame, device->netdev->dev_addr);
}

/* To QPs of this device. Sniffers see what the interface gets, so nobody else need show it. */
static void loop(struct bellhop_device *device, struct sk_buff *skb)
{
	struct bellhop_verdict verdict = {
		.steered = true,
		.sniffed = is_own_address(device, skb->data),
	};
	struct bellhop_frame frame;
	u32 i;

	if (!bellhop_rules_exist(&device->rules) ||
	    !bellhop_frame_decode(&frame, skb->data, skb->len))
		return;
	bellhop_rules_judge(&device->rules, &frame, &verdict);
	for (i = 0; i < verdict.num; i++)
		bellhop_raw_deliver(device, verdict.qpns[i], skb->data, skb->len);
}

static void transmit(struct bellhop_device *device, struct sk_buff *skb)
{
	int result;

	if (is_own_address(device, skb->data)) {
		consume_skb(skb);
		return;
	}
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = eth_hdr(skb)->h_proto;
	skb->dev = device->netdev;
	result = dev_queue_xmit(skb);
	if (net_xmit_eval(result))
		bellhop_counters_count(&device->counters, BELLHOP_COUNTER_DROPPED_NO_ROOM);
}

struct bellhop_answer bellhop_raw_send(struct bellhop_qp *qp)
{
	struct bellhop_answer answer = { .kind = BELLHOP_ANSWER_NONE };
	struct bellhop_device *device = qp->device;
	struct bellhop_copy_result result;
	struct sk_buff *skb = NULL;

	if (bellhop_port_is_active(device))
		skb = alloc_skb(LL_RESERVED_SPACE(device->netdev) + qp->send.wqe.length +
					device->netdev->needed_tailroom,
				GFP_NOWAIT | __GFP_NOWARN);
	if (!skb) {
		bellhop_counters_count(&device->counters, BELLHOP_COUNTER_DROPPED_NO_ROOM);
		return answer;
	}
	skb_reserve(skb, LL_RESERVED_SPACE(device->netdev));
	result = gather(qp, skb);
	if (result.reason) {
		kfree_skb(skb);
		answer.reason = result.reason;
		answer.kind = result.reason == BELLHOP_REASON_ABSENT ? BELLHOP_ANSWER_FETCHING
								     : BELLHOP_ANSWER_OWN_FAULT;
		return answer;
	}
	loop(device, skb);
	transmit(device, skb);
	answer.kind = BELLHOP_ANSWER_ACK;
	return answer;
}

/* Into the entry that was taken. */
static enum bellhop_reason scatter(struct bellhop_qp *qp, u8 *frame, u32 length)
{
	struct bellhop_fault *fault = NULL;
	struct bellhop_cursor from = bellhop_cursor_memory(frame, length);
	struct bellhop_cursor to = bellhop_cursor_receive(qp, &fault, 0);
	enum bellhop_reason reason;

	bellhop_cursor_seek(&from, 0);
	bellhop_cursor_seek(&to, 0);
	reason = bellhop_copy(&to, &from, length, true).reason;
	bellhop_cursor_end(&to);
	bellhop_fault_put(fault);
	return reason;
}

/* Why the QP does not get it, or BELLHOP_COUNTERS if it did. */
static enum bellhop_counter receive(struct bellhop_qp *qp, u8 *frame, u32 length)
{
	struct bellhop_completion completion = {
		.byte_len = length,
		.opcode = BELLHOP_WC_RECV,
		.status = BELLHOP_WC_SUCCESS,
	};
	enum bellhop_reason reason;

	if (qp->recv.rules.service != BELLHOP_SERVICE_RAW ||
	    !bellhop_state_responds(qp->recv.rules.state))
		return BELLHOP_COUNTER_DROPPED_STATE;
	reason = bellhop_receive_take(qp, 0);
	if (reason == BELLHOP_REASON_RNR)
		return BELLHOP_COUNTER_DROPPED_NO_RECEIVE;
	if (!reason && qp->recv.wqe.length < length) {
		bellhop_receive_give_back(qp);
		return BELLHOP_COUNTER_DROPPED_TOO_LONG;
	}
	if (!reason)
		reason = scatter(qp, frame, length);
	if (reason == BELLHOP_REASON_ABSENT) {
		bellhop_receive_give_back(qp);
		return BELLHOP_COUNTER_DROPPED_NO_RECEIVE;
	}
	if (reason) {
		bellhop_receive_refuse(qp, reason);
		return bellhop_counter_of(reason);
	}
	bellhop_receive_complete(qp, &completion, false);
	bellhop_flow_count(&qp->slot->flow, BELLHOP_IN, length);
	return BELLHOP_COUNTERS;
}

/* Which queue receives what is the QP's, or 0. */
static u32 choose(const struct bellhop_qp *qp, const u8 *frame, u32 length)
{
	struct bellhop_frame headers;

	return bellhop_frame_decode(&headers, frame, length)
		       ? bellhop_rss_choose(qp->recv.rss, &headers)
		       : 0;
}

/* As receive(); or @chosen is set to the queue that is to receive it. */
static enum bellhop_counter reach(struct bellhop_device *device, u32 qpn, u8 *frame, u32 length,
				  u32 *chosen)
{
	enum bellhop_counter why = BELLHOP_COUNTER_DROPPED_NOBODY;
	struct bellhop_slot *slot = bellhop_slot_find(qpn);

	if (!slot)
		return why;
	spin_lock_bh(&slot->lock);
	if (slot->qp && slot->qpn == qpn && slot->qp->device == device) {
		why = BELLHOP_COUNTER_DROPPED_STATE;
		if (slot->qp->recv.rss)
			*chosen = choose(slot->qp, frame, length);
		else
			why = receive(slot->qp, frame, length);
	}
	spin_unlock_bh(&slot->lock);
	return why;
}

void bellhop_raw_deliver(struct bellhop_device *device, u32 qpn, u8 *frame, u32 length)
{
	u32 chosen = 0;
	enum bellhop_counter why = reach(device, qpn, frame, length, &chosen);

	if (chosen)
		why = reach(device, chosen, frame, length, &chosen);
	if (why != BELLHOP_COUNTERS)
		bellhop_counters_count(&device->counters, why);
}
