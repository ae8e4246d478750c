// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* window.c: the rules of memory windows. */
#include "window.h"

/* All but the variant, which the consumer chooses. */
static bool is_same_index(u32 rkey, u32 other)
{
	return !((rkey ^ other) & ~0xffu);
}

/* What a window may open is not more than its region's owner may do, whatever others may do. */
static enum bellhop_reason check_region(const struct bellhop_region *region,
					const struct bellhop_bind *bind, u32 pdn)
{
	u32 needed = BELLHOP_ACCESS_MW_BIND;

	if (bind->access & (BELLHOP_BIND_REMOTE_WRITE | BELLHOP_BIND_REMOTE_ATOMIC))
		needed |= BELLHOP_ACCESS_LOCAL_WRITE;
	if (!region || region->lkey != bind->lkey)
		return BELLHOP_REASON_MW_REGION;
	if (region->pdn != pdn)
		return BELLHOP_REASON_MW_PD;
	if (needed & ~region->access)
		return BELLHOP_REASON_MW_REGION_ACCESS;
	if (!bellhop_key_range_fits(region, bind->addr, bind->length))
		return BELLHOP_REASON_MW_RANGE;
	return BELLHOP_REASON_NONE;
}

enum bellhop_reason bellhop_window_check_bind(const struct bellhop_window *window,
					      const struct bellhop_region *region,
					      const struct bellhop_bind *bind, u32 rkey, u32 pdn)
{
	if (!window || window->state == BELLHOP_WINDOW_GONE ||
	    !is_same_index(rkey, window->region.rkey))
		return BELLHOP_REASON_MW_UNKNOWN;
	if (window->region.pdn != pdn)
		return BELLHOP_REASON_MW_PD;
	if (window->type == BELLHOP_WINDOW_TYPE_1) {
		if (bind->access & BELLHOP_BIND_ZERO_BASED)
			return BELLHOP_REASON_MW_TYPE;
		if (!bind->length)
			return BELLHOP_REASON_NONE;
	} else {
		if (window->state == BELLHOP_WINDOW_BOUND)
			return BELLHOP_REASON_MW_BOUND;
		if (!bind->length)
			return BELLHOP_REASON_MW_RANGE;
	}
	return check_region(region, bind, pdn);
}

void bellhop_window_bind(struct bellhop_window *window, const struct bellhop_bind *bind, u32 rkey,
			 u64 qp_id)
{
	struct bellhop_region *region = &window->region;

	region->rkey = rkey;
	region->start = bind->access & BELLHOP_BIND_ZERO_BASED ? 0 : bind->addr;
	region->length = bind->length;
	region->access = bind->access & ~(u32)BELLHOP_BIND_ZERO_BASED;
	window->qp_id = window->type == BELLHOP_WINDOW_TYPE_2 ? qp_id : 0;
	window->state = bind->length ? BELLHOP_WINDOW_BOUND : BELLHOP_WINDOW_FREE;
}

u64 bellhop_window_origin(const struct bellhop_region *region, const struct bellhop_bind *bind)
{
	return bind->access & BELLHOP_BIND_ZERO_BASED ? region->start - bind->addr : region->start;
}

enum bellhop_reason bellhop_window_check_invalidate(const struct bellhop_window *window, u32 rkey,
						    u32 pdn, u64 qp_id)
{
	if (!window || window->state == BELLHOP_WINDOW_GONE || window->region.rkey != rkey)
		return BELLHOP_REASON_MW_UNKNOWN;
	if (window->region.pdn != pdn)
		return BELLHOP_REASON_MW_PD;
	if (window->type != BELLHOP_WINDOW_TYPE_2)
		return BELLHOP_REASON_MW_TYPE;
	if (window->state != BELLHOP_WINDOW_BOUND)
		return BELLHOP_REASON_MW_UNBOUND;
	if (window->qp_id != qp_id)
		return BELLHOP_REASON_MW_QP;
	return BELLHOP_REASON_NONE;
}

void bellhop_window_unbind(struct bellhop_window *window, enum bellhop_window_state state)
{
	window->region.start = 0;
	window->region.length = 0;
	window->region.access = 0;
	window->qp_id = 0;
	window->state = state;
}

enum bellhop_reason bellhop_window_check_access(const struct bellhop_window *window, u32 rkey,
						u32 pdn, u64 qp_id, u64 addr, u64 length,
						u32 access)
{
	const struct bellhop_region *region = &window->region;

	if (window->state != BELLHOP_WINDOW_BOUND)
		return BELLHOP_REASON_RKEY_UNKNOWN;
	if (region->rkey == rkey && region->pdn == pdn && window->type == BELLHOP_WINDOW_TYPE_2 &&
	    window->qp_id != qp_id)
		return BELLHOP_REASON_RKEY_QP;
	return bellhop_key_check_remote(region, rkey, pdn, addr, length, access);
}
