/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* inbox.h: the completions of a consumer in the kernel. */
#ifndef BELLHOP_INBOX_H
#define BELLHOP_INBOX_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

/**
 * struct bellhop_inbox - a queue of completions
 * @lock: all of it; consumers poll in any context
 * @armed: enum ib_cq_notify_flags that wait for an event
 * @mask: slots - 1
 * @head: completions taken so far
 * @tail: completions added so far
 * @wcs: the slots
 */
struct bellhop_inbox {
	spinlock_t lock;
	u32 armed;
	u32 mask;
	u32 head;
	u32 tail;
	struct ib_wc wcs[];
};

/**
 * bellhop_inbox_create() - an empty one
 * @slots: a power of two
 *
 * Context: may sleep.
 * Return: the inbox, to be freed by kvfree(), or NULL.
 */
struct bellhop_inbox *bellhop_inbox_create(u32 slots);

/**
 * bellhop_inbox_add() - adds a completion
 * @inbox: the inbox
 * @wc: what it says
 * @solicited: it counts as solicited
 * @fire: set when it ends the wait for an event
 *
 * Context: any.
 * Return: 0, or -EOVERFLOW when there is no room.
 */
int bellhop_inbox_add(struct bellhop_inbox *inbox, const struct ib_wc *wc, bool solicited,
		      bool *fire);

/* Operations of struct ib_device_ops; a user's CQ has none of it. */
int bellhop_inbox_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int bellhop_inbox_arm(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif
