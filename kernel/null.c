// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* null.c: regions of nothing. */
#include <linux/minmax.h>
#include <linux/mm.h>
#include "cursor.h"
#include "mr.h"
#include "null.h"
#include "pd.h"

/* What is dropped goes here; nobody ever reads it. */
static u8 sink[PAGE_SIZE];

enum bellhop_reason bellhop_null_check(const struct bellhop_device *device,
				       const struct bellhop_sge *range, u32 pdn, u32 access,
				       enum bellhop_reason reason)
{
	const struct bellhop_grant *grant = bellhop_keys_find(&device->keys, range->lkey);

	if (!grant || !grant->is_null)
		return reason;
	/* Of the range nothing is asked. */
	return bellhop_key_check_local(&grant->region, range->lkey, pdn, 0, 0, access);
}

enum bellhop_reason bellhop_null_span(const struct bellhop_cursor *cursor,
				      enum bellhop_reason reason, u8 **memory, u32 *length)
{
	if (cursor->remote)
		return reason;
	*memory = cursor->access & BELLHOP_ACCESS_LOCAL_WRITE ? sink : page_address(ZERO_PAGE(0));
	*length = min_t(u32, PAGE_SIZE, cursor->sge->length - cursor->done);
	return bellhop_null_check(cursor->device, cursor->sge, cursor->pdn, cursor->access, reason);
}

struct ib_mr *bellhop_null_register(struct ib_pd *ibpd)
{
	struct bellhop_grant *grant = bellhop_grant_alloc_piece(bellhop_pd_number(ibpd), sink, 0, 0,
								IB_ACCESS_LOCAL_WRITE);

	if (grant)
		grant->is_null = true;
	return bellhop_mr_create(ibpd, grant, IB_ACCESS_LOCAL_WRITE);
}
