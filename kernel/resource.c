// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* resource.c: writes the driver's part of a resource's description. */
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "cq.h"
#include "device.h"
#include "grant.h"
#include "inbox.h"
#include "qp.h"
#include "resource.h"
#include "slot.h"
#include "srq.h"

/**
 * struct bellhop_detail - one line of a description
 * @name: without the prefix that the tool puts before it
 * @value: what it says
 */
struct bellhop_detail {
	const char *name;
	u64 value;
};

static int put(struct sk_buff *msg, const struct bellhop_detail *details, size_t count)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	size_t i;

	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < count; i++) {
		if (rdma_nl_put_driver_u64(msg, details[i].name, details[i].value)) {
			nla_nest_cancel(msg, table);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

static u32 slots_of(const struct bellhop_work_ring *ring)
{
	return ring->hdr ? ring->mask + 1 : 0;
}

/* How many entries wait; no more than can. */
static u32 waiting_in(const struct bellhop_work_ring *ring)
{
	if (!ring->hdr)
		return 0;
	return min(READ_ONCE(ring->hdr->producer) - READ_ONCE(ring->head), slots_of(ring));
}

/* Of both sides together. */
static struct bellhop_flow flow_of(const struct bellhop_qp *qp)
{
	struct bellhop_flow flow = {};

	bellhop_flow_add(&flow, &qp->send.flow);
	bellhop_flow_add(&flow, &qp->slot->flow);
	return flow;
}

int bellhop_resource_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct bellhop_qp *qp = bellhop_qp_of(ibqp);
	const struct bellhop_flow flow = flow_of(qp);
	const struct bellhop_detail details[] = {
		{ "last_reason", READ_ONCE(qp->reason) },
		{ "sends_waiting", waiting_in(&qp->send.ring) },
		{ "send_size", slots_of(&qp->send.ring) },
		{ "receives_waiting", waiting_in(&qp->recv.ring) },
		{ "receive_size", slots_of(&qp->recv.ring) },
		/* For a receive or an answer, which may never come. */
		{ "sender_rests", !!READ_ONCE(qp->send.resume_ns) },
		{ "words_out", flow.words[BELLHOP_OUT] },
		{ "words_in", flow.words[BELLHOP_IN] },
		{ "kicks", READ_ONCE(qp->kicks) },
	};

	return put(msg, details, ARRAY_SIZE(details));
}

static u32 completions_in(const struct bellhop_cq *cq)
{
	lockdep_assert_held(&cq->lock);

	if (cq->inbox)
		return READ_ONCE(cq->inbox->tail) - READ_ONCE(cq->inbox->head);
	return min(cq->ring.producer - READ_ONCE(cq->ring.hdr->consumer), cq->ring.mask + 1);
}

int bellhop_resource_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct bellhop_cq *cq = bellhop_cq_of(ibcq);
	struct bellhop_detail details[] = {
		{ "waiting", 0 },
		{ "overrun", 0 },
		{ "stamped", cq->is_special && !cq->inbox },
		{ "moderation_count", READ_ONCE(cq->moderation_count) },
		{ "moderation_period", READ_ONCE(cq->moderation_period) },
	};

	spin_lock_bh(&cq->lock);
	details[0].value = completions_in(cq);
	details[1].value = cq->overrun;
	spin_unlock_bh(&cq->lock);
	return put(msg, details, ARRAY_SIZE(details));
}

int bellhop_resource_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct bellhop_keys *keys = &bellhop_device_of(ibmr->device)->keys;
	struct bellhop_detail details[] = { { "access", 0 }, { "runs", 0 }, { "windows", 0 } };
	const struct bellhop_grant *grant;

	/* A region can be changed meanwhile, and its keys then open something else. */
	rcu_read_lock();
	grant = bellhop_keys_find(keys, READ_ONCE(ibmr->lkey));
	if (grant && !grant->is_window) {
		details[0].value = grant->region.access;
		details[1].value = grant->num_extents;
		details[2].value = max(atomic_read(&grant->windows), 0);
	}
	rcu_read_unlock();
	return put(msg, details, ARRAY_SIZE(details));
}

int bellhop_resource_fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct bellhop_srq *srq = bellhop_srq_of(ibsrq);
	struct bellhop_detail details[] = {
		{ "waiting", 0 }, { "size", 0 }, { "returned", 0 }, { "limit", 0 }, { "failed", 0 },
	};

	spin_lock_bh(&srq->lock);
	details[0].value = waiting_in(&srq->ring);
	details[1].value = slots_of(&srq->ring);
	details[2].value = srq->num_returned;
	details[3].value = srq->limit;
	details[4].value = srq->failed;
	spin_unlock_bh(&srq->lock);
	return put(msg, details, ARRAY_SIZE(details));
}
