// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* grant.c: makes what keys open, and frees what was not published. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "grant.h"

#define DECIDING_ACCESS                                                                            \
	(BELLHOP_ACCESS_LOCAL_WRITE | BELLHOP_ACCESS_REMOTE_WRITE | BELLHOP_ACCESS_REMOTE_READ |   \
	 BELLHOP_ACCESS_REMOTE_ATOMIC | BELLHOP_ACCESS_MW_BIND)

static_assert((int)BELLHOP_ACCESS_LOCAL_WRITE == IB_ACCESS_LOCAL_WRITE);
static_assert((int)BELLHOP_ACCESS_REMOTE_WRITE == IB_ACCESS_REMOTE_WRITE);
static_assert((int)BELLHOP_ACCESS_REMOTE_READ == IB_ACCESS_REMOTE_READ);
static_assert((int)BELLHOP_ACCESS_REMOTE_ATOMIC == IB_ACCESS_REMOTE_ATOMIC);
static_assert((int)BELLHOP_ACCESS_MW_BIND == IB_ACCESS_MW_BIND);

struct bellhop_grant *bellhop_grant_alloc(u32 pdn, u64 start, u64 length, int access)
{
	struct bellhop_grant *grant = kzalloc(sizeof(*grant), GFP_KERNEL_ACCOUNT);

	if (!grant)
		return NULL;
	grant->region.start = start;
	grant->region.length = length;
	grant->region.pdn = pdn;
	grant->region.access = access & DECIDING_ACCESS;
	grant->origin = start;
	grant->bytes = length;
	bellhop_grant_init(grant);
	return grant;
}

struct bellhop_grant *bellhop_grant_alloc_piece(u32 pdn, u8 *memory, u64 start, u64 length,
						int access)
{
	struct bellhop_grant *grant = bellhop_grant_alloc(pdn, start, length, access);

	if (!grant)
		return NULL;
	grant->extents = kvmalloc_array(1, sizeof(*grant->extents), GFP_KERNEL_ACCOUNT);
	if (!grant->extents) {
		bellhop_grant_discard(grant);
		return NULL;
	}
	grant->num_extents = bellhop_extent_append(grant->extents, 0, 0, memory);
	return grant;
}

void bellhop_grant_discard(struct bellhop_grant *grant)
{
	if (grant)
		kvfree(grant->extents);
	kfree(grant);
}
