// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* rule.c: makes rules of what verbs call flows, and keeps them in order. */
#include <linux/etherdevice.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "device.h"
#include "qp.h"
#include "rule.h"
#include "tap.h"

static_assert((int)BELLHOP_IPV4_DONT_FRAGMENT == IB_IPV4_DONT_FRAG);
static_assert((int)BELLHOP_IPV4_MORE_FRAGMENTS == IB_IPV4_MORE_FRAG);

/**
 * struct bellhop_listed_rule - a rule in a device's list
 * @ibflow: the core's part
 * @link: in the list
 * @rcu: frees it
 * @device: whose it is
 * @rule: what it is
 * @qpn: the QP; the core keeps that while the rule is there
 */
struct bellhop_listed_rule {
	struct ib_flow ibflow;
	struct list_head link;
	struct rcu_head rcu;
	struct bellhop_device *device;
	struct bellhop_rule rule;
	u32 qpn;
};

void bellhop_rules_init(struct bellhop_rules *rules)
{
	mutex_init(&rules->lock);
	INIT_LIST_HEAD(&rules->list);
}

void bellhop_rules_judge(const struct bellhop_rules *rules, const struct bellhop_frame *frame,
			 struct bellhop_verdict *verdict)
{
	const struct bellhop_listed_rule *listed;

	rcu_read_lock();
	list_for_each_entry_rcu(listed, &rules->list, link)
	{
		if (!bellhop_rule_judge(verdict, &listed->rule, listed->qpn, frame))
			break;
	}
	rcu_read_unlock();
}

static void add_ethernet(struct bellhop_frame *frame, const struct ib_flow_eth_filter *filter)
{
	ether_addr_copy(frame->destination_mac, filter->dst_mac);
	ether_addr_copy(frame->source_mac, filter->src_mac);
	frame->ethertype = filter->ether_type;
	frame->vlan = filter->vlan_tag;
}

static void add_ipv4(struct bellhop_frame *frame, const struct ib_flow_ipv4_filter *filter)
{
	memcpy(frame->source, &filter->src_ip, sizeof(filter->src_ip));
	memcpy(frame->destination, &filter->dst_ip, sizeof(filter->dst_ip));
	frame->protocol = filter->proto;
	frame->traffic_class = filter->tos;
	frame->hop_limit = filter->ttl;
	frame->ipv4_flags = filter->flags;
}

static void add_ipv6(struct bellhop_frame *frame, const struct ib_flow_ipv6_filter *filter)
{
	memcpy(frame->source, filter->src_ip, sizeof(filter->src_ip));
	memcpy(frame->destination, filter->dst_ip, sizeof(filter->dst_ip));
	frame->flow_label = filter->flow_label;
	frame->protocol = filter->next_hdr;
	frame->traffic_class = filter->traffic_class;
	frame->hop_limit = filter->hop_limit;
}

static void add_ports(struct bellhop_frame *frame, const struct ib_flow_tcp_udp_filter *filter)
{
	frame->source_port = filter->src_port;
	frame->destination_port = filter->dst_port;
}

/* Whoever names a header wants frames that have it. */
static void require_layer(struct bellhop_rule *rule, enum bellhop_layer layer)
{
	rule->mask.layers |= layer;
	rule->value.layers |= layer;
}

static int add_spec(struct bellhop_rule *rule, const union ib_flow_spec *spec)
{
	switch (spec->type) {
	case IB_FLOW_SPEC_ETH:
		add_ethernet(&rule->mask, &spec->eth.mask);
		add_ethernet(&rule->value, &spec->eth.val);
		if (spec->eth.mask.vlan_tag)
			require_layer(rule, BELLHOP_LAYER_VLAN);
		return 0;
	case IB_FLOW_SPEC_IPV4:
		add_ipv4(&rule->mask, &spec->ipv4.mask);
		add_ipv4(&rule->value, &spec->ipv4.val);
		require_layer(rule, BELLHOP_LAYER_IPV4);
		return 0;
	case IB_FLOW_SPEC_IPV6:
		add_ipv6(&rule->mask, &spec->ipv6.mask);
		add_ipv6(&rule->value, &spec->ipv6.val);
		require_layer(rule, BELLHOP_LAYER_IPV6);
		return 0;
	case IB_FLOW_SPEC_TCP:
	case IB_FLOW_SPEC_UDP:
		add_ports(&rule->mask, &spec->tcp_udp.mask);
		add_ports(&rule->value, &spec->tcp_udp.val);
		require_layer(rule, spec->type == IB_FLOW_SPEC_TCP ? BELLHOP_LAYER_TCP
								   : BELLHOP_LAYER_UDP);
		return 0;
	case IB_FLOW_SPEC_ACTION_DROP:
		rule->drops = true;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* The core has checked that each one lies within what was sent. */
static int add_specs(struct bellhop_rule *rule, const struct ib_flow_attr *attr)
{
	const union ib_flow_spec *spec = attr->flows;
	u32 i;

	for (i = 0; i < attr->num_of_specs; i++) {
		int err = add_spec(rule, spec);

		if (err)
			return err;
		spec = (const void *)spec + spec->size;
	}
	for (i = 0; i < BELLHOP_FRAME_WORDS; i++)
		rule->value.words[i] &= rule->mask.words[i];
	return 0;
}

static int decode(struct bellhop_rule *rule, const struct ib_flow_attr *attr)
{
	if (attr->port != 1)
		return -EINVAL;
	if (attr->flags & ~IB_FLOW_ATTR_FLAGS_DONT_TRAP)
		return -EOPNOTSUPP;
	rule->copies = attr->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP;
	switch (attr->type) {
	case IB_FLOW_ATTR_NORMAL:
		rule->kind = BELLHOP_RULE_NORMAL;
		rule->priority = attr->priority;
		return add_specs(rule, attr);
	case IB_FLOW_ATTR_ALL_DEFAULT:
		rule->kind = BELLHOP_RULE_REST;
		break;
	case IB_FLOW_ATTR_MC_DEFAULT:
		rule->kind = BELLHOP_RULE_MULTICAST;
		rule->mask.destination_mac[0] = 1;
		rule->value.destination_mac[0] = 1;
		break;
	case IB_FLOW_ATTR_SNIFFER:
		rule->kind = BELLHOP_RULE_SNIFFER;
		break;
	default:
		return -EOPNOTSUPP;
	}
	return attr->num_of_specs ? -EINVAL : 0;
}

/* Behind all whose rank is not greater. */
static void enlist(struct bellhop_rules *rules, struct bellhop_listed_rule *listed)
{
	u32 rank = bellhop_rule_rank(&listed->rule);
	struct bellhop_listed_rule *before;

	lockdep_assert_held(&rules->lock);

	list_for_each_entry_reverse(before, &rules->list, link)
	{
		if (bellhop_rule_rank(&before->rule) <= rank)
			break;
	}
	list_add_rcu(&listed->link, &before->link);
	rules->num++;
}

struct ib_flow *bellhop_rule_create(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				    struct ib_udata *udata)
{
	struct bellhop_device *device = bellhop_device_of(ibqp->device);
	struct bellhop_rules *rules = &device->rules;
	struct bellhop_listed_rule *listed;
	int err;

	if (ibqp->qp_type != IB_QPT_RAW_PACKET)
		return ERR_PTR(-EOPNOTSUPP);
	listed = kzalloc(sizeof(*listed), GFP_KERNEL_ACCOUNT);
	if (!listed)
		return ERR_PTR(-ENOMEM);
	listed->device = device;
	listed->qpn = bellhop_qp_of(ibqp)->qpn;
	err = decode(&listed->rule, attr);
	if (err)
		goto err_listed;

	mutex_lock(&rules->lock);
	err = rules->num < BELLHOP_MAX_RULES ? bellhop_tap_open(device, &listed->rule) : -ENOMEM;
	if (!err)
		enlist(rules, listed);
	mutex_unlock(&rules->lock);
	if (err)
		goto err_listed;
	return &listed->ibflow;

err_listed:
	kfree(listed);
	return ERR_PTR(err);
}

int bellhop_rule_destroy(struct ib_flow *ibflow)
{
	struct bellhop_listed_rule *listed =
		container_of(ibflow, struct bellhop_listed_rule, ibflow);
	struct bellhop_rules *rules = &listed->device->rules;

	mutex_lock(&rules->lock);
	list_del_rcu(&listed->link);
	rules->num--;
	bellhop_tap_close(listed->device, &listed->rule);
	mutex_unlock(&rules->lock);
	kfree_rcu(listed, rcu);
	return 0;
}
