// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* qp.c: the lifetime of queue pairs. */
#include <linux/bottom_half.h>
#include "cq.h"
#include "device.h"
#include "fault.h"
#include "mapping.h"
#include "pd.h"
#include "proto/quota.h"
#include "qp.h"
#include "receive.h"
#include "rendezvous.h"
#include "rss.h"
#include "run.h"
#include "slot.h"
#include "srq.h"
#include "stream.h"
#include "ucontext.h"

static_assert((int)BELLHOP_QPS_RESET == IB_QPS_RESET);
static_assert((int)BELLHOP_QPS_RTS == IB_QPS_RTS);
static_assert((int)BELLHOP_QPS_ERR == IB_QPS_ERR);
static_assert(BELLHOP_MAX_QP < 1 << BELLHOP_SLOT_BITS);

u64 bellhop_qp_new_epoch(void)
{
	static atomic64_t epochs;

	return atomic64_inc_return(&epochs);
}

void bellhop_qp_event(struct bellhop_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.event = type,
		.element.qp = &qp->ibqp,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

void bellhop_qp_fail(struct bellhop_qp *qp, enum bellhop_reason reason)
{
	lockdep_assert_held(&qp->slot->lock);

	WRITE_ONCE(qp->reason, reason);
	if (qp->recv.rules.state < BELLHOP_QPS_RTR)
		return;
	if (qp->recv.rules.state != BELLHOP_QPS_ERR)
		bellhop_counters_count(&qp->device->counters, BELLHOP_COUNTER_QP_ERRORS);
	WRITE_ONCE(qp->recv.rules.state, BELLHOP_QPS_ERR);
	/* From now on every receive that is posted is to be flushed. */
	bellhop_ring_want(&qp->recv.ring, true);
}

void bellhop_qp_fail_send(struct bellhop_qp *qp, enum bellhop_reason reason)
{
	struct bellhop_responder *rules = &qp->recv.rules;

	lockdep_assert_held(&qp->slot->lock);

	if (bellhop_state_after_send_error(rules->state, qp->send.limits.service) ==
	    BELLHOP_QPS_ERR) {
		bellhop_qp_fail(qp, reason);
		return;
	}
	WRITE_ONCE(qp->reason, reason);
	WRITE_ONCE(rules->state, BELLHOP_QPS_SQE);
}

/* 0 where there is none of the type. */
static enum bellhop_service service_of(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return BELLHOP_SERVICE_RC;
	case IB_QPT_UC:
		return BELLHOP_SERVICE_UC;
	case IB_QPT_UD:
	case IB_QPT_GSI:
		return BELLHOP_SERVICE_UD;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return BELLHOP_SERVICE_XRC;
	case IB_QPT_RAW_PACKET:
		return BELLHOP_SERVICE_RAW;
	default:
		return 0;
	}
}

/* Of what is given to other receive queues, there is no other queue. */
static bool may_send(const struct ib_qp_init_attr *attr)
{
	return attr->qp_type != IB_QPT_XRC_TGT && !attr->rwq_ind_tbl;
}

static bool may_receive(const struct ib_qp_init_attr *attr)
{
	return attr->qp_type != IB_QPT_XRC_INI && attr->qp_type != IB_QPT_XRC_TGT &&
	       !attr->rwq_ind_tbl;
}

/* What is asked for of a queue that there cannot be means nothing. */
static void forget_absent(struct ib_qp_init_attr *attr)
{
	if (!may_send(attr)) {
		attr->send_cq = NULL;
		attr->cap.max_send_wr = 0;
		attr->cap.max_send_sge = 0;
		attr->cap.max_inline_data = 0;
	}
	if (!may_receive(attr)) {
		attr->cap.max_recv_wr = 0;
		attr->cap.max_recv_sge = 0;
		attr->recv_cq = NULL;
		/* Which ones a target QP takes entries of is the requester's choice. */
		attr->srq = NULL;
	}
}

static int check_init(const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (attr->create_flags & ~IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		return -EOPNOTSUPP;
	if (!service_of(attr->qp_type))
		return -EOPNOTSUPP;
	if (attr->create_flags && attr->qp_type != IB_QPT_UD)
		return -EINVAL;
	if ((may_send(attr) && !attr->send_cq) || (may_receive(attr) && !attr->recv_cq) ||
	    (attr->qp_type == IB_QPT_XRC_TGT && !attr->xrcd))
		return -EINVAL;
	if (cap->max_send_wr > BELLHOP_MAX_QP_WR || cap->max_recv_wr > BELLHOP_MAX_QP_WR ||
	    cap->max_send_sge > BELLHOP_MAX_SGE || cap->max_recv_sge > BELLHOP_MAX_SGE ||
	    cap->max_inline_data > BELLHOP_MAX_INLINE)
		return -EINVAL;
	return 0;
}

/* The QP itself reads what a rendezvous brings to buffers of the SRQ. */
static int check_tags(const struct ib_qp *ibqp, const struct ib_qp_init_attr *attr)
{
	const struct bellhop_srq *srq = attr->srq ? bellhop_srq_of(attr->srq) : NULL;

	if (!srq || !srq->tags)
		return 0;
	return attr->qp_type == IB_QPT_RC && bellhop_pd_number(ibqp->pd) == srq->pdn ? 0 : -EINVAL;
}

/* A ring of @wr entries or more; none when @wr is 0. */
static struct bellhop_mapping *create_ring(struct ib_ucontext *ibucontext, u32 wr, u32 stride,
					   struct bellhop_work_ring *ring,
					   struct bellhop_ring_map *map)
{
	struct bellhop_mapping *mapping;

	if (!wr)
		return NULL;
	mapping = bellhop_mapping_create_ring(ibucontext, wr, stride, map);
	if (IS_ERR(mapping))
		return mapping;
	ring->hdr = mapping->memory;
	ring->mask = map->slots - 1;
	ring->stride = stride;
	return mapping;
}

static int create_rings(struct bellhop_qp *qp, struct ib_ucontext *ibucontext,
			struct ib_qp_init_attr *attr, struct bellhop_create_qp_resp *resp)
{
	struct bellhop_sender *send = &qp->send;
	struct bellhop_receiver *recv = &qp->recv;
	struct ib_qp_cap *cap = &attr->cap;

	send->limits.max_sge = cap->max_send_sge;
	send->limits.max_inline = cap->max_inline_data;
	send->limits.service = attr->send_cq ? service_of(attr->qp_type) : 0;
	/* Some programs send inline what they have not asked for. */
	if (attr->send_cq)
		cap->max_inline_data = bellhop_wqe_inline_room(&send->limits);
	send->limits.max_inline = cap->max_inline_data;
	qp->sq_mapping =
		create_ring(ibucontext, cap->max_send_wr, bellhop_wqe_send_stride(&send->limits),
			    &send->ring, &resp->sq);
	if (IS_ERR(qp->sq_mapping))
		return PTR_ERR(qp->sq_mapping);

	if (recv->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	}
	recv->limits.max_sge = cap->max_recv_sge;
	qp->rq_mapping =
		create_ring(ibucontext, cap->max_recv_wr, bellhop_wqe_recv_stride(&recv->limits),
			    &recv->ring, &resp->rq);
	if (IS_ERR(qp->rq_mapping)) {
		bellhop_mapping_destroy(qp->sq_mapping);
		return PTR_ERR(qp->rq_mapping);
	}
	cap->max_send_wr = resp->sq.slots;
	cap->max_recv_wr = resp->rq.slots;
	return 0;
}

static int create_ledgers(struct bellhop_qp *qp, const struct bellhop_create_qp_resp *resp)
{
	return bellhop_ledger_create(&qp->send_ledger, resp->sq.slots)
		       ?: bellhop_ledger_create(&qp->recv_ledger, resp->rq.slots);
}

static void free_rings(struct bellhop_qp *qp)
{
	bellhop_ledger_destroy(&qp->recv_ledger);
	bellhop_ledger_destroy(&qp->send_ledger);
	bellhop_mapping_destroy(qp->rq_mapping);
	bellhop_mapping_destroy(qp->sq_mapping);
}

static void set_sides(struct bellhop_qp *qp, const struct ib_qp_init_attr *attr)
{
	struct bellhop_receiver *recv = &qp->recv;

	qp->send_cq = attr->send_cq ? bellhop_cq_of(attr->send_cq) : NULL;
	qp->recv_cq = attr->recv_cq ? bellhop_cq_of(attr->recv_cq) : NULL;
	INIT_LIST_HEAD(&qp->rendezvous);
	qp->send.signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	recv->srq = attr->srq ? bellhop_srq_of(attr->srq) : NULL;
	recv->xrcd = attr->qp_type == IB_QPT_XRC_TGT ? attr->xrcd : NULL;
	recv->pdn = recv->srq ? recv->srq->pdn : qp->pdn;
	recv->matches = recv->srq && recv->srq->tags;
	if (recv->matches) {
		qp->recv_cq = bellhop_cq_of(attr->srq->ext.cq);
		recv->index = attr->srq->ext.xrc.srq_num;
	}
	recv->rules.service = attr->qp_type == IB_QPT_XRC_INI ? 0 : service_of(attr->qp_type);
	recv->epoch = bellhop_qp_new_epoch();
}

int bellhop_qp_begin(struct bellhop_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct bellhop_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct bellhop_ucontext, ibucontext);
	struct bellhop_create_qp_resp resp = {};
	int err;

	if (ucontext && udata->outlen < sizeof(resp))
		return -EINVAL;
	qp->device = bellhop_device_of(qp->ibqp.device);
	err = bellhop_quota_take(&qp->device->used.qps, BELLHOP_MAX_QP);
	if (err)
		return err;
	qp->pdn = qp->ibqp.pd ? bellhop_pd_number(qp->ibqp.pd) : BELLHOP_PD_NONE;
	qp->id = bellhop_qp_new_epoch();
	if (!attr->send_cq && !attr->recv_cq)
		qp->context_id = BELLHOP_QP_UNUSABLE;
	else
		qp->context_id = ucontext ? ucontext->id : 0;
	set_sides(qp, attr);
	mutex_init(&qp->modify_lock);
	bellhop_run_setup(qp);

	err = create_rings(qp, ucontext ? &ucontext->ibucontext : NULL, attr, &resp);
	if (err)
		goto err_quota;
	if (!ucontext) {
		err = create_ledgers(qp, &resp);
		if (err)
			goto err_rings;
	}
	qp->attr.cap = attr->cap;
	qp->slot = bellhop_slot_alloc(&qp->qpn);
	if (IS_ERR(qp->slot)) {
		err = PTR_ERR(qp->slot);
		goto err_rings;
	}
	if (attr->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		qp->send.spared_qpn = qp->qpn;
	err = ucontext ? ib_copy_to_udata(udata, &resp, sizeof(resp)) : 0;
	if (err)
		goto err_slot;
	qp->recv.cqe_qpn = qp->qpn;
	if (qp->recv.xrcd || qp->recv.matches)
		qp->recv.cqe_qpn |= BELLHOP_CQE_SRQ;
	bellhop_counters_add(qp);
	bellhop_slot_publish(qp->slot, qp->qpn, qp);
	return 0;

err_slot:
	bellhop_slot_free(qp->qpn);
err_rings:
	free_rings(qp);
err_quota:
	bellhop_quota_give(&qp->device->used.qps);
	return err;
}

void bellhop_qp_end(struct bellhop_qp *qp)
{
	/* No peer, kick or waiter finds it any more; then its own runner ends. */
	bellhop_slot_withdraw(qp->slot);
	bellhop_run_stop(qp);
	local_bh_disable();
	bellhop_receive_abandon(qp);
	bellhop_rendezvous_abandon(qp);
	local_bh_enable();
	bellhop_fault_put(qp->send.fault);
	bellhop_stream_destroy(qp->stream);
	bellhop_counters_keep(qp);
	bellhop_slot_free(qp->qpn);
	free_rings(qp);
	bellhop_quota_give(&qp->device->used.qps);
}

int bellhop_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct bellhop_qp *qp = bellhop_qp_of(ibqp);
	int err;

	if (attr->rwq_ind_tbl && (attr->qp_type != IB_QPT_RAW_PACKET || attr->cap.max_send_wr))
		return -EOPNOTSUPP;
	forget_absent(attr);
	err = check_init(attr);
	if (!err)
		err = check_tags(ibqp, attr);
	if (err)
		return err;
	if (attr->rwq_ind_tbl) {
		qp->recv.rss = bellhop_rss_create(attr->rwq_ind_tbl, udata);
		if (IS_ERR(qp->recv.rss))
			return PTR_ERR(qp->recv.rss);
	}
	err = bellhop_qp_begin(qp, attr, udata);
	if (err) {
		kfree(qp->recv.rss);
		return err;
	}
	ibqp->qp_num = qp->qpn;
	if (ibqp->qp_type == IB_QPT_GSI) {
		ibqp->qp_num = BELLHOP_GSI_QPN;
		bellhop_gsi_add(&qp->gsi, qp->device, qp->qpn);
	}
	return 0;
}

int bellhop_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct bellhop_qp *qp = bellhop_qp_of(ibqp);

	if (ibqp->qp_type == IB_QPT_GSI)
		bellhop_gsi_remove(&qp->gsi);
	bellhop_qp_end(qp);
	kfree(qp->recv.rss);
	return 0;
}
