// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* match.c: looks at the tags of messages, and gives them the buffers that are for them. */
#include "match.h"
#include "qp.h"
#include "receive.h"
#include "rendezvous.h"
#include "slot.h"
#include "srq.h"
#include "tag.h"

/* The message's own bytes may change afterwards: what was decided by these stays decided. */
struct bellhop_copy_result bellhop_match_peek(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	struct bellhop_receiver *recv = &peer->recv;
	u32 length = min_t(u32, qp->send.wqe.length, BELLHOP_TMH_MAX);
	struct bellhop_cursor to = bellhop_cursor_memory(recv->header, length);
	struct bellhop_cursor own = bellhop_cursor_own(qp, 0);
	struct bellhop_copy_result result = {};

	lockdep_assert_held(&peer->slot->lock);

	/* One that is on its way has its header there. */
	if (recv->busy)
		return result;
	recv->tmh.op = BELLHOP_TMH_NO_TAG;
	if (!(qp->send.wqe.op->traits & BELLHOP_OP_SCATTER))
		return result;
	if (length) {
		bellhop_cursor_seek(&to, 0);
		bellhop_cursor_seek(&own, 0);
		result = bellhop_copy(&to, &own, length, false);
		bellhop_cursor_end(&own);
	}
	if (!result.reason)
		bellhop_tmh_decode(&recv->tmh, recv->header, length);
	return result;
}

static bool has_room(const struct bellhop_receiver *recv)
{
	return recv->tmh.length <= min_t(u64, recv->tagged->length, BELLHOP_MAX_MESSAGE);
}

static void use_tagged(struct bellhop_receiver *recv, u32 length)
{
	struct bellhop_tagged *buffer = recv->tagged;

	recv->busy = true;
	recv->wqe.wr_id = buffer->wr_id;
	recv->wqe.num_sge = buffer->num_sge;
	recv->wqe.length = buffer->length;
	memcpy(recv->wqe.sge, buffer->sge, sizeof(buffer->sge));
	if (recv->tmh.op == BELLHOP_TMH_EAGER) {
		recv->skip = BELLHOP_TMH_BYTES;
		return;
	}
	/* What may follow is for who has no buffer that matches. */
	recv->skip = length;
	buffer->tmh = recv->tmh;
	memcpy(buffer->header, recv->header, sizeof(buffer->header));
}

enum bellhop_reason bellhop_match_take(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	struct bellhop_receiver *recv = &peer->recv;
	enum bellhop_reason reason;

	lockdep_assert_held(&peer->slot->lock);

	if (bellhop_tmh_is_tagged(&recv->tmh)) {
		recv->tagged = bellhop_tag_take(recv->srq, recv->tmh.tag);
		if (recv->tagged) {
			use_tagged(recv, qp->send.wqe.length);
			return BELLHOP_REASON_NONE;
		}
	}
	reason = bellhop_receive_take(peer, 0);
	if (reason)
		bellhop_match_give_back(peer);
	return reason;
}

/* The first bytes of it are those that were looked at, whatever its sender has made of them. */
static struct bellhop_copy_result carry_unmatched(struct bellhop_qp *qp, struct bellhop_qp *peer,
						  u32 bytes)
{
	u32 header = qp->send.moved ? 0 : min(bytes, BELLHOP_TMH_MAX);
	struct bellhop_cursor from = bellhop_cursor_memory(peer->recv.header, header);
	struct bellhop_cursor to = bellhop_cursor_receive(peer, &qp->send.fault, qp->qpn);
	struct bellhop_copy_result result = {};

	bellhop_cursor_seek(&from, 0);
	bellhop_cursor_seek(&to, qp->send.moved);
	if (header)
		result = bellhop_copy(&to, &from, header, header == bytes);
	if (!result.reason && bytes > header) {
		from = bellhop_cursor_own(qp, 0);
		bellhop_cursor_seek(&from, qp->send.moved + header);
		result = bellhop_copy(&to, &from, bytes - header, true);
		bellhop_cursor_end(&from);
	}
	bellhop_cursor_end(&to);
	return result;
}

/* There is too little room for the payload: its owner gets what it needs to read it. */
static struct bellhop_copy_result carry_headers(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	u32 length = min_t(u64, BELLHOP_TMH_MAX, peer->recv.wqe.length);
	struct bellhop_cursor from = bellhop_cursor_memory(peer->recv.header, length);
	struct bellhop_cursor to = bellhop_cursor_receive(peer, &qp->send.fault, qp->qpn);
	struct bellhop_copy_result result = {};

	if (!length)
		return result;
	bellhop_cursor_seek(&from, 0);
	bellhop_cursor_seek(&to, 0);
	result = bellhop_copy(&to, &from, length, true);
	bellhop_cursor_end(&to);
	return result;
}

static struct bellhop_copy_result carry_eager(struct bellhop_qp *qp, struct bellhop_qp *peer,
					      u32 bytes)
{
	struct bellhop_cursor from = bellhop_cursor_own(qp, 0);
	struct bellhop_cursor to = bellhop_cursor_receive(peer, &qp->send.fault, qp->qpn);
	u32 begin = max(qp->send.moved, BELLHOP_TMH_BYTES);
	u32 end = qp->send.moved + bytes;
	struct bellhop_copy_result result = {};

	if (end <= begin)
		return result;
	bellhop_cursor_seek(&from, begin);
	bellhop_cursor_seek(&to, begin - BELLHOP_TMH_BYTES);
	result = bellhop_copy(&to, &from, end - begin, true);
	bellhop_cursor_end(&from);
	bellhop_cursor_end(&to);
	return result;
}

struct bellhop_copy_result bellhop_match_carry(struct bellhop_qp *qp, struct bellhop_qp *peer,
					       u32 bytes)
{
	const struct bellhop_receiver *recv = &peer->recv;

	lockdep_assert_held(&peer->slot->lock);

	if (!recv->tagged)
		return carry_unmatched(qp, peer, bytes);
	if (recv->tmh.op == BELLHOP_TMH_EAGER)
		return carry_eager(qp, peer, bytes);
	if (!has_room(recv) && !qp->send.moved)
		return carry_headers(qp, peer);
	return (struct bellhop_copy_result){};
}

void bellhop_match_describe(struct bellhop_qp *qp, struct bellhop_completion *completion)
{
	const struct bellhop_receiver *recv = &qp->recv;

	lockdep_assert_held(&qp->slot->lock);

	completion->wc_flags |= bellhop_tag_flags(recv->srq);
	if (!bellhop_tmh_is_tagged(&recv->tmh)) {
		completion->opcode = BELLHOP_WC_TM_NO_TAG;
		return;
	}
	completion->opcode = BELLHOP_WC_TM_RECV;
	if (!recv->tagged)
		return;
	completion->wc_flags |= BELLHOP_WC_TM_MATCH;
	if (recv->tmh.op == BELLHOP_TMH_EAGER) {
		completion->wc_flags |= BELLHOP_WC_TM_DATA_VALID;
		completion->byte_len -= BELLHOP_TMH_BYTES;
		return;
	}
	completion->byte_len = recv->tmh.length;
	if (!has_room(recv))
		completion->status = BELLHOP_WC_TM_RNDV_INCOMPLETE;
}

static void forget(struct bellhop_receiver *recv)
{
	recv->tmh.op = BELLHOP_TMH_NO_TAG;
	recv->tagged = NULL;
	recv->skip = 0;
}

void bellhop_match_end(struct bellhop_qp *qp, enum bellhop_wc_status status)
{
	struct bellhop_receiver *recv = &qp->recv;

	lockdep_assert_held(&qp->slot->lock);

	if (recv->tagged && recv->tmh.op == BELLHOP_TMH_RNDV && status == BELLHOP_WC_SUCCESS)
		bellhop_rendezvous_add(qp, recv->tagged);
	else if (recv->tagged)
		bellhop_tag_end(recv->srq, recv->tagged);
	else if (bellhop_tmh_is_tagged(&recv->tmh) && status != BELLHOP_WC_SUCCESS)
		/* The owner cannot see that it was one which it has to count. */
		bellhop_tag_uncount(recv->srq);
	forget(recv);
}

bool bellhop_match_give_back(struct bellhop_qp *qp)
{
	struct bellhop_receiver *recv = &qp->recv;
	bool tagged = recv->tagged;

	if (tagged)
		bellhop_tag_give_back(recv->srq, recv->tagged);
	else if (bellhop_tmh_is_tagged(&recv->tmh))
		bellhop_tag_uncount(recv->srq);
	forget(recv);
	return tagged;
}
