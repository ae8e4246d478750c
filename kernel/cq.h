/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* cq.h: completion queues. */
#ifndef BELLHOP_CQ_H
#define BELLHOP_CQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "proto/ring.h"

#define BELLHOP_MAX_CQ (1 << 17)
#define BELLHOP_MAX_CQE (1 << 22)
/* How many completions, and for how many microseconds, an event may be put off. */
#define BELLHOP_MAX_MODERATION_COUNT 4096
#define BELLHOP_MAX_MODERATION_PERIOD 4096

struct bellhop_inbox;
struct bellhop_mapping;
struct bellhop_qp;

/**
 * struct bellhop_cq - a completion queue
 * @ibcq: the core's part
 * @mapping: the ring's memory; under @lock
 * @lock: the ring; innermost of all locks
 * @ring: under @lock
 * @inbox: of a consumer in the kernel, instead of @mapping and @ring; else NULL
 * @is_special: there is @inbox, or completions are stamped with the time, or may have tags
 * @overrun: a completion was lost, and none will follow; under @lock
 * @next_mapping: what the ring may move to, or NULL; under @lock
 * @next: its ring; under @lock
 * @moderation_count: what was asked for last
 * @moderation_period: likewise
 *
 * What every completion needs lies together, in as few cache lines as it can.
 */
struct bellhop_cq {
	struct ib_cq ibcq;
	struct bellhop_mapping *mapping;
	spinlock_t lock;
	struct bellhop_completion_ring ring;
	struct bellhop_inbox *inbox;
	bool is_special;
	bool overrun;
	struct bellhop_mapping *next_mapping;
	struct bellhop_completion_ring next;
	u16 moderation_count;
	u16 moderation_period;
};

static inline struct bellhop_cq *bellhop_cq_of(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct bellhop_cq, ibcq);
}

/**
 * bellhop_cq_push() - adds a completion and raises the event that was asked for
 * @cq: the queue; @qp keeps it there, or the caller
 * @qp: whose entry was completed; NULL where there is none, which is for no consumer in the kernel
 * @completion: what it says
 * @solicited: the completion counts as solicited
 *
 * An overrun raises IB_EVENT_CQ_ERR once (IBA 11.6.3.4).
 * Context: bottom halves are off; takes @cq->lock.
 * Return: 0, or -EOVERFLOW when the completion is lost.
 */
int bellhop_cq_push(struct bellhop_cq *cq, struct bellhop_qp *qp,
		    const struct bellhop_completion *completion, bool solicited);

/**
 * bellhop_cq_tag() - from now on its completions may have the tags of messages
 * @cq: a library's queue
 *
 * Context: any but hard interrupts; takes @cq->lock.
 */
void bellhop_cq_tag(struct bellhop_cq *cq);

/* Operations of struct ib_device_ops. */
int bellhop_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		      struct uverbs_attr_bundle *attrs);
int bellhop_cq_create_kernel(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr);
int bellhop_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
int bellhop_cq_modify(struct ib_cq *ibcq, u16 count, u16 period);
int bellhop_cq_resize(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);

#endif
