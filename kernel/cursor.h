/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* cursor.h: a place in the bytes that a scatter/gather list or a key describes. */
#ifndef BELLHOP_CURSOR_H
#define BELLHOP_CURSOR_H

#include <linux/types.h>
#include <rdma/bellhop-abi.h>

struct bellhop_device;
struct bellhop_mr;

/**
 * struct bellhop_cursor - where the next byte comes from or goes to
 * @device: where the keys are from
 * @pdn: the QP's protection domain
 * @access: what the keys must allow
 * @remote: the key is an rkey
 * @sge: the current element; ends of the list are the caller's to respect
 * @done: bytes of it that lie behind
 * @mr: its region, referenced; NULL until it is needed
 * @inline_data: instead of all that, bytes in the kernel's own memory
 */
struct bellhop_cursor {
	struct bellhop_device *device;
	u32 pdn;
	u32 access;
	bool remote;
	const struct bellhop_sge *sge;
	u32 done;
	struct bellhop_mr *mr;
	u8 *inline_data;
};

/**
 * bellhop_cursor_seek() - places a new cursor
 * @cursor: everything but @done and @mr is set
 * @offset: bytes from the beginning; less than the list describes, or equal
 *
 * Context: any.
 */
void bellhop_cursor_seek(struct bellhop_cursor *cursor, u32 offset);

/**
 * bellhop_cursor_span() - the bytes at the cursor
 * @cursor: not at the end of its list
 * @memory: where they lie
 * @length: how many lie there side by side
 *
 * Context: any.
 * Return: BELLHOP_REASON_NONE, or why the key does not open them.
 */
enum bellhop_reason bellhop_cursor_span(struct bellhop_cursor *cursor, u8 **memory, u32 *length);

/**
 * bellhop_cursor_advance() - moves on
 * @cursor: after bellhop_cursor_span()
 * @bytes: at most the length of the span
 *
 * Context: any.
 */
void bellhop_cursor_advance(struct bellhop_cursor *cursor, u32 bytes);

/**
 * bellhop_cursor_end() - lets go of the region
 * @cursor: not used again, or placed anew
 *
 * Context: any.
 */
void bellhop_cursor_end(struct bellhop_cursor *cursor);

#endif
