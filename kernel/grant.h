/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* grant.h: what a key opens, and the way from a key to bytes. */
#ifndef BELLHOP_GRANT_H
#define BELLHOP_GRANT_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/refcount.h>
#include "demand.h"
#include "device.h"
#include "proto/extent.h"
#include "proto/key.h"

/* Who moves bytes: the two ends of a request count their references apart (see slot.h). */
enum bellhop_side {
	BELLHOP_SIDE_REQUESTER,
	BELLHOP_SIDE_RESPONDER,
	BELLHOP_SIDES,
};

struct bellhop_grant_refs {
	refcount_t count;
} ____cacheline_aligned_in_smp;

/**
 * struct bellhop_grant - an entry of the table of keys: bytes, and who may do what with them
 * @region: what decides on access; never changes once the entry is published
 * @is_window: the entry is a window's, to be asked for by bellhop_mw_get() (see mw.h); no key fits
 * its @region, so that only those who fail look at this
 * @is_null: it has no bytes, and opens what there is to whoever has its key (see null.h); of no key
 * a range fits @region, so that only those who fail look at this, too
 * @origin: the address of the first byte of @extents
 * @bytes: that @extents hold
 * @extents: the pages as runs in the kernel's mapping; NULL of pages on demand
 * @num_extents: how many
 * @demand: instead of @extents
 * @windows: that are bound to it; BELLHOP_GRANT_CLOSED when none will be any more
 * @refs: per side one of the owner, and one of each reader that is moving bytes
 * @unused: completed when a side's @refs is gone
 * @rcu: readers may still look at an entry for a while after it was withdrawn
 */
struct bellhop_grant {
	struct bellhop_region region;
	bool is_window;
	bool is_null;
	u64 origin;
	u64 bytes;
	struct bellhop_extent *extents;
	u32 num_extents;
	struct bellhop_demand *demand;
	atomic_t windows;
	struct bellhop_grant_refs refs[BELLHOP_SIDES];
	struct completion unused;
	struct rcu_head rcu;
};

/**
 * bellhop_grant_alloc() - an entry without bytes yet
 * @pdn: the protection domain's number
 * @start: the first address
 * @length: bytes
 * @access: enum ib_access_flags
 *
 * Context: may sleep.
 * Return: the entry, ready to be published but for its keys and @extents, or NULL.
 */
struct bellhop_grant *bellhop_grant_alloc(u32 pdn, u64 start, u64 length, int access);

/**
 * bellhop_grant_alloc_piece() - an entry of bytes that lie side by side
 * @pdn: the protection domain's number
 * @memory: the first of them
 * @start: its address
 * @length: bytes
 * @access: enum ib_access_flags
 *
 * Context: may sleep.
 * Return: the entry, ready to be published but for its keys, or NULL.
 */
struct bellhop_grant *bellhop_grant_alloc_piece(u32 pdn, u8 *memory, u64 start, u64 length,
						int access);

/**
 * bellhop_grant_discard() - frees what nobody could find
 * @grant: may be NULL
 *
 * Context: may sleep.
 */
void bellhop_grant_discard(struct bellhop_grant *grant);

/**
 * bellhop_grant_init() - makes an entry that can be published
 * @grant: zeroed
 *
 * Context: any.
 */
static inline void bellhop_grant_init(struct bellhop_grant *grant)
{
	enum bellhop_side side;

	for (side = 0; side < BELLHOP_SIDES; side++)
		refcount_set(&grant->refs[side].count, 1);
	init_completion(&grant->unused);
}

#define BELLHOP_GRANT_CLOSED (-1)

/**
 * bellhop_grant_add_window() - counts a window that is bound to it
 * @grant: found under RCU
 *
 * Context: any.
 * Return: false when its owner is about to withdraw or replace it.
 */
static inline bool bellhop_grant_add_window(struct bellhop_grant *grant)
{
	return atomic_inc_unless_negative(&grant->windows);
}

static inline void bellhop_grant_remove_window(struct bellhop_grant *grant)
{
	/* Release: whoever finds none left sees that nobody moves bytes by it. */
	atomic_dec_return_release(&grant->windows);
}

/**
 * bellhop_grant_close() - keeps windows from being bound to it
 * @grant: the owner's
 *
 * Context: preemption is off until @grant is withdrawn or replaced, since binders look again
 * until it is.
 * Return: false when there is one.
 */
static inline bool bellhop_grant_close(struct bellhop_grant *grant)
{
	return atomic_cmpxchg(&grant->windows, 0, BELLHOP_GRANT_CLOSED) == 0;
}

/**
 * bellhop_mw_get() - takes a reference to a window's entry, where its key opens the bytes
 * @grant: an entry with @is_window
 * @range: the bytes, and the key as @lkey
 * @pdn: the QP's protection domain
 * @qp_id: the QP
 * @access: what is to be done, enum bellhop_access
 * @side: who asks
 *
 * Context: a spinlock is held, which makes this an RCU reader.
 * Return: BELLHOP_REASON_NONE, or why not, and then there is no reference.
 */
enum bellhop_reason bellhop_mw_get(struct bellhop_grant *grant, const struct bellhop_sge *range,
				   u32 pdn, u64 qp_id, u32 access, enum bellhop_side side);

/**
 * bellhop_grant_get() - the entry that a key opens
 * @device: where the key is from
 * @range: the bytes, and the key as @lkey
 * @pdn: the QP's protection domain
 * @qp_id: the QP; of an lkey it does not matter
 * @access: what is to be done, enum bellhop_access
 * @remote: the key is an rkey
 * @side: who asks
 * @reason: why not, when NULL is returned
 *
 * Context: a spinlock is held, which makes this an RCU reader; never waits.
 * Return: the entry with a reference, or NULL.
 */
static __always_inline struct bellhop_grant *bellhop_grant_get(const struct bellhop_device *device,
							       const struct bellhop_sge *range,
							       u32 pdn, u64 qp_id, u32 access,
							       bool remote, enum bellhop_side side,
							       enum bellhop_reason *reason)
{
	const struct bellhop_region *region;
	struct bellhop_grant *grant;

	/* What has no reference left was withdrawn or replaced, so it is not found again. */
	do {
		grant = bellhop_keys_find(&device->keys, range->lkey);
		region = grant ? &grant->region : NULL;
		*reason = remote ? bellhop_key_check_remote(region, range->lkey, pdn, range->addr,
							    range->length, access)
				 : bellhop_key_check_local(region, range->lkey, pdn, range->addr,
							   range->length, access);
		if (*reason) {
			if (!remote || !grant || !grant->is_window)
				return NULL;
			*reason = bellhop_mw_get(grant, range, pdn, qp_id, access, side);
			return *reason ? NULL : grant;
		}
	} while (unlikely(!refcount_inc_not_zero(&grant->refs[side].count)));
	return grant;
}

/**
 * bellhop_grant_put() - gives a reference back
 * @grant: from bellhop_grant_get()
 * @side: likewise
 *
 * Context: any.
 */
static inline void bellhop_grant_put(struct bellhop_grant *grant, enum bellhop_side side)
{
	if (refcount_dec_and_test(&grant->refs[side].count))
		complete(&grant->unused);
}

/**
 * bellhop_grant_retire() - waits until nobody moves bytes any more
 * @grant: withdrawn from the table, or replaced there
 *
 * A reference is held for one bounded copy, so this does not take long.
 * Context: may sleep.
 */
static inline void bellhop_grant_retire(struct bellhop_grant *grant)
{
	enum bellhop_side side;

	for (side = 0; side < BELLHOP_SIDES; side++)
		bellhop_grant_put(grant, side);
	for (side = 0; side < BELLHOP_SIDES; side++)
		wait_for_completion(&grant->unused);
}

/**
 * bellhop_grant_bytes() - where an address lies
 * @grant: referenced
 * @addr: an address that it opens
 * @access: what is to be done there, enum bellhop_access
 * @length: how many bytes follow there side by side; more than it opens, maybe; 0 when they are
 * to be fetched first (see fault.h)
 *
 * Context: a spinlock is held, as for bellhop_grant_get(), and until the bytes are moved.
 * Return: the kernel's address.
 */
static inline u8 *bellhop_grant_bytes(const struct bellhop_grant *grant, u64 addr, u32 access,
				      u64 *length)
{
	u64 offset = addr - grant->origin;
	u64 end;
	u32 i;

	if (unlikely(!grant->extents))
		return bellhop_demand_bytes(grant->demand, offset, bellhop_access_writes(access),
					    length);
	i = bellhop_extent_find(grant->extents, grant->num_extents, offset);
	end = i + 1 < grant->num_extents ? grant->extents[i + 1].offset : grant->bytes;

	*length = end - offset;
	return grant->extents[i].memory + (offset - grant->extents[i].offset);
}

#endif
