// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* carry.c: finds the bytes of both ends of a request, and has them copied. */
#include "atomic.h"
#include "carry.h"
#include "match.h"
#include "qp.h"
#include "slot.h"

/* Bytes in one piece from an offset on, or NULL where one element does not give them. */
static __always_inline u8 *open_piece(const struct bellhop_qp *owner, u32 pdn,
				      const struct bellhop_sge *sge, u32 access, bool remote,
				      enum bellhop_side side, u32 offset, u32 bytes,
				      struct bellhop_grant **grant)
{
	enum bellhop_reason reason;
	u64 together;
	u8 *memory;

	if (sge->length < offset || sge->length - offset < bytes)
		return NULL;
	*grant = bellhop_grant_get(owner->device, sge, pdn, owner->id, access, remote, side,
				   &reason);
	if (!*grant)
		return NULL;
	memory = bellhop_grant_bytes(*grant, sge->addr + offset, access, &together);
	if (together >= bytes)
		return memory;
	bellhop_grant_put(*grant, side);
	*grant = NULL;
	return NULL;
}

/*
 * Most messages are one element in one piece at both ends. What is not, or is refused,
 * is left to the cursors, which know all cases.
 */
static bool carry_piece(struct bellhop_qp *qp, struct bellhop_qp *peer, u32 bytes, bool last)
{
	struct bellhop_send_wqe *wqe = &qp->send.wqe;
	u16 traits = wqe->op->traits;
	bool read = traits & BELLHOP_OP_READ;
	struct bellhop_grant *own_grant = NULL, *other_grant = NULL;
	u32 offset = qp->send.moved;
	u8 *own, *other;

	if (unlikely(traits & (BELLHOP_OP_ATOMIC | BELLHOP_OP_WORD)))
		return false;
	if (wqe->head.flags & BELLHOP_SQE_INLINE)
		own = wqe->data + offset;
	else
		own = open_piece(qp, qp->pdn, wqe->sge, read ? BELLHOP_ACCESS_LOCAL_WRITE : 0,
				 false, BELLHOP_SIDE_REQUESTER, offset, bytes, &own_grant);
	if (!own)
		return false;
	if (traits & BELLHOP_OP_SCATTER) {
		other = open_piece(peer, peer->recv.pdn, peer->recv.wqe.sge,
				   BELLHOP_ACCESS_LOCAL_WRITE, false, BELLHOP_SIDE_RESPONDER,
				   offset, bytes, &other_grant);
	} else {
		struct bellhop_sge range = bellhop_wqe_remote_range(wqe);

		other = open_piece(peer, peer->pdn, &range, wqe->op->access, true,
				   BELLHOP_SIDE_RESPONDER, offset, bytes, &other_grant);
	}
	if (other) {
		bellhop_copy_piece(read ? own : other, read ? other : own, bytes, last);
		bellhop_grant_put(other_grant, BELLHOP_SIDE_RESPONDER);
	}
	if (own_grant)
		bellhop_grant_put(own_grant, BELLHOP_SIDE_REQUESTER);
	return other;
}

static noinline struct bellhop_copy_result
carry_pieces(struct bellhop_qp *qp, struct bellhop_qp *peer, u32 bytes, bool last)
{
	struct bellhop_send_wqe *wqe = &qp->send.wqe;
	bool read = wqe->op->traits & BELLHOP_OP_READ;
	bool scatter = wqe->op->traits & BELLHOP_OP_SCATTER;
	struct bellhop_sge range = bellhop_wqe_remote_range(wqe);
	struct bellhop_cursor own = bellhop_cursor_own(qp, read ? BELLHOP_ACCESS_LOCAL_WRITE : 0);
	struct bellhop_cursor other =
		scatter ? bellhop_cursor_receive(peer, &qp->send.fault, qp->qpn)
			: bellhop_cursor_remote(qp, peer, &range);
	struct bellhop_copy_result result;

	bellhop_cursor_seek(&own, qp->send.moved);
	bellhop_cursor_seek(&other, qp->send.moved);
	result = read ? bellhop_copy(&own, &other, bytes, last)
		      : bellhop_copy(&other, &own, bytes, last);
	bellhop_cursor_end(&own);
	bellhop_cursor_end(&other);
	/* From here on "destination" is "the responder's side". */
	result.destination ^= read;
	return result;
}

struct bellhop_copy_result bellhop_carry(struct bellhop_qp *qp, struct bellhop_qp *peer, u32 bytes)
{
	bool last = qp->send.moved + bytes == qp->send.wqe.length;

	lockdep_assert_held(&peer->slot->lock);

	if (unlikely(peer->recv.matches) && (qp->send.wqe.op->traits & BELLHOP_OP_SCATTER))
		return bellhop_match_carry(qp, peer, bytes);
	if (carry_piece(qp, peer, bytes, last))
		return (struct bellhop_copy_result){};
	if (qp->send.wqe.op->traits & (BELLHOP_OP_ATOMIC | BELLHOP_OP_WORD))
		return bellhop_atomic_execute(qp, peer);
	return carry_pieces(qp, peer, bytes, last);
}

struct bellhop_copy_result bellhop_carry_datagram(struct bellhop_qp *qp, struct bellhop_qp *peer,
						  u8 *grh)
{
	u32 length = qp->send.wqe.length;
	struct bellhop_cursor header = bellhop_cursor_memory(grh, BELLHOP_GRH_BYTES);
	struct bellhop_cursor own = bellhop_cursor_own(qp, 0);
	struct bellhop_cursor other = bellhop_cursor_receive(peer, &qp->send.fault, qp->qpn);
	struct bellhop_copy_result result;

	lockdep_assert_held(&peer->slot->lock);

	bellhop_cursor_seek(&header, 0);
	bellhop_cursor_seek(&own, 0);
	bellhop_cursor_seek(&other, 0);
	result = bellhop_copy(&other, &header, BELLHOP_GRH_BYTES, !length);
	if (!result.reason && length)
		result = bellhop_copy(&other, &own, length, true);
	bellhop_cursor_end(&own);
	bellhop_cursor_end(&other);
	return result;
}

/* Whether a key of @owner's side opens a range that nobody moves now. */
static enum bellhop_reason check(const struct bellhop_qp *owner, const struct bellhop_sge *range,
				 u32 access, bool remote, enum bellhop_side side)
{
	enum bellhop_reason reason;
	struct bellhop_grant *grant;

	if (!range->length)
		return BELLHOP_REASON_NONE;
	grant = bellhop_grant_get(owner->device, range, owner->pdn, owner->id, access, remote, side,
				  &reason);
	if (grant)
		bellhop_grant_put(grant, side);
	else if (!remote)
		reason = bellhop_null_check(owner->device, range, owner->pdn, access, reason);
	return reason;
}

enum bellhop_reason bellhop_carry_check_remote(const struct bellhop_qp *qp,
					       const struct bellhop_qp *peer)
{
	struct bellhop_sge range = bellhop_wqe_remote_range(&qp->send.wqe);

	return bellhop_carry_check_range(peer, &range, qp->send.wqe.op->access);
}

enum bellhop_reason bellhop_carry_check_range(const struct bellhop_qp *peer,
					      const struct bellhop_sge *range, u32 access)
{
	lockdep_assert_held(&peer->slot->lock);

	return check(peer, range, access, true, BELLHOP_SIDE_RESPONDER);
}

enum bellhop_reason bellhop_carry_check_own(const struct bellhop_qp *qp)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	u32 access = wqe->op->traits & BELLHOP_OP_READ ? BELLHOP_ACCESS_LOCAL_WRITE : 0;
	enum bellhop_reason reason = BELLHOP_REASON_NONE;
	u32 i;

	spin_lock(&qp->slot->lock);
	for (i = 0; i < wqe->head.num_sge && !reason; i++)
		reason = check(qp, &wqe->sge[i], access, false, BELLHOP_SIDE_REQUESTER);
	spin_unlock(&qp->slot->lock);
	return reason;
}
