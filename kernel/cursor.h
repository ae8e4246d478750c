/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* cursor.h: a place in the bytes that a scatter/gather list or a key describes. */
#ifndef BELLHOP_CURSOR_H
#define BELLHOP_CURSOR_H

#include <linux/minmax.h>
#include "fault.h"
#include "grant.h"
#include "null.h"
#include "qp.h"

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
 * @memory: instead of all that, bytes in the kernel's own memory
 * @room: how many
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
	u8 *memory;
	u32 room;
	struct bellhop_fault **fault;
	u32 qpn;
};

/**
 * bellhop_cursor_own() - over the elements of a request, or its inline bytes
 * @qp: the requester; the caller is its runner
 * @access: what its keys must allow
 *
 * Context: any.
 * Return: a cursor to be placed, as the next two.
 */
static inline struct bellhop_cursor bellhop_cursor_own(struct bellhop_qp *qp, u32 access)
{
	struct bellhop_send_wqe *wqe = &qp->send.wqe;

	return (struct bellhop_cursor){
		.device = qp->device,
		.pdn = qp->pdn,
		.access = access,
		.side = BELLHOP_SIDE_REQUESTER,
		.sge = wqe->sge,
		.memory = wqe->head.flags & BELLHOP_SQE_INLINE ? wqe->data : NULL,
		.room = sizeof(wqe->data),
		.fault = &qp->send.fault,
		.qpn = qp->qpn,
	};
}

/*
 * Over the elements of the receive entry that a message has taken at @peer. Whoever sends it keeps
 * its last fault in @fault, and has the number @qpn, or 0.
 */
static inline struct bellhop_cursor bellhop_cursor_receive(const struct bellhop_qp *peer,
							   struct bellhop_fault **fault, u32 qpn)
{
	return (struct bellhop_cursor){
		.device = peer->device,
		.pdn = peer->recv.pdn,
		.access = BELLHOP_ACCESS_LOCAL_WRITE,
		.side = BELLHOP_SIDE_RESPONDER,
		.sge = peer->recv.wqe.sge,
		.fault = fault,
		.qpn = qpn,
	};
}

/* Over the kernel's own memory. */
static inline struct bellhop_cursor bellhop_cursor_memory(void *memory, u32 bytes)
{
	return (struct bellhop_cursor){ .memory = memory, .room = bytes };
}

/* Over the range of @peer's that the request names; @range outlives the cursor. */
static inline struct bellhop_cursor bellhop_cursor_remote(struct bellhop_qp *qp,
							  const struct bellhop_qp *peer,
							  const struct bellhop_sge *range)
{
	return (struct bellhop_cursor){
		.device = peer->device,
		.pdn = peer->pdn,
		.qp_id = peer->id,
		.access = qp->send.wqe.op->access,
		.remote = true,
		.side = BELLHOP_SIDE_RESPONDER,
		.sge = range,
		.fault = &qp->send.fault,
		.qpn = qp->qpn,
	};
}

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
	if (cursor->memory)
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

	if (cursor->memory) {
		*memory = cursor->memory + cursor->done;
		*length = cursor->room - cursor->done;
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
