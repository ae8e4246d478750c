/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* rule.h: a device's rules: which raw packet QPs get which frames. */
#ifndef BELLHOP_RULE_H
#define BELLHOP_RULE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "proto/rule.h"

struct bellhop_device;

/**
 * struct bellhop_rules - of one device
 * @lock: held by who changes them
 * @list: by rank, and of one rank in the order in which they were made; read under RCU
 * @num: how many there are
 */
struct bellhop_rules {
	struct mutex lock;
	struct list_head list;
	u32 num;
};

/**
 * bellhop_rules_init() - no rules
 * @rules: a new device's
 *
 * Context: any.
 */
void bellhop_rules_init(struct bellhop_rules *rules);

/**
 * bellhop_rules_exist() - whether anybody could want a frame
 * @rules: the device's
 *
 * Context: any.
 */
static inline bool bellhop_rules_exist(const struct bellhop_rules *rules)
{
	return !list_empty(&rules->list);
}

/**
 * bellhop_rules_judge() - who gets a frame
 * @rules: the device's
 * @frame: the frame
 * @verdict: who asks; filled in
 *
 * Context: any.
 */
void bellhop_rules_judge(const struct bellhop_rules *rules, const struct bellhop_frame *frame,
			 struct bellhop_verdict *verdict);

/*
 * Operations of struct ib_device_ops, where a rule is called a flow. The headers that a rule can
 * name are those of struct bellhop_frame. What steers has a raw packet QP and comes in, anything
 * else is -EOPNOTSUPP; -ENOMEM at the limit; -ENODEV when the interface goes.
 *
 * What a rule takes the host's own network does not get, as if the device had kept it for itself.
 * The interface lets in what is for the address that a rule names, and where a rule is for all that
 * others leave, everything.
 */
struct ib_flow *bellhop_rule_create(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				    struct ib_udata *udata);
int bellhop_rule_destroy(struct ib_flow *ibflow);

#endif
