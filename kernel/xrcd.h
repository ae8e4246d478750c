/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * xrcd.h: XRC domains, and the shared receive queues in them, by number (IBA A14).
 *
 * A request to a target QP says which SRQ it is for. Its entries, its protection domain and
 * its CQ are the QP's for as long as one step of the request takes, and no longer, since
 * the SRQ may go at any time: whoever destroys it waits for such steps and for nothing else.
 */
#ifndef BELLHOP_XRCD_H
#define BELLHOP_XRCD_H

#include <rdma/ib_verbs.h>
#include "proto/base.h"

struct bellhop_qp;
struct bellhop_srq;

/**
 * struct bellhop_xrcd - an XRC domain
 * @ibxrcd: the core's part, which knows what is in it
 */
struct bellhop_xrcd {
	struct ib_xrcd ibxrcd;
};

/**
 * bellhop_xrcd_publish() - gives an XRC SRQ its number, under which requests find it
 * @srq: complete
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -EBUSY when there are no more numbers.
 */
int bellhop_xrcd_publish(struct bellhop_srq *srq);

/**
 * bellhop_xrcd_withdraw() - takes the number back; afterwards no QP uses the SRQ
 * @srq: published
 *
 * Context: may sleep; waits for one bounded step of each QP that uses it.
 */
void bellhop_xrcd_withdraw(struct bellhop_srq *srq);

/**
 * bellhop_xrcd_enter() - a target QP receives from an SRQ until bellhop_xrcd_leave()
 * @qp: the QP; it has not entered another
 * @srqn: any number
 *
 * Context: the caller holds the QP's slot lock, or nobody else can reach the receive side; does
 * not sleep before bellhop_xrcd_leave().
 * Return: BELLHOP_REASON_NONE; BELLHOP_REASON_XRC_SRQ_UNKNOWN or BELLHOP_REASON_XRC_DOMAIN when it
 * was not entered.
 */
enum bellhop_reason bellhop_xrcd_enter(struct bellhop_qp *qp, u32 srqn);

/**
 * bellhop_xrcd_enter_taken() - the same with the SRQ of the entry that the QP has taken
 * @qp: any QP; when the SRQ is gone its entry is, too
 *
 * Context: as bellhop_xrcd_enter().
 * Return: whether it was entered; not if it is not a target QP, or has taken none.
 */
bool bellhop_xrcd_enter_taken(struct bellhop_qp *qp);

/**
 * bellhop_xrcd_leave() - the QP has no SRQ any more
 * @qp: has entered one
 *
 * Context: as bellhop_xrcd_enter().
 */
void bellhop_xrcd_leave(struct bellhop_qp *qp);

/* Operations of struct ib_device_ops. */
int bellhop_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int bellhop_xrcd_dealloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

#endif
