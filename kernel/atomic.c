// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* atomic.c: executes atomic operations. */
#include <linux/align.h>
#include <linux/atomic.h>
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
	const struct bellhop_sge range = bellhop_wqe_remote_range(wqe);
	enum bellhop_reason reason;
	struct bellhop_grant *grant;
	u64 together;
	u8 *word;

	/* What lies at an address of a region has the address's place within its page. */
	if (!IS_ALIGNED(range.addr, BELLHOP_ATOMIC_BYTES))
		return BELLHOP_REASON_ALIGNMENT;
	grant = bellhop_grant_get(peer->device, &range, peer->pdn, peer->id, wqe->op->access, true,
				  BELLHOP_SIDE_RESPONDER, &reason);
	if (!grant)
		return reason;
	word = bellhop_grant_bytes(grant, range.addr, &together);
	/* But not at one of a window, or of device memory, that begins with address 0. */
	if (IS_ALIGNED((unsigned long)word, BELLHOP_ATOMIC_BYTES))
		*old = execute((atomic64_t *)word, wqe);
	else
		reason = BELLHOP_REASON_ALIGNMENT;
	bellhop_grant_put(grant, BELLHOP_SIDE_RESPONDER);
	return reason;
}

struct bellhop_copy_result bellhop_atomic_execute(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	u64 old;
	struct bellhop_cursor from = { .inline_data = (u8 *)&old };
	struct bellhop_cursor to = {
		.device = qp->device,
		.pdn = qp->pdn,
		.access = BELLHOP_ACCESS_LOCAL_WRITE,
		.side = BELLHOP_SIDE_REQUESTER,
		.sge = wqe->sge,
	};
	struct bellhop_copy_result result = {};
	u32 together;
	u8 *memory;

	lockdep_assert_held(&peer->slot->lock);

	/* From here on the cursor holds the region that the result goes to. */
	result.reason = bellhop_cursor_span(&to, &memory, &together);
	if (result.reason)
		return result;
	result.reason = change(peer, wqe, &old);
	if (result.reason)
		result.destination = true;
	else
		result = bellhop_copy(&to, &from, sizeof(old), true);
	bellhop_cursor_end(&to);
	return result;
}
