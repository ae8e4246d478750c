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

/* As if it were an entry, which has room for the message's headers as well. */
static void use_tagged(struct bellhop_receiver *recv, u32 length)
{
	struct bellhop_tagged *buffer = recv->tagged;

	recv->busy = true;
	recv->wqe.wr_id = buffer->wr_id;
	recv->wqe.num_sge = buffer->num_sge;
	recv->wqe.length = buffer->length + BELLHOP_TMH_BYTES;
	memcpy(recv->wqe.sge, buffer->sge, sizeof(buffer->sge));
	if (recv->tmh.op == BELLHOP_TMH_EAGER)
		return;
	/* What may follow is for who has no buffer that matches. */
	recv->wqe.length = length;
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

/* From the message's own bytes, or the headers that were looked at, to what it has taken. */
static struct bellhop_copy_result carry(struct bellhop_qp *qp, struct bellhop_qp *peer,
					struct bellhop_cursor from, u32 from_offset, u32 to_offset,
					u32 bytes)
{
	struct bellhop_cursor to = bellhop_cursor_receive(peer, &qp->send.fault, qp->qpn);
	struct bellhop_copy_result result = {};

	if (!bytes)
		return result;
	bellhop_cursor_seek(&from, from_offset);
	bellhop_cursor_seek(&to, to_offset);
	result = bellhop_copy(&to, &from, bytes, true);
	bellhop_cursor_end(&from);
	bellhop_cursor_end(&to);
	return result;
}

struct bellhop_copy_result bellhop_match_carry(struct bellhop_qp *qp, struct bellhop_qp *peer,
					       u32 bytes)
{
	struct bellhop_receiver *recv = &peer->recv;
	struct bellhop_cursor header = bellhop_cursor_memory(recv->header, sizeof(recv->header));
	struct bellhop_cursor own = bellhop_cursor_own(qp, 0);
	u32 begin = qp->send.moved, end = begin + bytes, headers;
	struct bellhop_copy_result result = {};

	lockdep_assert_held(&peer->slot->lock);

	if (!recv->tagged) {
		/* As they were looked at, whatever its sender has made of them. */
		headers = begin ? 0 : min(bytes, BELLHOP_TMH_MAX);
		result = carry(qp, peer, header, 0, 0, headers);
		begin += headers;
		return result.reason ? result : carry(qp, peer, own, begin, begin, end - begin);
	}
	if (recv->tmh.op == BELLHOP_TMH_EAGER) {
		begin = clamp(BELLHOP_TMH_BYTES, begin, end);
		return carry(qp, peer, own, begin, begin - BELLHOP_TMH_BYTES, end - begin);
	}
	/* With too little room for the payload, its owner gets what it needs to read it. */
	if (!has_room(recv) && !begin)
		result = carry(qp, peer, header, 0, 0,
			       min_t(u64, BELLHOP_TMH_MAX, recv->tagged->length));
	return result;
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
