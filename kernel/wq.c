// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* wq.c: makes receive work queues, and changes their states. */
#include <linux/slab.h>
#include "wq.h"

/* The QP has failed: so has the queue that it is. */
static void tell(struct ib_event *event, void *context)
{
	struct bellhop_wq *wq = context;
	struct ib_event told = {
		.device = event->device,
		.event = IB_EVENT_WQ_FATAL,
		.element.wq = &wq->ibwq,
	};

	if (wq->ibwq.event_handler)
		wq->ibwq.event_handler(&told, wq->ibwq.wq_context);
}

struct ib_wq *bellhop_wq_create(struct ib_pd *ibpd, struct ib_wq_init_attr *attr,
				struct ib_udata *udata)
{
	struct ib_qp_init_attr init = {
		.recv_cq = attr->cq,
		.cap.max_recv_wr = attr->max_wr,
		.cap.max_recv_sge = attr->max_sge,
		.qp_type = IB_QPT_RAW_PACKET,
	};
	struct bellhop_wq *wq;
	int err;

	if (attr->wq_type != IB_WQT_RQ || attr->create_flags || !udata)
		return ERR_PTR(-EOPNOTSUPP);
	if (!attr->max_wr || attr->max_wr > BELLHOP_MAX_QP_WR || attr->max_sge > BELLHOP_MAX_SGE)
		return ERR_PTR(-EINVAL);
	wq = kzalloc(sizeof(*wq), GFP_KERNEL_ACCOUNT);
	if (!wq)
		return ERR_PTR(-ENOMEM);
	wq->ibwq.state = IB_WQS_RESET;
	wq->ibwq.event_handler = attr->event_handler;
	wq->ibwq.wq_context = attr->wq_context;
	wq->qp.ibqp.device = ibpd->device;
	wq->qp.ibqp.pd = ibpd;
	wq->qp.ibqp.qp_type = IB_QPT_RAW_PACKET;
	wq->qp.ibqp.event_handler = tell;
	wq->qp.ibqp.qp_context = wq;
	err = bellhop_qp_begin(&wq->qp, &init, udata);
	if (err) {
		kfree(wq);
		return ERR_PTR(err);
	}
	attr->max_wr = init.cap.max_recv_wr;
	wq->ibwq.wq_num = wq->qp.qpn;
	return &wq->ibwq;
}

/* A queue that is ready receives, and never sends. */
static enum bellhop_qp_state state_of(enum ib_wq_state state)
{
	switch (state) {
	case IB_WQS_RDY:
		return BELLHOP_QPS_RTR;
	case IB_WQS_ERR:
		return BELLHOP_QPS_ERR;
	default:
		return BELLHOP_QPS_RESET;
	}
}

int bellhop_wq_modify(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask, struct ib_udata *udata)
{
	struct bellhop_wq *wq = bellhop_wq_of(ibwq);
	u32 from = BIT(BELLHOP_QPS_RESET) | BIT(BELLHOP_QPS_RTR) | BIT(BELLHOP_QPS_ERR);
	int err;

	if (mask & ~(IB_WQ_STATE | IB_WQ_CUR_STATE))
		return -EOPNOTSUPP;
	if (attr->wq_state > IB_WQS_ERR || attr->curr_wq_state > IB_WQS_ERR)
		return -EINVAL;
	if (!(mask & IB_WQ_STATE))
		return 0;
	/* Out of error leads only the way over reset. */
	if (attr->wq_state == IB_WQS_RDY)
		from &= ~BIT(BELLHOP_QPS_ERR);
	if (mask & IB_WQ_CUR_STATE)
		from &= BIT(state_of(attr->curr_wq_state));
	err = bellhop_qp_move(&wq->qp, from, state_of(attr->wq_state));
	if (!err)
		ibwq->state = attr->wq_state;
	return err;
}

int bellhop_wq_destroy(struct ib_wq *ibwq, struct ib_udata *udata)
{
	struct bellhop_wq *wq = bellhop_wq_of(ibwq);

	bellhop_qp_end(&wq->qp);
	kfree(wq);
	return 0;
}
