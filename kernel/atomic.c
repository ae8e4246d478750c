// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* atomic.c: executes atomic operations. */
#include <linux/align.h>
#include <linux/atomic.h>
#include "atomic.h"
#include "qp.h"
#include "slot.h"

static u64 execute(atomic64_t *word, u8 wr, const struct bellhop_operands *operands)
{
	if (wr == BELLHOP_WR_ATOMIC_CMP_AND_SWP)
		return atomic64_cmpxchg(word, operands->compare_add, operands->swap);
	return atomic64_fetch_add(operands->compare_add, word);
}

enum bellhop_reason bellhop_atomic_change(struct bellhop_cursor *cursor, u8 wr,
					  const struct bellhop_operands *operands, u64 *word)
{
	enum bellhop_reason reason;
	u32 together;
	u8 *at;

	/* What lies at an address of a region has the address's place within its page. */
	if (!IS_ALIGNED(cursor->sge->addr, BELLHOP_ATOMIC_BYTES))
		return BELLHOP_REASON_ALIGNMENT;
	bellhop_cursor_seek(cursor, 0);
	reason = bellhop_cursor_span(cursor, &at, &together);
	if (!reason) {
		/* But not at one of a window, or of device memory, that begins with address 0. */
		if (!IS_ALIGNED((unsigned long)at, BELLHOP_ATOMIC_BYTES))
			reason = BELLHOP_REASON_ALIGNMENT;
		else if (wr == BELLHOP_WR_ATOMIC_WRITE)
			/* Pairs with the program that looks at the word, and then at others. */
			atomic64_set_release((atomic64_t *)at, *word);
		else
			*word = execute((atomic64_t *)at, wr, operands);
	}
	bellhop_cursor_end(cursor);
	return reason;
}

static enum bellhop_reason change(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	struct bellhop_send_wqe *wqe = &qp->send.wqe;
	const struct bellhop_sge range = bellhop_wqe_remote_range(wqe);
	struct bellhop_cursor cursor = bellhop_cursor_remote(qp, peer, &range);

	return bellhop_atomic_change(&cursor, wqe->head.opcode, &wqe->operands, &qp->send.found);
}

/* The word is got first, wherever it comes from, and then written at once (IBA A19.4). */
static struct bellhop_copy_result write_word(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	struct bellhop_sender *send = &qp->send;
	struct bellhop_cursor to = bellhop_cursor_memory(&send->found, sizeof(send->found));
	struct bellhop_cursor from = bellhop_cursor_own(qp, 0);
	struct bellhop_copy_result result = {};

	if (send->wqe.head.num_sge || from.memory) {
		result = bellhop_copy(&to, &from, sizeof(send->found), false);
		bellhop_cursor_end(&from);
	} else {
		send->found = send->wqe.operands.compare_add;
	}
	if (!result.reason) {
		result.reason = change(qp, peer);
		result.destination = result.reason;
	}
	return result;
}

/*
 * The word is changed once. Pages on demand for the result can go between the look at them and
 * the copy; then what was found there is kept, and the rest is done when they are back.
 */
struct bellhop_copy_result bellhop_atomic_execute(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	struct bellhop_sender *send = &qp->send;
	struct bellhop_cursor from = bellhop_cursor_memory(&send->found, sizeof(send->found));
	struct bellhop_cursor to = bellhop_cursor_own(qp, BELLHOP_ACCESS_LOCAL_WRITE);
	struct bellhop_copy_result result = {};
	u32 together;
	u8 *memory;

	lockdep_assert_held(&peer->slot->lock);

	if (send->wqe.op->traits & BELLHOP_OP_WORD)
		return write_word(qp, peer);

	/* From here on the cursor holds the region that the result goes to. */
	result.reason = bellhop_cursor_span(&to, &memory, &together);
	if (!result.reason && !send->executed) {
		result.reason = change(qp, peer);
		result.destination = result.reason;
		send->executed = !result.reason;
	}
	if (!result.reason) {
		result = bellhop_copy(&to, &from, sizeof(send->found), true);
		send->executed = result.reason == BELLHOP_REASON_ABSENT;
	}
	bellhop_cursor_end(&to);
	return result;
}
