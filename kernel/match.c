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
static struct bellhop_copy_result peek(struct bellhop_qp *qp, u8 *header, u32 length)
{
	struct bellhop_cursor to = bellhop_cursor_memory(header, length);
	struct bellhop_cursor own = bellhop_cursor_own(qp, 0);
	struct bellhop_copy_result result = {};

	if (!length)
		return result;
	bellhop_cursor_seek(&to, 0);
	bellhop_cursor_seek(&own, 0);
	result = bellhop_copy(&to, &own, length, false);
	bellhop_cursor_end(&own);
	return result;
}

/* Too little room for the payload: then the owner of the buffer gets what it needs to read it. */
static struct bellhop_copy_result put_header(struct bellhop_qp *qp, struct bellhop_qp *peer,
					     u8 *header)
{
	struct bellhop_cursor from = bellhop_cursor_memory(header, BELLHOP_TMH_MAX);
	struct bellhop_cursor to = bellhop_cursor_receive(peer, &qp->send.fault, qp->qpn);
	u32 length = min_t(u64, BELLHOP_TMH_MAX, peer->recv.wqe.length);
	struct bellhop_copy_result result = {};

	if (!length)
		return result;
	bellhop_cursor_seek(&from, 0);
	bellhop_cursor_seek(&to, 0);
	result = bellhop_copy(&to, &from, length, true);
	bellhop_cursor_end(&to);
	return result;
}

static bool has_room(const struct bellhop_receiver *recv)
{
	return recv->tmh.length <= recv->tagged->length;
}

static struct bellhop_copy_result use_tagged(struct bellhop_qp *qp, struct bellhop_qp *peer,
					     u8 *header)
{
	struct bellhop_receiver *recv = &peer->recv;
	struct bellhop_tagged *buffer = recv->tagged;
	struct bellhop_copy_result result = {};

	recv->busy = true;
	recv->wqe.wr_id = buffer->wr_id;
	recv->wqe.num_sge = buffer->num_sge;
	recv->wqe.length = buffer->length;
	memcpy(recv->wqe.sge, buffer->sge, sizeof(buffer->sge));
	if (recv->tmh.op == BELLHOP_TMH_EAGER) {
		recv->skip = BELLHOP_TMH_BYTES;
		return result;
	}
	/* What may follow is for who has no buffer that matches. */
	recv->skip = qp->send.wqe.length;
	if (!has_room(recv)) {
		result = put_header(qp, peer, header);
		if (result.reason == BELLHOP_REASON_ABSENT)
			bellhop_receive_give_back(peer);
		return result;
	}
	buffer->tmh = recv->tmh;
	memcpy(buffer->header, header, sizeof(buffer->header));
	return result;
}

struct bellhop_copy_result bellhop_match_begin(struct bellhop_qp *qp, struct bellhop_qp *peer)
{
	struct bellhop_receiver *recv = &peer->recv;
	u8 header[BELLHOP_TMH_MAX];
	u32 length = min_t(u32, qp->send.wqe.length, sizeof(header));
	struct bellhop_copy_result result;

	lockdep_assert_held(&peer->slot->lock);

	result = peek(qp, header, length);
	if (result.reason)
		return result;
	bellhop_tmh_decode(&recv->tmh, header, length);
	if (bellhop_tmh_is_tagged(&recv->tmh)) {
		recv->tagged = bellhop_tag_take(recv->srq, recv->tmh.tag);
		if (recv->tagged)
			return use_tagged(qp, peer, header);
	}
	result.destination = true;
	result.reason = bellhop_receive_take(peer, 0);
	if (result.reason)
		bellhop_match_give_back(peer);
	return result;
}

void bellhop_match_describe(struct bellhop_qp *qp, struct bellhop_completion *completion)
{
	const struct bellhop_receiver *recv = &qp->recv;

	lockdep_assert_held(&qp->slot->lock);

	if (!bellhop_tmh_is_tagged(&recv->tmh)) {
		completion->opcode = BELLHOP_WC_TM_NO_TAG;
		return;
	}
	completion->opcode = BELLHOP_WC_TM_RECV;
	if (!recv->tagged)
		return;
	completion->tag = recv->tmh.tag;
	completion->tag_context = recv->tmh.context;
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
