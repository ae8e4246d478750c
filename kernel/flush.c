// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* flush.c: flushes both queues in the order in which they were posted (IBA 10.8.6.4). */
#include "device.h"
#include "flush.h"
#include "qp.h"
#include "receive.h"
#include "rendezvous.h"
#include "run.h"
#include "send.h"
#include "slot.h"
#include "stream.h"
#include "xrcd.h"

static bool flush_send(struct bellhop_qp *qp)
{
	struct bellhop_sender *send = &qp->send;

	if (!send->busy && !(qp->stream && bellhop_stream_take_back(qp)) &&
	    !bellhop_rendezvous_fetch(qp)) {
		/* An impossible producer index says nothing about what was posted. */
		if (bellhop_ring_pending(&send->ring) <= 0)
			return false;
		/* Whatever is wrong with the entry does not matter any more. */
		bellhop_wqe_decode_send(&send->wqe, bellhop_ring_front(&send->ring), &send->limits);
		send->index = bellhop_ring_take(&send->ring);
	}
	bellhop_send_complete(qp, BELLHOP_WC_WR_FLUSH_ERR, BELLHOP_REASON_FLUSHED);
	return true;
}

static bool flush_receive(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;
	bool flushed = false;
	bool entered;

	spin_lock(&qp->slot->lock);
	entered = bellhop_xrcd_enter_taken(qp);
	/* The state is looked at again: here it cannot change. */
	if (bellhop_state_flushes(recv->rules.state)) {
		if (!recv->busy && bellhop_ring_pending(&recv->ring) > 0) {
			recv->index = bellhop_ring_take(&recv->ring);
			recv->busy = true;
		}
		flushed = recv->busy;
	}
	if (flushed)
		bellhop_receive_fail(qp, BELLHOP_WC_WR_FLUSH_ERR, BELLHOP_REASON_FLUSHED);
	if (entered)
		bellhop_xrcd_leave(qp);
	spin_unlock(&qp->slot->lock);
	return flushed;
}

/* Of what was taken from an SRQ, nothing is left to complete here (IBA 11.6.3.1). */
static void report_left(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;
	bool report = false;

	spin_lock(&qp->slot->lock);
	if (bellhop_state_flushes(recv->rules.state) && !recv->left_srq) {
		recv->left_srq = true;
		report = true;
	}
	spin_unlock(&qp->slot->lock);
	if (report)
		bellhop_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

bool bellhop_flush_step(struct bellhop_qp *qp, struct bellhop_share *share)
{
	bool sent = flush_send(qp);
	bool received = flush_receive(qp);

	if (sent || received) {
		this_cpu_add(qp->device->counters.own[BELLHOP_COUNTER_FLUSHED], sent + received);
		share->wqes--;
	} else if (!qp->recv.xrcd && qp->recv.srq) {
		report_left(qp);
	}
	return sent || received;
}
