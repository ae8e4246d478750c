/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * rendezvous.h: what a QP does by itself when a message has told it where its payload is.
 *
 * Its sender reads the payload into the tagged buffer that the message has matched, sends the
 * message's headers back, to say that this is done, and completes the buffer.
 */
#ifndef BELLHOP_RENDEZVOUS_H
#define BELLHOP_RENDEZVOUS_H

#include "proto/base.h"

struct bellhop_qp;
struct bellhop_tagged;

/**
 * bellhop_rendezvous_add() - leaves one to the QP's sender
 * @qp: whose message has matched
 * @buffer: taken, with the message's headers
 *
 * Context: the caller holds the QP's slot lock.
 */
void bellhop_rendezvous_add(struct bellhop_qp *qp, struct bellhop_tagged *buffer);

/**
 * bellhop_rendezvous_fetch() - begins with the next one
 * @qp: its sender is not busy; the caller is its runner
 *
 * Context: bottom halves are off; takes the QP's own slot lock.
 * Return: whether there was one; then the sender is busy with a request of it.
 */
bool bellhop_rendezvous_fetch(struct bellhop_qp *qp);

/**
 * bellhop_rendezvous_complete() - a request of it has ended
 * @qp: its sender was busy with it, and is again if another one follows; the caller is its runner
 * @status: how it ended
 * @reason: why
 *
 * Context: bottom halves are off; takes the QP's own slot lock.
 * Return: 0, or -EOVERFLOW when the completion of the buffer is lost.
 */
int bellhop_rendezvous_complete(struct bellhop_qp *qp, enum bellhop_wc_status status,
				enum bellhop_reason reason);

/**
 * bellhop_rendezvous_abandon() - flushes all of them
 * @qp: is reset, or goes
 *
 * Context: bottom halves are off; nobody else can reach the QP.
 */
void bellhop_rendezvous_abandon(struct bellhop_qp *qp);

#endif
