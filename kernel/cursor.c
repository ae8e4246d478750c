// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* cursor.c: what a cursor does where pages on demand are absent. */
#include "cursor.h"

enum bellhop_reason bellhop_cursor_fault(const struct bellhop_cursor *cursor)
{
	const struct bellhop_need need = {
		.demand = cursor->grant->demand,
		.offset = cursor->sge->addr + cursor->done - cursor->grant->origin,
		.length = cursor->sge->length - cursor->done,
		.how = bellhop_access_writes(cursor->access) ? BELLHOP_FETCH_WRITE
							     : BELLHOP_FETCH_READ,
	};

	if (bellhop_fault_raise(cursor->fault, &need, cursor->qpn))
		return BELLHOP_REASON_ABSENT;
	return cursor->remote ? BELLHOP_REASON_RKEY_ABSENT : BELLHOP_REASON_LKEY_ABSENT;
}
