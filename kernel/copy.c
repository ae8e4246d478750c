// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* copy.c: copies by the CPU. */
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <asm/barrier.h>
#include "copy.h"

#define TAIL_BYTES 64U

/* Every byte before the last one is visible before the last one is. */
static inline void copy_in_order(u8 *to, const u8 *from, u32 length)
{
	u32 i = 0;

	for (; length - i > sizeof(u64); i += sizeof(u64)) {
		put_unaligned(get_unaligned((const u64 *)(from + i)), (u64 *)(to + i));
		barrier(); /* or the compiler makes it a memcpy() */
	}
	smp_wmb(); /* pairs with the program that looks at the last byte, and then at others */
	if (length - i == sizeof(u64)) {
		/* One store where the machine has it; then no byte is first. */
		put_unaligned(get_unaligned((const u64 *)(from + i)), (u64 *)(to + i));
		return;
	}
	for (; length - i > 1; i++)
		WRITE_ONCE(to[i], from[i]);
	smp_wmb(); /* likewise */
	WRITE_ONCE(to[i], from[i]);
}

static struct bellhop_copy_result move(struct bellhop_cursor *to, struct bellhop_cursor *from,
				       u32 length, bool in_order)
{
	struct bellhop_copy_result result = {};
	u8 *source, *destination;
	u32 there, here, bytes;

	for (; length; length -= bytes) {
		result.reason = bellhop_cursor_span(from, &source, &there);
		if (result.reason)
			return result;
		result.reason = bellhop_cursor_span(to, &destination, &here);
		if (result.reason) {
			result.destination = true;
			return result;
		}
		bytes = min3(there, here, length);
		if (in_order)
			copy_in_order(destination, source, bytes);
		else
			memcpy(destination, source, bytes);
		bellhop_cursor_advance(from, bytes);
		bellhop_cursor_advance(to, bytes);
	}
	return result;
}

void bellhop_copy_piece(u8 *to, const u8 *from, u32 length, bool last)
{
	u32 tail = last ? min(length, TAIL_BYTES) : 0;
	u32 body = length - tail;

	if (body)
		memcpy(to, from, body);
	if (tail) {
		smp_wmb(); /* the body before the tail, see copy_in_order() */
		copy_in_order(to + body, from + body, tail);
	}
}

struct bellhop_copy_result bellhop_copy(struct bellhop_cursor *to, struct bellhop_cursor *from,
					u32 length, bool last)
{
	u32 tail = last ? min(length, TAIL_BYTES) : 0;
	struct bellhop_copy_result result = move(to, from, length - tail, false);

	if (result.reason || !tail)
		return result;
	smp_wmb(); /* the body before the tail, see copy_in_order() */
	return move(to, from, tail, true);
}
