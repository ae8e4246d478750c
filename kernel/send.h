/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* send.h: the send queue: one entry after the other, as far as the peer lets it. */
#ifndef BELLHOP_SEND_H
#define BELLHOP_SEND_H

#include "proto/base.h"

struct bellhop_qp;
struct bellhop_share;

/* Of payload, in a step: copied under a spinlock at most, for a few ten microseconds. */
#define BELLHOP_STEP_BYTES (64U << 10)

/**
 * bellhop_send_step() - takes an entry, or carries on with one
 * @qp: the caller is its runner
 * @share: what the caller may do; lessened by what was done
 *
 * Context: bottom halves are off; takes the peer's slot lock.
 * Return: true when there may be more to do at once.
 */
bool bellhop_send_step(struct bellhop_qp *qp, struct bellhop_share *share);

/**
 * bellhop_send_complete() - ends the entry that is being executed
 * @qp: the caller is its runner
 * @status: how it ended; anything but success puts the QP in error
 * @reason: why
 *
 * Context: bottom halves are off; takes the QP's own slot lock.
 */
void bellhop_send_complete(struct bellhop_qp *qp, enum bellhop_wc_status status,
			   enum bellhop_reason reason);

#endif
