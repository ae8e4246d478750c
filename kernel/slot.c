/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* slot.c: the table of QP numbers. */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/vmalloc.h>
#include "slot.h"

#define SLOTS (1U << BELLHOP_SLOT_BITS)
#define PER_CHUNK 256U
#define CHUNKS (SLOTS / PER_CHUNK)
#define GENERATIONS (1U << (24 - BELLHOP_SLOT_BITS))
/* 0 and 1 are the management QPs' (IBA 3.5.3). */
#define FIRST 2U

static struct bellhop_slot *chunks[CHUNKS];
static DECLARE_BITMAP(taken, SLOTS);
static DEFINE_MUTEX(alloc_lock); /* @taken, @cursor, and growing @chunks */
static u32 cursor = FIRST;

int bellhop_slot_init(void)
{
	bitmap_set(taken, 0, FIRST);
	return 0;
}

void bellhop_slot_exit(void)
{
	u32 i;

	WARN_ON(bitmap_weight(taken, SLOTS) != FIRST);
	for (i = 0; i < CHUNKS; i++)
		kvfree(chunks[i]);
}

static int grow(u32 chunk)
{
	struct bellhop_slot *slots;
	u32 i;

	if (chunks[chunk])
		return 0;
	slots = kvcalloc(PER_CHUNK, sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < PER_CHUNK; i++) {
		spin_lock_init(&slots[i].lock);
		spin_lock_init(&slots[i].gate);
	}
	/* Pairs with the acquire in bellhop_slot_find(): the locks are seen initialised. */
	smp_store_release(&chunks[chunk], slots);
	return 0;
}

struct bellhop_slot *bellhop_slot_alloc(u32 *qpn)
{
	struct bellhop_slot *slot = ERR_PTR(-ENOMEM);
	u32 index;

	mutex_lock(&alloc_lock);
	index = find_next_zero_bit(taken, SLOTS, cursor);
	if (index == SLOTS)
		index = find_next_zero_bit(taken, SLOTS, FIRST);
	if (index == SLOTS || grow(index / PER_CHUNK))
		goto out;
	__set_bit(index, taken);
	cursor = index + 1;
	slot = &chunks[index / PER_CHUNK][index % PER_CHUNK];
	*qpn = ((slot->qpn >> BELLHOP_SLOT_BITS) + 1) % GENERATIONS << BELLHOP_SLOT_BITS | index;
out:
	mutex_unlock(&alloc_lock);
	return slot;
}

static void set(struct bellhop_slot *slot, u32 qpn, struct bellhop_qp *qp)
{
	spin_lock(&slot->lock);
	spin_lock(&slot->gate);
	slot->qp = qp;
	slot->qpn = qpn;
	spin_unlock(&slot->gate);
	spin_unlock(&slot->lock);
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
	__clear_bit(qpn % SLOTS, taken);
	mutex_unlock(&alloc_lock);
}

struct bellhop_slot *bellhop_slot_find(u32 qpn)
{
	u32 index = array_index_nospec(qpn % SLOTS, SLOTS);
	struct bellhop_slot *chunk = smp_load_acquire(&chunks[index / PER_CHUNK]);

	return chunk ? &chunk[index % PER_CHUNK] : NULL;
}
