/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* mr.h: memory regions: pinned pages, their keys, and the way from a key to bytes. */
#ifndef BELLHOP_MR_H
#define BELLHOP_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "device.h"
#include "proto/extent.h"
#include "proto/key.h"

#define BELLHOP_MAX_MR BELLHOP_KEYS_MAX

struct ib_dmah;
struct ib_umem;

/* Who moves bytes: the two ends of a request count their references apart (see slot.h). */
enum bellhop_side {
	BELLHOP_SIDE_REQUESTER,
	BELLHOP_SIDE_RESPONDER,
	BELLHOP_SIDES,
};

struct bellhop_mr_refs {
	refcount_t count;
} ____cacheline_aligned_in_smp;

/**
 * struct bellhop_mr - a memory region
 * @ibmr: the core's part
 * @region: what decides on access
 * @extents: the pages as runs in the kernel's mapping
 * @num_extents: how many
 * @umem: the pinned pages
 * @refs: per side one of the registration, and one of each reader that is moving bytes
 * @unused: completed when a side's @refs is gone
 * @rcu: readers may still look at @region and @refs for a while after deregistration
 */
struct bellhop_mr {
	struct ib_mr ibmr;
	struct bellhop_region region;
	struct bellhop_extent *extents;
	u32 num_extents;
	struct ib_umem *umem;
	struct bellhop_mr_refs refs[BELLHOP_SIDES];
	struct completion unused;
	struct rcu_head rcu;
};

/**
 * bellhop_mr_get() - the region that a key opens
 * @device: where the key is from
 * @range: the bytes, and the key as @lkey
 * @pdn: the QP's protection domain
 * @access: what is to be done, enum bellhop_access
 * @remote: the key is an rkey
 * @side: who asks
 * @reason: why not, when NULL is returned
 *
 * Context: a spinlock is held, which makes this an RCU reader; never waits.
 * Return: the region with a reference, or NULL.
 */
static __always_inline struct bellhop_mr *
bellhop_mr_get(const struct bellhop_device *device, const struct bellhop_sge *range, u32 pdn,
	       u32 access, bool remote, enum bellhop_side side, enum bellhop_reason *reason)
{
	struct bellhop_mr *mr = bellhop_keys_find(&device->keys, range->lkey);
	const struct bellhop_region *region = mr ? &mr->region : NULL;

	*reason = remote ? bellhop_key_check_remote(region, range->lkey, pdn, range->addr,
						    range->length, access)
			 : bellhop_key_check_local(region, range->lkey, pdn, range->addr,
						   range->length, access);
	if (*reason)
		return NULL;
	if (unlikely(!refcount_inc_not_zero(&mr->refs[side].count))) {
		*reason = remote ? BELLHOP_REASON_RKEY_UNKNOWN : BELLHOP_REASON_LKEY_UNKNOWN;
		return NULL;
	}
	return mr;
}

/**
 * bellhop_mr_put() - gives a reference back
 * @mr: from bellhop_mr_get()
 * @side: likewise
 *
 * Context: any.
 */
static inline void bellhop_mr_put(struct bellhop_mr *mr, enum bellhop_side side)
{
	if (refcount_dec_and_test(&mr->refs[side].count))
		complete(&mr->unused);
}

/**
 * bellhop_mr_bytes() - where an address of a region lies
 * @mr: a referenced region
 * @addr: an address in it
 * @length: how many bytes follow there side by side
 *
 * Context: any.
 * Return: the kernel's address.
 */
static inline u8 *bellhop_mr_bytes(const struct bellhop_mr *mr, u64 addr, u64 *length)
{
	u64 offset = addr - mr->region.start;
	u32 i = bellhop_extent_find(mr->extents, mr->num_extents, offset);
	u64 end = i + 1 < mr->num_extents ? mr->extents[i + 1].offset : mr->region.length;

	*length = end - offset;
	return mr->extents[i].memory + (offset - mr->extents[i].offset);
}

/* Operations of struct ib_device_ops. */
struct ib_mr *bellhop_mr_register(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
				  struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *bellhop_mr_get_dma(struct ib_pd *ibpd, int access);
int bellhop_mr_deregister(struct ib_mr *ibmr, struct ib_udata *udata);

#endif
