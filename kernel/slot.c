// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* slot.c: the table of QP numbers. */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>
#include <rdma/ib_verbs.h>
#include "slot.h"

#define GENERATIONS (1U << (24 - BELLHOP_SLOT_BITS))
/* 0 and 1 are the management QPs' (IBA 3.5.3). */
#define FIRST 2U
/* One of its numbers is that of multicast groups (IBA 10.5). */
#define GROUPS (IB_MULTICAST_QPN % BELLHOP_SLOTS)
#define RESERVED (FIRST + 1)

struct bellhop_slot *bellhop_slot_chunks[BELLHOP_SLOT_CHUNKS];
static DECLARE_BITMAP(taken, BELLHOP_SLOTS);
static DEFINE_MUTEX(alloc_lock); /* @taken, @cursor, and growing the chunks */
static u32 cursor = FIRST;

int bellhop_slot_init(void)
{
	bitmap_set(taken, 0, FIRST);
	__set_bit(GROUPS, taken);
	return 0;
}

void bellhop_slot_exit(void)
{
	u32 i;

	WARN_ON(bitmap_weight(taken, BELLHOP_SLOTS) != RESERVED);
	for (i = 0; i < BELLHOP_SLOT_CHUNKS; i++)
		kvfree(bellhop_slot_chunks[i]);
}

static int grow(u32 chunk)
{
	struct bellhop_slot *slots;
	u32 i;

	if (bellhop_slot_chunks[chunk])
		return 0;
	slots = kvcalloc(BELLHOP_SLOTS_PER_CHUNK, sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < BELLHOP_SLOTS_PER_CHUNK; i++) {
		spin_lock_init(&slots[i].lock);
		spin_lock_init(&slots[i].gate);
	}
	/* Pairs with the acquire in bellhop_slot_find(). */
	smp_store_release(&bellhop_slot_chunks[chunk], slots);
	return 0;
}

struct bellhop_slot *bellhop_slot_alloc(u32 *qpn)
{
	struct bellhop_slot *slot = ERR_PTR(-ENOMEM);
	u32 index;

	mutex_lock(&alloc_lock);
	index = find_next_zero_bit(taken, BELLHOP_SLOTS, cursor);
	if (index == BELLHOP_SLOTS)
		index = find_next_zero_bit(taken, BELLHOP_SLOTS, FIRST);
	if (index == BELLHOP_SLOTS || grow(index / BELLHOP_SLOTS_PER_CHUNK))
		goto out;
	__set_bit(index, taken);
	cursor = index + 1;
	slot = &bellhop_slot_chunks[index / BELLHOP_SLOTS_PER_CHUNK]
				   [index % BELLHOP_SLOTS_PER_CHUNK];
	*qpn = ((slot->qpn >> BELLHOP_SLOT_BITS) + 1) % GENERATIONS << BELLHOP_SLOT_BITS | index;
out:
	mutex_unlock(&alloc_lock);
	return slot;
}

static void set(struct bellhop_slot *slot, u32 qpn, struct bellhop_qp *qp)
{
	spin_lock_bh(&slot->lock);
	spin_lock(&slot->gate);
	slot->qp = qp;
	slot->qpn = qpn;
	slot->gate_qp = qp;
	slot->gate_qpn = qpn;
	spin_unlock(&slot->gate);
	spin_unlock_bh(&slot->lock);
}

void bellhop_slot_publish(struct bellhop_slot *slot, u32 qpn, struct bellhop_qp *qp)
{
	set(slot, qpn, qp);
}

void bellhop_slot_withdraw(struct bellhop_slot *slot)
{
	/* The number stays, so that the next one has another generation. */
	set(slot, slot->qpn, NULL);
}

void bellhop_slot_free(u32 qpn)
{
	mutex_lock(&alloc_lock);
	__clear_bit(qpn % BELLHOP_SLOTS, taken);
	mutex_unlock(&alloc_lock);
}
