// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* replies.c: a queue of answers, and those that are kept. */
#include "replies.h"
#include "bth.h"
#include "psn.h"
#include "segment.h"
#include "syndrome.h"

static const u8 opcodes[] = {
	[BELLHOP_REPLY_ACK] = BELLHOP_BTH_ACKNOWLEDGE,
	[BELLHOP_REPLY_ATOMIC] = BELLHOP_BTH_ATOMIC_ACKNOWLEDGE,
	[BELLHOP_REPLY_DONE] = BELLHOP_BTH_READ_RESPONSE_ONLY,
};

void bellhop_replies_begin(struct bellhop_replies *replies)
{
	replies->head = 0;
	replies->tail = 0;
	replies->next = 0;
}

static struct bellhop_reply *at(const struct bellhop_replies *replies, u32 count)
{
	return &replies->queue[count & (replies->depth - 1)];
}

static void push(struct bellhop_replies *replies, const struct bellhop_reply *reply)
{
	struct bellhop_reply *place = at(replies, replies->tail++);

	*place = *reply;
	place->sent = 0;
}

static bool is_ack(const struct bellhop_reply *reply)
{
	return reply->kind == BELLHOP_REPLY_ACK &&
	       bellhop_syndrome_kind(reply->syndrome) == BELLHOP_SYNDROME_ACK;
}

void bellhop_replies_acknowledge(struct bellhop_replies *replies, u32 psn, u8 syndrome)
{
	const struct bellhop_reply reply = {
		.kind = BELLHOP_REPLY_ACK,
		.syndrome = syndrome,
		.psn = psn,
		.packets = 1,
	};

	/* One says all that it would say itself (IBA 9.7.5.1.1). */
	if (replies->tail != replies->head && is_ack(at(replies, replies->tail - 1)))
		replies->tail--;
	push(replies, &reply);
}

void bellhop_replies_add(struct bellhop_replies *replies, const struct bellhop_reply *reply)
{
	if (replies->keep)
		replies->kept[replies->next++ % replies->keep] = *reply;
	push(replies, reply);
}

static u8 kind_of(const struct bellhop_transport *request)
{
	switch (bellhop_bth_row(request->opcode)->operation) {
	case BELLHOP_OPERATION_READ:
		return BELLHOP_REPLY_READ;
	case BELLHOP_OPERATION_ATOMIC:
		return BELLHOP_REPLY_ATOMIC;
	default:
		return BELLHOP_REPLY_DONE;
	}
}

/* The part of a read that is asked for again; no packets, if it is not a part of it. */
static struct bellhop_reply part_of(const struct bellhop_replies *replies,
				    const struct bellhop_reply *kept,
				    const struct bellhop_transport *request)
{
	u32 skipped = bellhop_psn_add(request->psn, -kept->psn);
	struct bellhop_reply part = *kept;

	part.packets = 0;
	if (request->rkey != kept->rkey ||
	    request->address != kept->address + (u64)skipped * replies->mtu ||
	    (skipped && skipped * replies->mtu >= kept->length) ||
	    request->length > kept->length - skipped * replies->mtu)
		return part;
	part.psn = request->psn;
	part.address = request->address;
	part.length = request->length;
	part.packets = bellhop_segment_count(request->length, replies->mtu);
	return part;
}

bool bellhop_replies_repeat(struct bellhop_replies *replies,
			    const struct bellhop_transport *request)
{
	u32 count = replies->next < replies->keep ? replies->next : replies->keep;
	u32 i;

	for (i = 0; i < count; i++) {
		const struct bellhop_reply *kept = &replies->kept[i];
		struct bellhop_reply reply = *kept;

		if (kept->kind != kind_of(request) ||
		    !bellhop_psn_within(request->psn, kept->psn, kept->packets))
			continue;
		if (kept->kind == BELLHOP_REPLY_READ)
			reply = part_of(replies, kept, request);
		if (!reply.packets)
			continue;
		push(replies, &reply);
		return true;
	}
	return false;
}

bool bellhop_replies_next(struct bellhop_replies *replies, struct bellhop_reply_packet *packet)
{
	struct bellhop_reply *reply = at(replies, replies->head);
	u32 number;

	if (replies->head == replies->tail)
		return false;
	number = reply->sent++;
	*packet = (struct bellhop_reply_packet){
		.kind = reply->kind,
		.syndrome = reply->kind == BELLHOP_REPLY_ACK
				    ? reply->syndrome
				    : bellhop_syndrome_encode(BELLHOP_SYNDROME_ACK,
							      BELLHOP_SYNDROME_NO_CREDITS),
		.psn = bellhop_psn_add(reply->psn, number),
		.original = reply->original,
	};
	if (reply->kind == BELLHOP_REPLY_READ) {
		packet->opcode = bellhop_segment_response_opcode(replies->service, !number,
								 reply->sent == reply->packets);
		packet->bytes = bellhop_segment_bytes(reply->length, replies->mtu, number);
		packet->address = reply->address + (u64)number * replies->mtu;
		packet->rkey = reply->rkey;
	} else {
		packet->opcode = bellhop_segment_service(replies->service) | opcodes[reply->kind];
	}
	if (reply->sent == reply->packets)
		replies->head++;
	return true;
}

void bellhop_replies_refuse(struct bellhop_replies *replies,
			    const struct bellhop_reply_packet *packet, u8 syndrome)
{
	/* What was asked behind it is not answered. */
	bellhop_replies_begin(replies);
	bellhop_replies_acknowledge(replies, packet->psn, syndrome);
}
