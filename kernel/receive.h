/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* receive.h: the entries of a receive queue, as messages take, fill and end them. */
#ifndef BELLHOP_RECEIVE_H
#define BELLHOP_RECEIVE_H

#include "proto/ring.h"
#include "proto/wqe.h"

struct bellhop_qp;

/**
 * bellhop_receive_take() - takes the next entry
 * @qp: the responder, with no entry taken
 * @waiter_qpn: who is to be woken when there is none, or 0
 *
 * Context: the caller holds the QP's slot lock.
 * Return: BELLHOP_REASON_NONE, BELLHOP_REASON_RNR when there is none, or
 * BELLHOP_REASON_RECV_FAULTY.
 */
enum bellhop_reason bellhop_receive_take(struct bellhop_qp *qp, u32 waiter_qpn);

/**
 * bellhop_receive_give_back() - as if the message had not come
 * @qp: the responder; its entry is taken, and nothing was written by it
 *
 * Context: the caller holds the QP's slot lock.
 */
void bellhop_receive_give_back(struct bellhop_qp *qp);

/**
 * bellhop_receive_complete() - ends the entry that is being filled
 * @qp: the responder
 * @completion: what the caller knows of it; the rest is filled in
 * @solicited: the sender asked for an event
 *
 * Context: the caller holds the QP's slot lock.
 */
void bellhop_receive_complete(struct bellhop_qp *qp, struct bellhop_completion *completion,
			      bool solicited);

/**
 * bellhop_receive_fail() - ends the entry in error
 * @qp: the responder; its entry is taken
 * @status: how it completes
 * @reason: why
 *
 * Context: the caller holds the QP's slot lock.
 */
void bellhop_receive_fail(struct bellhop_qp *qp, enum bellhop_wc_status status,
			  enum bellhop_reason reason);

/**
 * bellhop_receive_abandon() - lets go of the entry that is being filled, if there is one
 * @qp: is reset, or goes; one of an SRQ is the next message's there
 *
 * Context: bottom halves are off; nobody else can reach the receive side.
 */
void bellhop_receive_abandon(struct bellhop_qp *qp);

/**
 * bellhop_receive_deliver() - ends the entry, since the whole message is in it
 * @qp: the responder
 * @op: what the message is
 * @ex: its immediate data, as on the wire, or the rkey that it invalidates
 * @solicited: it asks for an event
 * @completion: its length, its source and what is special about it; the rest is filled in
 *
 * Before it completes, what a send with invalidate names is invalidated.
 * Context: the caller holds the QP's slot lock.
 * Return: BELLHOP_REASON_NONE, or why it could not be; then the entry is not ended.
 */
enum bellhop_reason bellhop_receive_deliver(struct bellhop_qp *qp, const struct bellhop_opcode *op,
					    u32 ex, bool solicited,
					    struct bellhop_completion *completion);

/**
 * bellhop_receive_establish() - the first message has come (IBA 11.6.3.1)
 * @qp: the responder
 *
 * Context: the caller holds the QP's slot lock.
 */
void bellhop_receive_establish(struct bellhop_qp *qp);

/**
 * bellhop_receive_refuse() - what a refused request does to its responder
 * @qp: the responder
 * @reason: why
 *
 * Context: the caller holds the QP's slot lock.
 */
void bellhop_receive_refuse(struct bellhop_qp *qp, enum bellhop_reason reason);

/**
 * bellhop_receive_wake_waiter() - tells a sender that was not received to try again
 * @qp: the responder; the caller is its runner
 *
 * Context: bottom halves are off; takes the QP's own slot lock.
 */
void bellhop_receive_wake_waiter(struct bellhop_qp *qp);

#endif
