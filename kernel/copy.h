/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* copy.h: the only place where payload is moved. */
#ifndef BELLHOP_COPY_H
#define BELLHOP_COPY_H

#include "cursor.h"

/**
 * struct bellhop_copy_result - how a copy ended
 * @reason: BELLHOP_REASON_NONE, or why a key refused its bytes; or BELLHOP_REASON_ABSENT: then
 * some may have been copied, and the same copy is to be tried again
 * @destination: the key was one of the destination's
 */
struct bellhop_copy_result {
	enum bellhop_reason reason;
	bool destination;
};

/**
 * bellhop_copy() - moves bytes from one cursor to another
 * @to: where to; used up
 * @from: where from; used up
 * @length: bytes, not 0; bounded by the caller, which holds a spinlock
 * @last: these are the last bytes of a message
 *
 * Programs wait for a message by looking at its last byte, so the last byte is written
 * last: the body, a write barrier, and then the last 64 bytes in ascending order.
 *
 * Context: a spinlock is held, as for bellhop_grant_get().
 */
struct bellhop_copy_result bellhop_copy(struct bellhop_cursor *to, struct bellhop_cursor *from,
					u32 length, bool last);

/**
 * bellhop_copy_piece() - the same, for bytes that lie side by side at both ends
 * @to: where to
 * @from: where from
 * @length: bytes, bounded by the caller, which holds a spinlock
 * @last: these are the last bytes of a message
 *
 * Context: any; the regions of both ends are referenced.
 */
void bellhop_copy_piece(u8 *to, const u8 *from, u32 length, bool last);

#endif
