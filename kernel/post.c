// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* post.c: the kernel's own end of rings; the other end is the same as for a library's. */
#include "ah.h"
#include "ledger.h"
#include "post.h"
#include "qp.h"
#include "run.h"
#include "srq.h"

static_assert((int)BELLHOP_WR_RDMA_WRITE == IB_WR_RDMA_WRITE);
static_assert((int)BELLHOP_WR_RDMA_WRITE_WITH_IMM == IB_WR_RDMA_WRITE_WITH_IMM);
static_assert((int)BELLHOP_WR_SEND == IB_WR_SEND);
static_assert((int)BELLHOP_WR_SEND_WITH_IMM == IB_WR_SEND_WITH_IMM);
static_assert((int)BELLHOP_WR_RDMA_READ == IB_WR_RDMA_READ);
static_assert((int)BELLHOP_WR_LOCAL_INV == IB_WR_LOCAL_INV);
static_assert((int)BELLHOP_WR_BIND_MW == IB_WR_BIND_MW);
static_assert((int)BELLHOP_WR_SEND_WITH_INV == IB_WR_SEND_WITH_INV);
static_assert((int)BELLHOP_SQE_FENCE == IB_SEND_FENCE);
static_assert((int)BELLHOP_SQE_SIGNALED == IB_SEND_SIGNALED);
static_assert((int)BELLHOP_SQE_SOLICITED == IB_SEND_SOLICITED);

/* Of kernel consumers these want what the device does not offer them. */
#define NOT_POSTED (BELLHOP_OP_ATOMIC | BELLHOP_OP_LOCAL | BELLHOP_OP_INVALIDATE)

static void encode_elements(void *to, const struct ib_sge *from, int num_sge)
{
	struct bellhop_sge *sge = to;
	int i;

	for (i = 0; i < num_sge; i++) {
		sge[i].addr = from[i].addr;
		sge[i].length = from[i].length;
		sge[i].lkey = from[i].lkey;
	}
}

static int encode_send(const struct bellhop_sender *send, void *slot, const struct ib_send_wr *wr)
{
	const struct bellhop_opcode *op;
	struct bellhop_sqe *sqe = slot;
	void *payload = sqe + 1;

	/* Those of other kernel consumers only, like IB_WR_REG_MR, are beyond the table. */
	op = bellhop_opcode_row(min_t(u32, wr->opcode, U8_MAX));
	if (!(op->services & send->limits.service) || (op->traits & NOT_POSTED) ||
	    wr->num_sge > send->limits.max_sge ||
	    (wr->send_flags & ~(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED)))
		return -EINVAL;
	*sqe = (struct bellhop_sqe){
		.opcode = wr->opcode,
		.flags = wr->send_flags,
		.num_sge = wr->num_sge,
	};
	if (op->traits & BELLHOP_OP_IMM)
		sqe->ex = (__force u32)wr->ex.imm_data;
	if (op->traits & BELLHOP_OP_REMOTE) {
		sqe->rkey = rdma_wr(wr)->rkey;
		sqe->remote_addr = rdma_wr(wr)->remote_addr;
	}
	if (send->limits.service == BELLHOP_SERVICE_UD) {
		struct bellhop_av *av = payload;

		*av = *bellhop_ah_av(ud_wr(wr)->ah);
		av->qpn = ud_wr(wr)->remote_qpn;
		av->qkey = ud_wr(wr)->remote_qkey;
		payload = av + 1;
	}
	encode_elements(payload, wr->sg_list, wr->num_sge);
	return 0;
}

/* Whether another entry may be written. */
static int admit(const struct bellhop_ledger *ledger, bool open)
{
	if (!ledger->ids || !open)
		return -EINVAL;
	return bellhop_ledger_is_full(ledger) ? -ENOMEM : 0;
}

static void publish(struct bellhop_work_ring *ring, const struct bellhop_ledger *ledger)
{
	smp_store_release(&ring->hdr->producer, ledger->producer); /* A, pairs with B */
	smp_mb(); /* G, pairs with H */
}

int bellhop_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad)
{
	struct bellhop_qp *qp = bellhop_qp_of(ibqp);
	struct bellhop_ledger *ledger = &qp->send_ledger;
	struct bellhop_work_ring *ring = &qp->send.ring;
	unsigned long flags;
	int err = 0;

	*bad = wr;
	if (qp->context_id)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&ledger->lock, flags);
	for (; wr; wr = wr->next) {
		err = admit(ledger, bellhop_qp_state(qp) >= BELLHOP_QPS_RTS);
		if (!err)
			err = encode_send(&qp->send, bellhop_ring_slot(ring, ledger->producer), wr);
		if (err)
			break;
		ledger->ids[ledger->producer++ & ledger->mask] = wr->wr_id;
	}
	if (ledger->ids)
		publish(ring, ledger);
	spin_unlock_irqrestore(&ledger->lock, flags);
	*bad = wr;
	bellhop_run_defer(qp);
	return err;
}

int bellhop_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	struct bellhop_qp *qp = bellhop_qp_of(ibqp);
	struct bellhop_ledger *ledger = &qp->recv_ledger;
	struct bellhop_work_ring *ring = &qp->recv.ring;
	unsigned long flags;
	bool wanted = false;
	int err = 0;

	*bad = wr;
	if (qp->context_id)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&ledger->lock, flags);
	for (; wr; wr = wr->next) {
		struct bellhop_rqe *rqe;

		err = admit(ledger, bellhop_qp_state(qp) != BELLHOP_QPS_RESET);
		if (!err && wr->num_sge > qp->recv.limits.max_sge)
			err = -EINVAL;
		if (err)
			break;
		rqe = bellhop_ring_slot(ring, ledger->producer);
		*rqe = (struct bellhop_rqe){ .num_sge = wr->num_sge };
		encode_elements(rqe + 1, wr->sg_list, wr->num_sge);
		ledger->ids[ledger->producer++ & ledger->mask] = wr->wr_id;
	}
	if (ledger->ids) {
		publish(ring, ledger);
		wanted = READ_ONCE(ring->hdr->wanted);
	}
	spin_unlock_irqrestore(&ledger->lock, flags);
	*bad = wr;
	if (wanted)
		bellhop_run_defer(qp);
	return err;
}

int bellhop_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	struct bellhop_srq *srq = bellhop_srq_of(ibsrq);
	struct bellhop_work_ring *ring = &srq->ring;
	unsigned long flags;
	int err = 0;

	*bad = wr;
	if (ibsrq->uobject)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&srq->post_lock, flags);
	for (; wr; wr = wr->next) {
		struct bellhop_rqe *rqe = bellhop_ring_slot(ring, srq->producer);

		if (wr->num_sge > srq->limits.max_sge)
			err = -EINVAL;
		else if (srq->producer - smp_load_acquire(&ring->hdr->taken) > ring->mask) /* L */
			err = -ENOMEM;
		if (err)
			break;
		*rqe = (struct bellhop_rqe){ .num_sge = wr->num_sge, .wr_id = wr->wr_id };
		encode_elements(rqe + 1, wr->sg_list, wr->num_sge);
		srq->producer++;
	}
	smp_store_release(&ring->hdr->producer, srq->producer); /* A, pairs with B */
	spin_unlock_irqrestore(&srq->post_lock, flags);
	*bad = wr;
	return err;
}
