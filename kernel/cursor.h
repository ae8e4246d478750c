/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* cursor.h: a place in the bytes that a scatter/gather list or a key describes. */
#ifndef BELLHOP_CURSOR_H
#define BELLHOP_CURSOR_H

#include <linux/minmax.h>
#include "fault.h"
#include "grant.h"
#include "null.h"

/**
 * struct bellhop_cursor - where the next byte comes from or goes to
 * @device: where the keys are from
 * @pdn: the QP's protection domain
 * @qp_id: the QP, where the keys are rkeys
 * @access: what the keys must allow
 * @remote: the keys are rkeys
 * @side: whose bytes they are
 * @sge: the current element; ends of the list are the caller's to respect
 * @done: bytes of it that lie behind
 * @grant: what its key opens, referenced; NULL until it is needed, and of a null region
 * @inline_data: instead of all that, bytes in the kernel's own memory
 * @fault: where the requester keeps its last fault
 * @qpn: the requester's number
 */
struct bellhop_cursor {
	struct bellhop_device *device;
	u32 pdn;
	u64 qp_id;
	u32 access;
	bool remote;
	enum bellhop_side side;
	const struct bellhop_sge *sge;
	u32 done;
	struct bellhop_grant *grant;
	u8 *inline_data;
	struct bellhop_fault **fault;
	u32 qpn;
};

/**
 * bellhop_cursor_seek() - places a new cursor
 * @cursor: everything but @done and @grant is set
 * @offset: bytes from the beginning; less than the list describes, or equal
 *
 * Context: a spinlock is held, as for bellhop_grant_get().
 */
static inline void bellhop_cursor_seek(struct bellhop_cursor *cursor, u32 offset)
{
	cursor->grant = NULL;
	cursor->done = offset;
	if (cursor->inline_data)
		return;
	/* An offset at the end of an element stays there, so that no list is left. */
	while (cursor->done && cursor->done > cursor->sge->length) {
		cursor->done -= cursor->sge->length;
		cursor->sge++;
	}
}

/**
 * bellhop_cursor_end() - lets go of the region
 * @cursor: not used again, or placed anew
 *
 * Context: a spinlock is held, as for bellhop_grant_get().
 */
static inline void bellhop_cursor_end(struct bellhop_cursor *cursor)
{
	if (cursor->grant)
		bellhop_grant_put(cursor->grant, cursor->side);
	cursor->grant = NULL;
}

/**
 * bellhop_cursor_fault() - has the bytes at the cursor fetched
 * @cursor: at pages on demand that are not there
 *
 * Context: a spinlock is held, as for bellhop_grant_get().
 * Return: BELLHOP_REASON_ABSENT, or that they cannot be had.
 */
enum bellhop_reason bellhop_cursor_fault(const struct bellhop_cursor *cursor);

/**
 * bellhop_cursor_span() - the bytes at the cursor
 * @cursor: not at the end of its list
 * @memory: where they lie
 * @length: how many lie there side by side
 *
 * Context: a spinlock is held, as for bellhop_grant_get().
 * Return: BELLHOP_REASON_NONE, or why the key does not open them; or BELLHOP_REASON_ABSENT.
 */
static __always_inline enum bellhop_reason bellhop_cursor_span(struct bellhop_cursor *cursor,
							       u8 **memory, u32 *length)
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
	if (!cursor->grant) {
		cursor->grant =
			bellhop_grant_get(cursor->device, cursor->sge, cursor->pdn, cursor->qp_id,
					  cursor->access, cursor->remote, cursor->side, &reason);
		if (!cursor->grant)
			return bellhop_null_span(cursor, reason, memory, length);
	}
	*memory = bellhop_grant_bytes(cursor->grant, cursor->sge->addr + cursor->done,
				      cursor->access, &together);
	*length = min_t(u64, together, cursor->sge->length - cursor->done);
	return likely(together) ? BELLHOP_REASON_NONE : bellhop_cursor_fault(cursor);
}

/**
 * bellhop_cursor_advance() - moves on
 * @cursor: after bellhop_cursor_span()
 * @bytes: at most the length of the span
 *
 * Context: a spinlock is held, as for bellhop_grant_get().
 */
static inline void bellhop_cursor_advance(struct bellhop_cursor *cursor, u32 bytes)
{
	cursor->done += bytes;
}

#endif
