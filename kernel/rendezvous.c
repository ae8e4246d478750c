// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* rendezvous.c: makes the requests of rendezvous, and completes their buffers. */
#include "cq.h"
#include "device.h"
#include "qp.h"
#include "rendezvous.h"
#include "run.h"
#include "slot.h"
#include "srq.h"
#include "tag.h"

void bellhop_rendezvous_add(struct bellhop_qp *qp, struct bellhop_tagged *buffer)
{
	lockdep_assert_held(&qp->slot->lock);

	list_add_tail(&buffer->list, &qp->rendezvous);
	bellhop_run_defer(qp);
}

static void begin_request(struct bellhop_sender *send, enum bellhop_wr_opcode opcode, u32 length)
{
	memset(&send->wqe.head, 0, sizeof(send->wqe.head));
	send->wqe.head.opcode = opcode;
	send->wqe.op = bellhop_opcode_row(opcode);
	send->wqe.length = length;
	send->busy = true;
	send->begun = false;
	send->moved = 0;
	/* It has no number of its own, by which it could be told from the one before. */
	send->retry.absent_since_ns = 0;
	bellhop_retry_progress(&send->retry);
}

/* Of the buffer's elements those that the payload fills; it has room enough. */
static void begin_read(struct bellhop_sender *send, const struct bellhop_tagged *buffer)
{
	struct bellhop_send_wqe *wqe = &send->wqe;
	u32 left = buffer->tmh.length;
	u32 i;

	begin_request(send, BELLHOP_WR_RDMA_READ, left);
	wqe->head.remote_addr = buffer->tmh.addr;
	wqe->head.rkey = buffer->tmh.rkey;
	for (i = 0; left && i < buffer->num_sge; i++) {
		wqe->sge[i] = buffer->sge[i];
		wqe->sge[i].length = min(left, buffer->sge[i].length);
		left -= wqe->sge[i].length;
	}
	wqe->head.num_sge = i;
}

static void begin_fin(struct bellhop_sender *send, const struct bellhop_tagged *buffer)
{
	begin_request(send, BELLHOP_WR_SEND, sizeof(buffer->header));
	send->wqe.head.flags = BELLHOP_SQE_INLINE;
	memcpy(send->wqe.data, buffer->header, sizeof(buffer->header));
	bellhop_tmh_finish(send->wqe.data);
}

bool bellhop_rendezvous_fetch(struct bellhop_qp *qp)
{
	struct bellhop_tagged *buffer;

	spin_lock(&qp->slot->lock);
	buffer = list_first_entry_or_null(&qp->rendezvous, struct bellhop_tagged, list);
	spin_unlock(&qp->slot->lock);
	if (!buffer)
		return false;
	qp->send.is_own = true;
	begin_read(&qp->send, buffer);
	return true;
}

/* The buffer is in no list any more. Returns as bellhop_cq_push(). */
static int end(struct bellhop_qp *qp, struct bellhop_tagged *buffer, enum bellhop_wc_status status,
	       enum bellhop_reason reason)
{
	struct bellhop_srq *srq = qp->recv.srq;
	struct bellhop_completion completion = {
		.wr_id = buffer->wr_id,
		.qpn = qp->recv.cqe_qpn,
		.wqe_index = srq->ibsrq.ext.xrc.srq_num,
		.byte_len = buffer->tmh.length,
		.vendor_err = reason,
		.opcode = BELLHOP_WC_TM_RECV,
		.status = status,
		.wc_flags = bellhop_tag_flags(srq),
	};

	if (status == BELLHOP_WC_SUCCESS)
		completion.wc_flags |= BELLHOP_WC_TM_DATA_VALID;
	bellhop_tag_end(srq, buffer);
	return bellhop_cq_push(qp->recv_cq, qp, &completion, true);
}

int bellhop_rendezvous_complete(struct bellhop_qp *qp, enum bellhop_wc_status status,
				enum bellhop_reason reason)
{
	struct bellhop_sender *send = &qp->send;
	struct bellhop_tagged *buffer;

	/* It has been the first one since it was begun with: others are added behind it. */
	spin_lock(&qp->slot->lock);
	buffer = list_first_entry(&qp->rendezvous, struct bellhop_tagged, list);
	send->is_own = status == BELLHOP_WC_SUCCESS && (send->wqe.op->traits & BELLHOP_OP_READ);
	if (!send->is_own)
		list_del(&buffer->list);
	spin_unlock(&qp->slot->lock);
	if (!send->is_own)
		return end(qp, buffer, status, reason);
	begin_fin(send, buffer);
	return 0;
}

void bellhop_rendezvous_abandon(struct bellhop_qp *qp)
{
	struct bellhop_tagged *buffer, *next;

	qp->send.is_own = false;
	list_for_each_entry_safe(buffer, next, &qp->rendezvous, list)
	{
		list_del(&buffer->list);
		end(qp, buffer, BELLHOP_WC_WR_FLUSH_ERR, BELLHOP_REASON_FLUSHED);
	}
}
