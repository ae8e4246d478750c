/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* cursor.c: walks scatter/gather elements, one referenced region at a time. */
#include <linux/minmax.h>
#include "cursor.h"
#include "mr.h"

void bellhop_cursor_seek(struct bellhop_cursor *cursor, u32 offset)
{
	cursor->mr = NULL;
	cursor->done = offset;
	if (cursor->inline_data)
		return;
	/* An offset at the end of an element stays there, so that no list is left. */
	while (cursor->done && cursor->done > cursor->sge->length) {
		cursor->done -= cursor->sge->length;
		cursor->sge++;
	}
}

enum bellhop_reason bellhop_cursor_span(struct bellhop_cursor *cursor, u8 **memory, u32 *length)
{
	enum bellhop_reason reason;
	u64 together;

	if (cursor->inline_data) {
		*memory = cursor->inline_data + cursor->done;
		*length = BELLHOP_MAX_INLINE - cursor->done;
		return BELLHOP_REASON_NONE;
	}
	while (cursor->done == cursor->sge->length) {
		bellhop_cursor_end(cursor);
		cursor->sge++;
		cursor->done = 0;
	}
	if (!cursor->mr) {
		cursor->mr = bellhop_mr_get(cursor->device, cursor->sge, cursor->pdn,
					    cursor->access, cursor->remote, &reason);
		if (!cursor->mr)
			return reason;
	}
	*memory = bellhop_mr_bytes(cursor->mr, cursor->sge->addr + cursor->done, &together);
	*length = min_t(u64, together, cursor->sge->length - cursor->done);
	return BELLHOP_REASON_NONE;
}

void bellhop_cursor_advance(struct bellhop_cursor *cursor, u32 bytes)
{
	cursor->done += bytes;
}

void bellhop_cursor_end(struct bellhop_cursor *cursor)
{
	if (cursor->mr)
		bellhop_mr_put(cursor->mr);
	cursor->mr = NULL;
}
