/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * atomic.h: operations that change a word of the responder's memory and bring back the old one, or
 * write one at once.
 */
#ifndef BELLHOP_ATOMIC_H
#define BELLHOP_ATOMIC_H

#include "copy.h"

struct bellhop_qp;

/**
 * bellhop_atomic_execute() - compares and swaps, fetches and adds (IBA 9.4.5), or writes a word
 * @qp: the requester; the caller is its runner
 * @peer: the responder
 *
 * Atomic to everything that uses the processor's atomic instructions on the word: other QPs of any
 * device, and programs. Of a request whose result has nowhere to go nothing is done.
 * Context: the caller holds @peer's slot lock.
 * Return: as bellhop_carry().
 */
struct bellhop_copy_result bellhop_atomic_execute(struct bellhop_qp *qp, struct bellhop_qp *peer);

/**
 * bellhop_atomic_change() - changes a word, or writes it
 * @cursor: over the word, at the responder
 * @wr: BELLHOP_WR_ATOMIC_CMP_AND_SWP, _FETCH_AND_ADD or _WRITE
 * @operands: of the first two
 * @word: gets what was there before; of the last it is what is written
 *
 * Context: the caller holds the responder's slot lock.
 * Return: BELLHOP_REASON_NONE, or why nothing was changed.
 */
enum bellhop_reason bellhop_atomic_change(struct bellhop_cursor *cursor, u8 wr,
					  const struct bellhop_operands *operands, u64 *word);

#endif
