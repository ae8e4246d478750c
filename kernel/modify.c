// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* modify.c: the QP's states and attributes (IBA 10.3.1, 11.2.4.2). */
#include <rdma/ib_cache.h>
#include "device.h"
#include "fault.h"
#include "port.h"
#include "proto/psn.h"
#include "qp.h"
#include "receive.h"
#include "rendezvous.h"
#include "run.h"
#include "slot.h"
#include "stream.h"

/* That the pages of regions are on demand says nothing of a QP, but programs use one set of flags.
 */
#define QP_ACCESS                                                                                  \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |                  \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ACCESS_ON_DEMAND)

static int check_path(const struct bellhop_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if ((mask & IB_QP_PORT) && attr->port_num != 1)
		return -EINVAL;
	if ((mask & IB_QP_PKEY_INDEX) && attr->pkey_index)
		return -EINVAL;
	if ((mask & IB_QP_PATH_MTU) &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > bellhop_port_mtu(qp->device)))
		return -EINVAL;
	if ((mask & IB_QP_AV) && !(rdma_ah_get_ah_flags(&attr->ah_attr) & IB_AH_GRH))
		return -EINVAL;
	if ((mask & IB_QP_DEST_QPN) && attr->dest_qp_num > BELLHOP_QPN_MAX)
		return -EINVAL;
	return 0;
}

static int check_limits(const struct ib_qp_attr *attr, int mask)
{
	if ((mask & IB_QP_ACCESS_FLAGS) && (attr->qp_access_flags & ~QP_ACCESS))
		return -EINVAL;
	if ((mask & IB_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > BELLHOP_MAX_RD_ATOMIC)
		return -EINVAL;
	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > BELLHOP_MAX_RD_ATOMIC)
		return -EINVAL;
	if (((mask & IB_QP_TIMEOUT) && attr->timeout > 31) ||
	    ((mask & IB_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31) ||
	    ((mask & IB_QP_RETRY_CNT) && attr->retry_cnt > 7) ||
	    ((mask & IB_QP_RNR_RETRY) && attr->rnr_retry > 7))
		return -EINVAL;
	return 0;
}

static int check(const struct bellhop_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state now = (enum ib_qp_state)bellhop_qp_state(qp);
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : now;
	int err;

	/* Without queues there are no states: what others receive is theirs to stop. */
	if (qp->recv.rss)
		return -EOPNOTSUPP;
	/* Automatic path migration and resizing of the queues. */
	if ((mask & ~IB_QP_ATTR_STANDARD_BITS) || (mask & (IB_QP_ALT_PATH | IB_QP_CAP)))
		return -EOPNOTSUPP;
	if ((mask & IB_QP_PATH_MIG_STATE) && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	if ((mask & IB_QP_CUR_STATE) && attr->cur_qp_state != now)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(now, next, qp->ibqp.qp_type, mask))
		return -EINVAL;
	err = check_path(qp, attr, mask);
	return err ?: check_limits(attr, mask);
}

/* What was told stays readable: the whole of it, as it was told. */
static void remember(struct ib_qp_attr *to, const struct ib_qp_attr *from, int mask)
{
#define KEEP(bit, field)                                                                           \
	do {                                                                                       \
		if (mask & (bit))                                                                  \
			to->field = from->field;                                                   \
	} while (0)
	KEEP(IB_QP_ACCESS_FLAGS, qp_access_flags);
	KEEP(IB_QP_PKEY_INDEX, pkey_index);
	KEEP(IB_QP_PORT, port_num);
	KEEP(IB_QP_QKEY, qkey);
	KEEP(IB_QP_AV, ah_attr);
	KEEP(IB_QP_PATH_MTU, path_mtu);
	KEEP(IB_QP_TIMEOUT, timeout);
	KEEP(IB_QP_RETRY_CNT, retry_cnt);
	KEEP(IB_QP_RNR_RETRY, rnr_retry);
	KEEP(IB_QP_RQ_PSN, rq_psn);
	KEEP(IB_QP_SQ_PSN, sq_psn);
	KEEP(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	KEEP(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	KEEP(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	KEEP(IB_QP_DEST_QPN, dest_qp_num);
	KEEP(IB_QP_PATH_MIG_STATE, path_mig_state);
	KEEP(IB_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
#undef KEEP
	/* The core holds the GID while the QP uses it; this copy must not outlive that. */
	to->ah_attr.grh.sgid_attr = NULL;
}

/* A library begins its end of the ring anew by itself. */
static void rewind_queue(struct bellhop_work_ring *ring, struct bellhop_ledger *ledger)
{
	bellhop_ring_rewind(ring);
	if (ledger->ids) {
		bellhop_ledger_reset(ledger);
		WRITE_ONCE(ring->hdr->producer, 0);
	}
}

static void reset(struct bellhop_qp *qp)
{
	struct bellhop_sender *send = &qp->send;
	struct bellhop_receiver *recv = &qp->recv;
	struct ib_qp_cap cap = qp->attr.cap;

	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.cap = cap;

	rewind_queue(&send->ring, &qp->send_ledger);
	bellhop_rendezvous_abandon(qp);
	send->busy = false;
	send->executed = false;
	send->resume_ns = 0;
	send->retry.absent_since_ns = 0;
	bellhop_fault_put(send->fault);
	send->fault = NULL;
	send->sqd_notify = false;
	rewind_queue(&recv->ring, &qp->recv_ledger);
	bellhop_receive_abandon(qp);
	recv->established = false;
	recv->left_srq = false;
	recv->epoch = bellhop_qp_new_epoch();
	WRITE_ONCE(recv->waiter_qpn, 0);
	bellhop_ring_want(&recv->ring, false);
	WRITE_ONCE(qp->reason, BELLHOP_REASON_NONE);
}

static void apply(struct bellhop_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct bellhop_sender *send = &qp->send;
	struct bellhop_receiver *recv = &qp->recv;

	if (mask & IB_QP_ACCESS_FLAGS)
		recv->rules.access = attr->qp_access_flags;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		recv->rules.max_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		recv->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_QKEY)
		recv->rules.qkey = attr->qkey;
	if (mask & IB_QP_SQ_PSN)
		send->psn = attr->sq_psn & BELLHOP_PSN_MASK;
	if (mask & IB_QP_DEST_QPN) {
		send->peer_qpn = attr->dest_qp_num;
		recv->rules.source_qpn = attr->dest_qp_num;
	}
	if (mask & IB_QP_AV) {
		const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);

		recv->gid = grh->sgid_attr->gid;
		send->peer_gid = grh->dgid;
	}
	if (mask & IB_QP_TIMEOUT)
		send->retry.timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		send->retry.retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		send->retry.rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		send->max_rd_atomic = attr->max_rd_atomic;
	if ((mask & IB_QP_STATE) && attr->qp_state != IB_QPS_SQD)
		send->sqd_notify = false;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		send->sqd_notify = attr->en_sqd_async_notify;
	if (mask & IB_QP_STATE) {
		WRITE_ONCE(recv->rules.state, (enum bellhop_qp_state)attr->qp_state);
		if (attr->qp_state == IB_QPS_RESET)
			reset(qp);
		else if (attr->qp_state == IB_QPS_ERR)
			bellhop_ring_want(&recv->ring, true);
	}
}

/* Nobody executes the QP, or a request on it, until release(). */
static void hold(struct bellhop_qp *qp) __acquires(&qp->slot->lock)
{
	mutex_lock(&qp->modify_lock);
	bellhop_run_hold(qp);
	spin_lock_bh(&qp->slot->lock);
}

static void release(struct bellhop_qp *qp) __releases(&qp->slot->lock)
{
	spin_unlock_bh(&qp->slot->lock);
	bellhop_run_release(qp);
	mutex_unlock(&qp->modify_lock);
}

/* Begins and ends the connection, if there is one. Returns what is not needed. */
static struct bellhop_stream *change_stream(struct bellhop_qp *qp, const struct ib_qp_attr *attr,
					    int mask, struct bellhop_stream *stream)
{
	if ((mask & IB_QP_STATE) && attr->qp_state == IB_QPS_RESET)
		swap(qp->stream, stream);
	if (stream && (mask & IB_QP_STATE) && attr->qp_state == IB_QPS_RTR) {
		swap(qp->stream, stream);
		bellhop_stream_receive_from(qp, attr->rq_psn);
	}
	if (qp->stream && (mask & IB_QP_SQ_PSN))
		bellhop_stream_send_from(qp, attr->sq_psn & BELLHOP_PSN_MASK);
	return stream;
}

int bellhop_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct bellhop_qp *qp = bellhop_qp_of(ibqp);
	struct bellhop_stream *stream = bellhop_stream_create(qp, attr, mask);
	int err;

	if (IS_ERR(stream))
		return PTR_ERR(stream);
	hold(qp);
	/* Checked here, since a peer can put the QP in error until the lock is held. */
	err = check(qp, attr, mask);
	if (!err) {
		remember(&qp->attr, attr, mask);
		apply(qp, attr, mask);
		stream = change_stream(qp, attr, mask, stream);
	}
	release(qp);
	bellhop_stream_destroy(stream);
	return err;
}

int bellhop_qp_move(struct bellhop_qp *qp, u32 from, enum bellhop_qp_state to)
{
	const struct ib_qp_attr attr = { .qp_state = (enum ib_qp_state)to };
	int err = -EINVAL;

	hold(qp);
	if (from & BIT(bellhop_qp_state(qp))) {
		apply(qp, &attr, IB_QP_STATE);
		err = 0;
	}
	release(qp);
	return err;
}

int bellhop_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_qp_init_attr *init_attr)
{
	struct bellhop_qp *qp = bellhop_qp_of(ibqp);

	mutex_lock(&qp->modify_lock);
	*attr = qp->attr;
	mutex_unlock(&qp->modify_lock);
	attr->qp_state = (enum ib_qp_state)bellhop_qp_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD && READ_ONCE(qp->send.busy);

	init_attr->event_handler = ibqp->event_handler;
	init_attr->qp_context = ibqp->qp_context;
	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->srq = ibqp->srq;
	init_attr->qp_type = ibqp->qp_type;
	init_attr->cap = attr->cap;
	init_attr->create_flags = qp->send.spared_qpn ? IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0;
	init_attr->sq_sig_type = qp->send.signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}
