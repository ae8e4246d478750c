// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* atomic.c: executes atomic operations. */
#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/minmax.h>
#include "atomic.h"
#include "qp.h"
#include "slot.h"

static u64 execute(atomic64_t *word, const struct bellhop_send_wqe *wqe)
{
	const struct bellhop_operands *operands = &wqe->operands;

	if (wqe->head.opcode == BELLHOP_WR_ATOMIC_CMP_AND_SWP)
		return atomic64_cmpxchg(word, operands->compare_add, operands->swap);
	return atomic64_fetch_add(operands->compare_add, word);
}

static enum bellhop_reason change(struct bellhop_qp *peer, const struct bellhop_send_wqe *wqe,
				  u64 *old)
{
	const struct bellhop_sge range = {
		.addr = wqe->head.remote_addr,
		.length = BELLHOP_ATOMIC_BYTES,
		.lkey = wqe->head.rkey,
	};
	enum bellhop_reason reason;
	struct bellhop_mr *mr;
	u64 together;

	/* What lies at an address of a region has the address's place within its page. */
	if (!IS_ALIGNED(range.addr, BELLHOP_ATOMIC_BYTES))
		return BELLHOP_REASON_ALIGNMENT;
	mr = bellhop_mr_get(peer->device, &range, peer->pdn, wqe->op->access, true,
			    BELLHOP_SIDE_RESPONDER, &reason);
	if (!mr)
		return reason;
	*old = execute((atomic64_t *)bellhop_mr_bytes(mr, range.addr, &together), wqe);
	bellhop_mr_put(mr, BELLHOP_SIDE_RESPONDER);
	return BELLHOP_REASON_NONE;
}

static void store(const struct bellhop_mr *mr, u64 addr, u64 value)
{
	const u8 *from = (const u8 *)&value;
	u32 left = sizeof(value);

	while (left) {
		u64 together;
		u8 *to = bellhop_mr_bytes(mr, addr, &together);
		u32 bytes = min_t(u64, together, left);

		bellhop_copy_piece(to, from, bytes, true);
		addr += bytes;
		from += bytes;
		left -= bytes;
	}
}

struct bellhop_copy_result bellhop_atomic_execute(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	struct bellhop_copy_result result = {};
	struct bellhop_mr *mr;
	u64 old;

	lockdep_assert_held(&peer->slot->lock);

	mr = bellhop_mr_get(qp->device, wqe->sge, qp->pdn, BELLHOP_ACCESS_LOCAL_WRITE, false,
			    BELLHOP_SIDE_REQUESTER, &result.reason);
	if (!mr)
		return result;
	result.reason = change(peer, wqe, &old);
	result.destination = result.reason;
	if (!result.reason)
		store(mr, wqe->sge->addr, old);
	bellhop_mr_put(mr, BELLHOP_SIDE_REQUESTER);
	return result;
}
