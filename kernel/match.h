/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* match.h: messages to a shared receive queue that matches tags. */
#ifndef BELLHOP_MATCH_H
#define BELLHOP_MATCH_H

#include "copy.h"

struct bellhop_completion;
struct bellhop_qp;

/**
 * bellhop_match_peek() - looks at the headers of a message that has not begun
 * @qp: the requester; the caller is its runner
 * @peer: the responder, which takes requests of @qp, and remembers them
 *
 * Context: the caller holds @peer's slot lock.
 * Return: as bellhop_carry(); the reason is the requester's own.
 */
struct bellhop_copy_result bellhop_match_peek(struct bellhop_qp *qp, struct bellhop_qp *peer);

/**
 * bellhop_match_take() - takes what a message is to be received in
 * @qp: the requester; the caller is its runner
 * @peer: the responder, with no entry taken; has looked at the headers
 *
 * That is the first tagged buffer which its tag matches, or else an entry of the queue.
 * Context: the caller holds @peer's slot lock.
 * Return: as bellhop_receive_take().
 */
enum bellhop_reason bellhop_match_take(struct bellhop_qp *qp, struct bellhop_qp *peer);

/**
 * bellhop_match_carry() - moves the next part of a message to what it has taken
 * @qp: the requester; the caller is its runner
 * @peer: the responder
 * @bytes: how much; those of its headers count, even where they are left out
 *
 * Context: the caller holds @peer's slot lock.
 * Return: as bellhop_carry().
 */
struct bellhop_copy_result bellhop_match_carry(struct bellhop_qp *qp, struct bellhop_qp *peer,
					       u32 bytes);

/**
 * bellhop_match_describe() - says what is special about a message that has come
 * @qp: the responder; what it has taken is filled
 * @completion: of that; its length is the message's
 *
 * Context: the caller holds the QP's slot lock.
 */
void bellhop_match_describe(struct bellhop_qp *qp, struct bellhop_completion *completion);

/**
 * bellhop_match_end() - what a message has taken completes
 * @qp: the responder; the tag that it keeps is what the completion tells
 * @status: how
 *
 * Of a rendezvous there is more to come: then the QP has to read its payload.
 * Context: the caller holds the QP's slot lock.
 */
void bellhop_match_end(struct bellhop_qp *qp, enum bellhop_wc_status status);

/**
 * bellhop_match_give_back() - as if the message had not come
 * @qp: the responder
 *
 * Context: the caller holds the QP's slot lock, or nobody else can reach the receive side.
 * Return: whether it had taken a tagged buffer; otherwise its entry is still to be given back.
 */
bool bellhop_match_give_back(struct bellhop_qp *qp);

#endif
