/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* key.c: the checks of a key against a region, in the IBA's order: key, PD, access, range. */
#include "key.h"

int bellhop_key_check_region(u64 start, u64 length)
{
	if (!length || length - 1 > ~0ULL - start)
		return -EINVAL;
	return 0;
}

/* No sum is formed that could wrap: the offset is compared with what is left. */
static bool range_fits(const struct bellhop_region *region, u64 addr, u64 length)
{
	u64 offset = addr - region->start;

	return addr >= region->start && offset <= region->length &&
	       length <= region->length - offset;
}

enum bellhop_reason bellhop_key_check_local(const struct bellhop_region *region, u32 lkey, u32 pdn,
					    u64 addr, u64 length, u32 access)
{
	if (!region || region->lkey != lkey)
		return BELLHOP_REASON_LKEY_UNKNOWN;
	if (region->pdn != pdn)
		return BELLHOP_REASON_LKEY_PD;
	if (access & ~region->access)
		return BELLHOP_REASON_LKEY_ACCESS;
	if (!range_fits(region, addr, length))
		return BELLHOP_REASON_LKEY_RANGE;
	return BELLHOP_REASON_NONE;
}

enum bellhop_reason bellhop_key_check_remote(const struct bellhop_region *region, u32 rkey, u32 pdn,
					     u64 addr, u64 length, u32 access)
{
	/* A region without remote access has no rkey at all, but says why it refuses. */
	if (!region || (region->lkey | BELLHOP_KEY_REMOTE) != rkey)
		return BELLHOP_REASON_RKEY_UNKNOWN;
	if (region->pdn != pdn)
		return BELLHOP_REASON_RKEY_PD;
	if (access & ~region->access)
		return BELLHOP_REASON_RKEY_ACCESS;
	if (!range_fits(region, addr, length))
		return BELLHOP_REASON_RKEY_RANGE;
	return BELLHOP_REASON_NONE;
}
