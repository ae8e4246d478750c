/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* srq.h: shared receive queues, of which many QPs take entries. */
#ifndef BELLHOP_SRQ_H
#define BELLHOP_SRQ_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include "proto/ring.h"
#include "proto/wqe.h"

#define BELLHOP_MAX_SRQ 65536
#define BELLHOP_MAX_SRQ_WR 32768

struct bellhop_listed_srq;
struct bellhop_mapping;
struct bellhop_tag_table;

/**
 * struct bellhop_srq - a shared receive queue
 * @ibsrq: the core's part
 * @pdn: the protection domain of what its entries name
 * @mapping: the ring's memory; under @resize_lock
 * @listed: of one that has a number: how it is found by that; else NULL
 * @tags: of one that matches tags: its tagged buffers; else NULL
 * @limits: what its entries may hold
 * @resize_lock: one change of @mapping at a time
 * @next_mapping: what the ring may move to, or NULL; under @resize_lock
 * @next: its ring; likewise
 * @lock: from here to @failed, and @tags; innermost of all locks but that of its own CQ
 * @ring: the entries
 * @returned: entries that were taken and not used; taken first
 * @num_returned: how many
 * @limit: tell when fewer are left, once; 0 is never
 * @failed: that the ring is beyond use was told
 * @post_lock: of a consumer in the kernel: @producer, and writing to the ring
 * @producer: likewise: entries posted so far
 */
struct bellhop_srq {
	struct ib_srq ibsrq;
	u32 pdn;
	struct bellhop_mapping *mapping;
	struct bellhop_listed_srq *listed;
	struct bellhop_tag_table *tags;
	struct bellhop_wqe_limits limits;
	struct mutex resize_lock;
	struct bellhop_mapping *next_mapping;
	struct bellhop_work_ring next;

	spinlock_t lock ____cacheline_aligned_in_smp;
	struct bellhop_work_ring ring;
	struct list_head returned;
	u32 num_returned;
	u32 limit;
	bool failed;

	spinlock_t post_lock ____cacheline_aligned_in_smp;
	u32 producer;
};

static inline struct bellhop_srq *bellhop_srq_of(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct bellhop_srq, ibsrq);
}

/**
 * bellhop_srq_take() - takes an entry for a message
 * @srq: the queue
 * @wqe: the entry
 *
 * Context: bottom halves are off.
 * Return: BELLHOP_REASON_NONE; BELLHOP_REASON_RNR when there is none; BELLHOP_REASON_RECV_FAULTY
 * when it is taken and not valid; or BELLHOP_REASON_RING_INDEX when there will be none any more.
 */
enum bellhop_reason bellhop_srq_take(struct bellhop_srq *srq, struct bellhop_recv_wqe *wqe);

/**
 * bellhop_srq_give_back() - an entry is the next message's, on any QP
 * @srq: the queue
 * @wqe: an entry of it
 *
 * Context: bottom halves are off.
 * Return: 0, or -ENOMEM.
 */
int bellhop_srq_give_back(struct bellhop_srq *srq, const struct bellhop_recv_wqe *wqe);

/**
 * bellhop_srq_resize() - one step of giving a library's queue another ring
 * @srq: the queue
 * @max_wr: how many entries it is to hold
 * @limit: what is to be its limit afterwards, or NULL if that stays; is only looked at
 * @udata: a struct bellhop_modify_srq; NULL of a consumer in the kernel
 *
 * Context: may sleep.
 * Return: 0 or a negative errno: -EINVAL where more is posted than it would hold, or the limit is
 * higher; then all is as before.
 */
int bellhop_srq_resize(struct bellhop_srq *srq, u32 max_wr, const u32 *limit,
		       struct ib_udata *udata);

/* Operations of struct ib_device_ops. */
int bellhop_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int bellhop_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		       struct ib_udata *udata);
int bellhop_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int bellhop_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata);

#endif
