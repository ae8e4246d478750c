/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* flush.h: what is left in the queues of a QP in error. */
#ifndef BELLHOP_FLUSH_H
#define BELLHOP_FLUSH_H

#include "proto/base.h"

struct bellhop_qp;
struct bellhop_share;

/**
 * bellhop_flush_step() - completes an entry of each queue with a flush error
 * @qp: the caller is its runner, and it is in error
 * @share: what the caller may do; lessened by what was done
 *
 * Context: bottom halves are off; takes the QP's own slot lock.
 * Return: true when there may be more to do at once.
 */
bool bellhop_flush_step(struct bellhop_qp *qp, struct bellhop_share *share);

#endif
