/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * ring.h: the kernel's ends of the rings that it shares with the library.
 *
 * Work rings (SQ, RQ): the library produces, the kernel consumes.
 *
 *	library                             kernel
 *
 *	STORE entries
 *	STORE.rel producer       (A)        LOAD.acq producer        (B)
 *	                                    LOAD entries
 *	FULL FENCE               (G)
 *	LOAD need_kick / wanted
 *	kick, if set                        STORE need_kick / wanted
 *	                                    FULL FENCE               (H)
 *	                                    LOAD producer again
 *
 * (A) pairs with (B): without it the kernel could read entries that are not
 * written yet. The library frees a slot when it polls the entry's completion,
 * long after the kernel has copied the entry, so there is no consumer index to
 * publish; but for an SRQ, whose entries complete in any order. (G) pairs with (H): each side
 *writes its own word and then reads the other's. Without both fences the library can see "awake"
 *and the kernel "empty" at once, and the entry lies there until the next post.
 *
 * Shared receive rings: of each entry that the kernel has copied, the slot is free at once.
 *
 *	library                             kernel
 *
 *	LOAD.acq taken           (L)        LOAD entries
 *	STORE entries                       STORE.rel taken          (K)
 *
 * Completion rings: the kernel produces, the library consumes.
 *
 *	kernel                              library
 *
 *	LOAD.acq consumer        (F)        LOAD.acq phase           (D)
 *	STORE entry                         LOAD entry
 *	STORE.rel phase          (C)        STORE.rel consumer       (E)
 *	FULL FENCE               (J)
 *	LOAD arm                            STORE arm
 *	event, if armed                     FULL FENCE               (I)
 *	                                    LOAD phase again
 *
 * (C) pairs with (D), (E) with (F). (I) pairs with (J) as (G) with (H): an
 * entry that the library does not find after arming raises an event.
 *
 * User space may write anything here at any moment. The kernel therefore reads
 * each word once, trusts no index but its own, and copies an entry before it
 * looks at it (wqe.c). The other end is userspace/ring.hpp, with the same letters. Models of
 * both ends are kick.pml, of the work rings, arm.pml, of the completion rings, and move.pml, of
 * those that are resized.
 */
#ifndef BELLHOP_PROTO_RING_H
#define BELLHOP_PROTO_RING_H

#include "base.h"

/**
 * struct bellhop_work_ring - the kernel's end of an SQ, RQ or SRQ
 * @hdr: shared; NULL for a queue without entries
 * @mask: slots - 1
 * @stride: bytes from slot to slot
 * @head: entries taken so far; private, written by the queue's one consumer
 * @seen: the last producer index that made sense; likewise
 */
struct bellhop_work_ring {
	struct bellhop_wq_hdr *hdr;
	u32 mask;
	u32 stride;
	u32 head;
	u32 seen;
};

/**
 * bellhop_ring_pending() - how many entries wait to be taken
 * @ring: the ring
 *
 * Context: the ring's consumer.
 * Return: 0 to the number of slots, or -EINVAL when the producer index is one
 * that no correct library can have published.
 */
static inline int bellhop_ring_pending(struct bellhop_work_ring *ring)
{
	u32 producer;

	if (!ring->hdr)
		return 0;
	producer = smp_load_acquire(&ring->hdr->producer); /* B, pairs with A */
	if (producer - ring->head > ring->mask + 1)
		return -EINVAL;
	ring->seen = producer;
	return (int)(producer - ring->head);
}

/**
 * bellhop_ring_is_done() - whether all that bellhop_ring_pending() counted was taken
 * @ring: the ring
 *
 * Looks at no shared memory.
 * Context: the ring's consumer.
 */
static inline bool bellhop_ring_is_done(const struct bellhop_work_ring *ring)
{
	return ring->head == ring->seen;
}

/**
 * bellhop_ring_slot() - where an entry lies
 * @ring: a ring with slots
 * @index: the entry's number
 *
 * Return: shared memory, if the ring is.
 */
static inline void *bellhop_ring_slot(const struct bellhop_work_ring *ring, u32 index)
{
	return (u8 *)ring->hdr + BELLHOP_RING_SLOTS + (size_t)(index & ring->mask) * ring->stride;
}

/**
 * bellhop_ring_front() - the oldest entry that was not taken
 * @ring: a ring with pending entries
 *
 * Return: shared memory: copy, then look.
 */
static inline const void *bellhop_ring_front(const struct bellhop_work_ring *ring)
{
	return bellhop_ring_slot(ring, ring->head);
}

/**
 * bellhop_ring_take() - passes over the front entry
 * @ring: a ring with pending entries
 *
 * Context: the ring's consumer.
 * Return: the entry's number, for its completion.
 */
static inline u32 bellhop_ring_take(struct bellhop_work_ring *ring)
{
	return ring->head++;
}

/**
 * bellhop_ring_free() - gives the library the slots of all that was taken
 * @ring: an SRQ; the entries have been copied
 *
 * Context: the ring's consumer.
 */
static inline void bellhop_ring_free(struct bellhop_work_ring *ring)
{
	smp_store_release(&ring->hdr->taken, ring->head); /* K, pairs with L */
}

/**
 * bellhop_ring_rewind() - begins again at the first slot
 * @ring: a ring whose library end begins again, too
 *
 * Context: the ring's consumer.
 */
static inline void bellhop_ring_rewind(struct bellhop_work_ring *ring)
{
	ring->head = 0;
	ring->seen = 0;
}

/**
 * bellhop_ring_want() - asks the library to kick after its next post, or not to
 * @ring: an RQ
 * @want: whether to kick
 *
 * The caller looks at bellhop_ring_pending() again after setting it.
 * Context: the ring's consumer.
 */
static inline void bellhop_ring_want(struct bellhop_work_ring *ring, bool want)
{
	if (!ring->hdr)
		return;
	/* Release: what the kick will look for is there first. */
	smp_store_release(&ring->hdr->wanted, (u32)want);
	smp_mb(); /* H, pairs with G */
}

/**
 * struct bellhop_completion_ring - the kernel's end of a CQ
 * @hdr: shared
 * @mask: slots - 1
 * @producer: entries pushed so far; private
 * @consumer: the library's index as last read
 * @fired: the last request for an event that was answered
 */
struct bellhop_completion_ring {
	struct bellhop_cq_hdr *hdr;
	u32 mask;
	u32 producer;
	u32 consumer;
	u32 fired;
};

/*
 * What a completion says, but for its phase; the fields are those of struct bellhop_cqe, and @vlan,
 * which the kernel's own consumers are told of a datagram: one more than the number of the VLAN
 * that it has come by, or 0.
 */
struct bellhop_completion {
	u64 wr_id;
	u32 qpn;
	u32 wqe_index;
	u32 byte_len;
	u32 ex;
	u32 src_qp;
	u32 vendor_err;
	u8 opcode;
	u8 status;
	u16 wc_flags;
	u16 vlan;
	u8 sl;
};

/**
 * bellhop_ring_room() - where the next completion goes
 * @ring: the ring
 *
 * Context: the caller holds the CQ's lock.
 * Return: shared memory; or NULL when the ring is full or its consumer index is not possible.
 */
static inline struct bellhop_cqe *bellhop_ring_room(struct bellhop_completion_ring *ring)
{
	u32 slots = ring->mask + 1;

	if (ring->producer - ring->consumer >= slots) {
		u32 consumer = smp_load_acquire(&ring->hdr->consumer); /* F, pairs with E */

		/* An index backwards, or past what was pushed, looks like a full ring. */
		if (ring->producer - consumer >= slots)
			return NULL;
		ring->consumer = consumer;
	}
	return (struct bellhop_cqe *)((u8 *)ring->hdr + BELLHOP_RING_SLOTS) +
	       (ring->producer & ring->mask);
}

/**
 * bellhop_ring_fill() - writes a completion, and shows it to the library
 * @ring: the ring
 * @slot: from bellhop_ring_room()
 * @completion: what it says
 *
 * Context: the caller holds the CQ's lock.
 */
static inline void bellhop_ring_fill(struct bellhop_completion_ring *ring, struct bellhop_cqe *slot,
				     const struct bellhop_completion *completion)
{
	slot->qpn = completion->qpn;
	slot->wqe_index = completion->wqe_index;
	slot->byte_len = completion->byte_len;
	slot->ex = completion->ex;
	slot->src_qp = completion->src_qp;
	slot->vendor_err = completion->vendor_err;
	slot->opcode = completion->opcode;
	slot->status = completion->status;
	slot->wc_flags = completion->wc_flags;
	slot->sl = completion->sl;
	slot->wr_id = completion->wr_id;
	/* C, pairs with D */
	smp_store_release(&slot->phase, !(ring->producer & (ring->mask + 1)));
	ring->producer++;
}

/**
 * bellhop_ring_push() - adds a completion
 * @ring: the ring
 * @completion: what it says
 *
 * Context: the caller holds the CQ's lock.
 * Return: 0, or -EOVERFLOW when there is no room; then nothing was written.
 */
static inline int bellhop_ring_push(struct bellhop_completion_ring *ring,
				    const struct bellhop_completion *completion)
{
	struct bellhop_cqe *slot = bellhop_ring_room(ring);

	if (!slot)
		return -EOVERFLOW;
	bellhop_ring_fill(ring, slot, completion);
	return 0;
}

/**
 * bellhop_ring_push_stamped() - adds a completion that says when it was added
 * @ring: the ring
 * @completion: what else it says
 * @timestamp: the device's clock
 * @wallclock: the time of day
 *
 * Context: the caller holds the CQ's lock.
 * Return: as bellhop_ring_push().
 */
static inline int bellhop_ring_push_stamped(struct bellhop_completion_ring *ring,
					    const struct bellhop_completion *completion,
					    u64 timestamp, u64 wallclock)
{
	struct bellhop_cqe *slot = bellhop_ring_room(ring);

	if (!slot)
		return -EOVERFLOW;
	slot->timestamp = timestamp;
	slot->wallclock = wallclock;
	bellhop_ring_fill(ring, slot, completion);
	return 0;
}

/**
 * bellhop_ring_push_tagged() - adds a completion that has its message's tag instead
 * @ring: the ring
 * @completion: what it says
 * @timestamp: as bellhop_ring_push_stamped()
 * @tag: the message's
 * @context: likewise
 *
 * Context: the caller holds the CQ's lock.
 * Return: as bellhop_ring_push().
 */
static inline int bellhop_ring_push_tagged(struct bellhop_completion_ring *ring,
					   const struct bellhop_completion *completion,
					   u64 timestamp, u64 tag, u32 context)
{
	struct bellhop_cqe *slot = bellhop_ring_room(ring);

	if (!slot)
		return -EOVERFLOW;
	slot->timestamp = timestamp;
	slot->tag = tag;
	slot->tag_context = context;
	bellhop_ring_fill(ring, slot, completion);
	return 0;
}

/**
 * bellhop_ring_move() - has later completions go to another ring
 * @ring: the ring; its consumer index is that of the library, which waits
 * @to: hdr and mask of a zeroed one; the rest is set here
 *
 * The library finds what was pushed before in the old ring, and numbers the entries of the new
 * one from 0. A request for an event that was not answered goes along.
 * Context: the caller holds the CQ's lock.
 * Return: 0; or -EINVAL when more entries than @to has slots were not taken (IBA 11.2.8.3), or
 * the consumer index is not possible; then nothing was written.
 */
static inline int bellhop_ring_move(struct bellhop_completion_ring *ring,
				    struct bellhop_completion_ring *to)
{
	u32 waiting = ring->producer - READ_ONCE(ring->hdr->consumer);

	if (waiting > ring->mask + 1 || waiting > to->mask + 1)
		return -EINVAL;
	to->producer = 0;
	to->consumer = 0;
	to->fired = ring->fired;
	WRITE_ONCE(to->hdr->arm, READ_ONCE(ring->hdr->arm));
	WRITE_ONCE(to->hdr->fired, ring->fired);
	WRITE_ONCE(ring->hdr->moved, 1);
	*ring = *to;
	return 0;
}

/**
 * bellhop_ring_fire() - whether completions just pushed ask for an event
 * @ring: the ring
 * @solicited: one of them was solicited, or an error
 *
 * Context: the caller holds the CQ's lock.
 * Return: true once per request; the caller then raises the event.
 */
static inline bool bellhop_ring_fire(struct bellhop_completion_ring *ring, bool solicited)
{
	u32 arm;

	smp_mb(); /* J, pairs with I */
	arm = READ_ONCE(ring->hdr->arm);
	if (arm == ring->fired)
		return false;
	if ((arm & BELLHOP_CQ_ARM_MASK) != BELLHOP_CQ_ARM_NEXT &&
	    !((arm & BELLHOP_CQ_ARM_MASK) == BELLHOP_CQ_ARM_SOLICITED && solicited))
		return false;
	ring->fired = arm;
	WRITE_ONCE(ring->hdr->fired, arm);
	return true;
}

#endif /* BELLHOP_PROTO_RING_H */
