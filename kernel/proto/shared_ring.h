/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * shared_ring.h: an SRQ's ring gets other memory.
 *
 * Entries keep their numbers, so that either end's indices stay as they are. The library holds its
 * queue meanwhile and posts nothing; messages go on taking entries until the last moment:
 *
 *	copy what waits --> move, under the queue's lock, if nothing else was posted
 *
 * What was taken in between was copied in vain.
 */
#ifndef BELLHOP_PROTO_SHARED_RING_H
#define BELLHOP_PROTO_SHARED_RING_H

#include "ring.h"

/**
 * bellhop_shared_ring_copy() - puts entries where another ring has their numbers
 * @from: the ring
 * @to: one that nothing is taken from yet, with as large slots
 * @first: the first entry's number
 * @count: how many; at most what either ring has slots
 *
 * Either is shared memory, and what is in it is not looked at.
 * Context: any; needs no lock.
 */
static inline void bellhop_shared_ring_copy(const struct bellhop_work_ring *from,
					    const struct bellhop_work_ring *to, u32 first,
					    u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		memcpy(bellhop_ring_slot(to, first + i), bellhop_ring_slot(from, first + i),
		       from->stride);
}

/**
 * bellhop_shared_ring_move() - has later entries be taken from another ring
 * @ring: the ring
 * @to: hdr, mask and stride; the rest is set here
 * @producer: up to which entry @to has them
 *
 * Context: the caller holds the queue's lock.
 * Return: 0; or -EINVAL when @to does not have all that waits, or the producer index is not that
 * of a library which waits; then nothing was written.
 */
static inline int bellhop_shared_ring_move(struct bellhop_work_ring *ring,
					   struct bellhop_work_ring *to, u32 producer)
{
	if (READ_ONCE(ring->hdr->producer) != producer || producer - ring->head > ring->mask + 1 ||
	    producer - ring->head > to->mask + 1)
		return -EINVAL;
	to->head = ring->head;
	to->seen = producer;
	WRITE_ONCE(to->hdr->producer, producer);
	WRITE_ONCE(to->hdr->taken, to->head);
	*ring = *to;
	return 0;
}

#endif /* BELLHOP_PROTO_SHARED_RING_H */
