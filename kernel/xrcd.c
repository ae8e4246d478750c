// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* xrcd.c: the table of XRC SRQs, and how target QPs use them. */
#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "cq.h"
#include "qp.h"
#include "srq.h"
#include "xrcd.h"

/**
 * struct bellhop_listed_srq - an SRQ in the table
 * @srq: what the number stands for
 * @srqn: the number
 * @users: target QPs that have entered it, and one as long as it is published
 * @unused: there will be no more users
 * @rcu: frees it
 */
struct bellhop_listed_srq {
	struct bellhop_srq *srq;
	u32 srqn;
	refcount_t users;
	struct completion unused;
	struct rcu_head rcu;
};

/*
 * One table for all devices: an XRC domain is of one. Numbers are not soon reused, and 0
 * is nobody's, so that a request that names none finds none.
 */
static DEFINE_XARRAY_FLAGS(table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 next; /* under @table's lock */

static void put(struct bellhop_listed_srq *listed)
{
	if (refcount_dec_and_test(&listed->users))
		complete(&listed->unused);
}

int bellhop_xrcd_publish(struct bellhop_srq *srq)
{
	struct bellhop_listed_srq *listed = kzalloc(sizeof(*listed), GFP_KERNEL_ACCOUNT);
	int err;

	if (!listed)
		return -ENOMEM;
	listed->srq = srq;
	refcount_set(&listed->users, 1);
	init_completion(&listed->unused);
	srq->listed = listed;
	err = xa_alloc_cyclic(&table, &listed->srqn, listed, XA_LIMIT(1, BELLHOP_SRQN_MAX), &next,
			      GFP_KERNEL);
	if (err < 0) {
		kfree(listed);
		return err;
	}
	srq->ibsrq.ext.xrc.srq_num = listed->srqn;
	return 0;
}

void bellhop_xrcd_withdraw(struct bellhop_srq *srq)
{
	struct bellhop_listed_srq *listed = srq->listed;

	xa_erase(&table, listed->srqn);
	put(listed);
	wait_for_completion(&listed->unused);
	kfree_rcu(listed, rcu);
}

/* Counts as a user of what it has found. */
static struct bellhop_listed_srq *find(u32 srqn)
{
	struct bellhop_listed_srq *listed;

	rcu_read_lock();
	listed = xa_load(&table, srqn);
	if (listed && !refcount_inc_not_zero(&listed->users))
		listed = NULL;
	rcu_read_unlock();
	return listed;
}

enum bellhop_reason bellhop_xrcd_enter(struct bellhop_qp *qp, u32 srqn)
{
	struct bellhop_receiver *recv = &qp->recv;
	struct bellhop_listed_srq *listed = find(srqn);
	struct bellhop_srq *srq;

	if (!listed)
		return BELLHOP_REASON_XRC_SRQ_UNKNOWN;
	srq = listed->srq;
	/* Each keeps its domain there. */
	if (srq->ibsrq.ext.xrc.xrcd != recv->xrcd) {
		put(listed);
		return BELLHOP_REASON_XRC_DOMAIN;
	}
	recv->srq = srq;
	recv->pdn = srq->pdn;
	recv->index = srqn;
	/* The SRQ's domain is that of all keys of the request (IBA A14). */
	qp->pdn = srq->pdn;
	qp->recv_cq = bellhop_cq_of(srq->ibsrq.ext.cq);
	return BELLHOP_REASON_NONE;
}

bool bellhop_xrcd_enter_taken(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;

	if (!recv->xrcd || !recv->busy)
		return false;
	recv->busy = bellhop_xrcd_enter(qp, recv->index) == BELLHOP_REASON_NONE;
	return recv->busy;
}

void bellhop_xrcd_leave(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;
	struct bellhop_listed_srq *listed = recv->srq->listed;

	recv->srq = NULL;
	qp->recv_cq = NULL;
	put(listed);
}

int bellhop_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

int bellhop_xrcd_dealloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}
