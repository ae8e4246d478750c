/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * ledger.h: what a consumer in the kernel has posted to one queue.
 *
 * To the runner a kernel's ring is like a library's; this is what a library would
 * remember in its own memory.
 */
#ifndef BELLHOP_LEDGER_H
#define BELLHOP_LEDGER_H

#include <linux/compiler.h>
#include <linux/spinlock.h>

/**
 * struct bellhop_ledger - one queue's
 * @lock: @producer, and writing to the ring
 * @ids: wr_id by slot; NULL for a queue without entries, or of a user's QP
 * @mask: slots - 1
 * @producer: entries posted so far
 * @done: entries that have ended so far; written by the runner
 */
struct bellhop_ledger {
	spinlock_t lock;
	u64 *ids;
	u32 mask;
	u32 producer;
	u32 done;
};

/**
 * bellhop_ledger_create() - of a queue that is empty
 * @ledger: zeroed
 * @slots: of its ring: 0, or a power of two
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int bellhop_ledger_create(struct bellhop_ledger *ledger, u32 slots);

/**
 * bellhop_ledger_destroy() - frees it
 * @ledger: zeroed, or created
 *
 * Context: may sleep.
 */
void bellhop_ledger_destroy(struct bellhop_ledger *ledger);

/**
 * bellhop_ledger_reset() - forgets everything that was posted
 * @ledger: the queue's; its QP is in RESET and nobody posts
 *
 * Context: any.
 */
static inline void bellhop_ledger_reset(struct bellhop_ledger *ledger)
{
	ledger->producer = 0;
	ledger->done = 0;
}

static inline bool bellhop_ledger_is_full(const struct bellhop_ledger *ledger)
{
	/* Pairs with the release below: the entry's id has been read. */
	return ledger->producer - smp_load_acquire(&ledger->done) > ledger->mask;
}

/**
 * bellhop_ledger_retire() - an entry has ended
 * @ledger: the queue's
 * @index: the entry's number
 *
 * Context: the queue's runner; entries end in order.
 * Return: its wr_id; 0 of a user's QP.
 */
static inline u64 bellhop_ledger_retire(struct bellhop_ledger *ledger, u32 index)
{
	u64 id;

	if (!ledger->ids)
		return 0;
	id = ledger->ids[index & ledger->mask];
	smp_store_release(&ledger->done, index + 1); /* pairs with the acquire above */
	return id;
}

#endif
