// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* tap.c: hooks on an interface, and the worker behind them. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <net/gso.h>
#include "device.h"
#include "proto/rule.h"
#include "raw.h"
#include "rule.h"
#include "tap.h"

/* Frames that wait for the worker; what comes then is lost, as where a ring is full. */
#define MAX_QUEUED 1024U

/* At a time, so that others have their turn. */
#define WORK_FRAMES 256U

/* Who a queued frame is for. */
static u32 *qpn_of(struct sk_buff *skb)
{
	return (u32 *)skb->cb;
}

/* @skb is where the network has got to, behind the Ethernet header. */
static bool judge(struct bellhop_device *device, const struct sk_buff *skb,
		  struct bellhop_verdict *verdict)
{
	u8 headers[BELLHOP_FRAME_HEADERS];
	struct bellhop_frame frame;
	u32 length;
	int offset;

	/* The hook outlives rules, and is passed by all that comes in. */
	if (!bellhop_rules_exist(&device->rules) || !skb_mac_header_was_set(skb))
		return false;
	offset = skb_mac_offset(skb);
	length = min_t(u32, skb->len - offset, sizeof(headers));
	if (skb_copy_bits(skb, offset, headers, length) ||
	    !bellhop_frame_decode(&frame, headers, length))
		return false;
	if (skb_vlan_tag_present(skb))
		bellhop_frame_tag(&frame, htons(skb_vlan_tag_get(skb)));
	bellhop_rules_judge(&device->rules, &frame, verdict);
	return true;
}

static void enqueue(struct bellhop_device *device, struct sk_buff *skb, u32 qpn)
{
	struct bellhop_tap *tap = &device->tap;
	struct sk_buff *copy = NULL;

	if (skb_queue_len_lockless(&tap->queue) < MAX_QUEUED)
		copy = skb_clone(skb, GFP_ATOMIC);
	if (!copy) {
		bellhop_counters_count(&device->counters, BELLHOP_COUNTER_DROPPED_NO_ROOM);
		return;
	}
	skb_push(copy, -skb_mac_offset(copy));
	*qpn_of(copy) = qpn;
	skb_queue_tail(&tap->queue, copy);
	queue_work(system_unbound_wq, &tap->work);
}

static void enqueue_all(struct bellhop_device *device, struct sk_buff *skb,
			const struct bellhop_verdict *verdict)
{
	u32 i;

	for (i = 0; i < verdict->num; i++)
		enqueue(device, skb, verdict->qpns[i]);
}

static unsigned int take_incoming(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	struct bellhop_verdict verdict = { .steered = true };
	struct bellhop_device *device = priv;

	if (!judge(device, skb, &verdict))
		return NF_ACCEPT;
	enqueue_all(device, skb, &verdict);
	if (!verdict.taken)
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

static int take_passing(struct sk_buff *skb, struct net_device *netdev, struct packet_type *passing,
			struct net_device *original)
{
	struct bellhop_device *device = container_of(passing, struct bellhop_device, tap.passing);
	struct bellhop_verdict verdict = { .sniffed = true };

	if (judge(device, skb, &verdict))
		enqueue_all(device, skb, &verdict);
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

/* A single frame, in the form in which it is on the wire; consumed. */
static void deliver(struct bellhop_device *device, u32 qpn, struct sk_buff *skb)
{
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		goto out;
	if (skb_vlan_tag_present(skb)) {
		skb = __vlan_hwaccel_push_inside(skb);
		if (!skb)
			return;
	}
	if (!skb_linearize(skb))
		bellhop_raw_deliver(device, qpn, skb->data, skb->len);
out:
	consume_skb(skb);
}

/* The network makes one of many frames, on the way in as on the way out. */
static void deliver_each(struct bellhop_device *device, struct sk_buff *skb)
{
	u32 qpn = *qpn_of(skb);
	struct sk_buff *pieces, *next;

	memset(skb->cb, 0, sizeof(skb->cb));
	if (!skb_is_gso(skb)) {
		deliver(device, qpn, skb);
		return;
	}
	pieces = __skb_gso_segment(skb, 0, false);
	consume_skb(skb);
	if (IS_ERR_OR_NULL(pieces))
		return;
	skb_list_walk_safe(pieces, skb, next)
	{
		skb_mark_not_on_list(skb);
		deliver(device, qpn, skb);
	}
}

static void work(struct work_struct *work)
{
	struct bellhop_device *device = container_of(work, struct bellhop_device, tap.work);
	struct sk_buff_head *queue = &device->tap.queue;
	u32 frames = WORK_FRAMES;
	struct sk_buff *skb;

	while (frames && (skb = skb_dequeue(queue))) {
		deliver_each(device, skb);
		frames--;
	}
	if (!frames)
		queue_work(system_unbound_wq, work);
}

void bellhop_tap_init(struct bellhop_device *device)
{
	skb_queue_head_init(&device->tap.queue);
	INIT_WORK(&device->tap.work, work);
}

#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)

/* Under RTNL, so that the interface stays in its network namespace, which has to be named. */
static int begin_incoming(struct bellhop_device *device)
{
	struct nf_hook_ops *incoming = &device->tap.incoming;

	*incoming = (struct nf_hook_ops){
		.hook = take_incoming,
		.dev = device->netdev,
		.priv = device,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MIN,
	};
	return nf_register_net_hook(dev_net(device->netdev), incoming);
}

static void end_incoming(struct bellhop_device *device)
{
	nf_unregister_net_hook(dev_net(device->netdev), &device->tap.incoming);
}

#else

static int begin_incoming(struct bellhop_device *device)
{
	return -EOPNOTSUPP;
}

static void end_incoming(struct bellhop_device *device) {}

#endif

static void begin_passing(struct bellhop_device *device)
{
	device->tap.passing = (struct packet_type){
		.type = htons(ETH_P_ALL),
		.dev = device->netdev,
		.func = take_passing,
	};
	dev_add_pack(&device->tap.passing);
}

/* Nobody is in a hook any more, and what they have queued is gone. */
static void settle(struct bellhop_tap *tap)
{
	synchronize_net();
	cancel_work_sync(&tap->work);
	skb_queue_purge(&tap->queue);
}

static int add_address(struct net_device *netdev, const u8 *address)
{
	return is_multicast_ether_addr(address) ? dev_mc_add(netdev, address)
						: dev_uc_add(netdev, address);
}

static int remove_address(struct net_device *netdev, const u8 *address)
{
	return is_multicast_ether_addr(address) ? dev_mc_del(netdev, address)
						: dev_uc_del(netdev, address);
}

/* An interface keeps out what nobody wants. @more: 1 when somebody does, -1 when not any more. */
static int admit(struct net_device *netdev, const struct bellhop_rule *rule, int more)
{
	const u8 *address = rule->value.destination_mac;

	ASSERT_RTNL();

	/* One that goes has forgotten all that it was told. */
	if (netdev->reg_state != NETREG_REGISTERED)
		return more > 0 ? -ENODEV : 0;
	switch (rule->kind) {
	case BELLHOP_RULE_SNIFFER:
	case BELLHOP_RULE_REST:
		return dev_set_promiscuity(netdev, more);
	case BELLHOP_RULE_MULTICAST:
		return dev_set_allmulti(netdev, more);
	case BELLHOP_RULE_NORMAL:
		break;
	}
	if (!is_broadcast_ether_addr(rule->mask.destination_mac))
		return 0;
	return more > 0 ? add_address(netdev, address) : remove_address(netdev, address);
}

static int begin(struct bellhop_device *device, const struct bellhop_rule *rule)
{
	struct bellhop_tap *tap = &device->tap;
	int err = 0;

	if (rule->kind == BELLHOP_RULE_SNIFFER) {
		if (!tap->sniffed++)
			begin_passing(device);
	} else if (!tap->is_hooked) {
		err = begin_incoming(device);
		tap->is_hooked = !err;
	}
	return err;
}

int bellhop_tap_open(struct bellhop_device *device, const struct bellhop_rule *rule)
{
	int err;

	lockdep_assert_held(&device->rules.lock);

	rtnl_lock();
	err = admit(device->netdev, rule, 1);
	if (!err) {
		err = begin(device, rule);
		if (err)
			admit(device->netdev, rule, -1);
	}
	rtnl_unlock();
	return err;
}

void bellhop_tap_close(struct bellhop_device *device, const struct bellhop_rule *rule)
{
	struct bellhop_tap *tap = &device->tap;

	lockdep_assert_held(&device->rules.lock);

	rtnl_lock();
	if (rule->kind == BELLHOP_RULE_SNIFFER && !--tap->sniffed)
		__dev_remove_pack(&tap->passing);
	admit(device->netdev, rule, -1);
	rtnl_unlock();
	if (!device->rules.num)
		settle(tap);
}

void bellhop_tap_exit(struct bellhop_device *device)
{
	if (!device->tap.is_hooked)
		return;
	rtnl_lock();
	end_incoming(device);
	rtnl_unlock();
	settle(&device->tap);
}
