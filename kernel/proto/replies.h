/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * replies.h: what a responder has to send, in the order in which it was asked, and what it keeps to
 * be able to say it again (IBA 9.7.5).
 *
 * Acknowledgments that wait are one: the last says all. Reads and atomics are kept until as many
 * others have come as the requester may have under way.
 */
#ifndef BELLHOP_PROTO_REPLIES_H
#define BELLHOP_PROTO_REPLIES_H

#include "base.h"
#include "service.h"
#include "transport.h"

enum bellhop_reply_kind {
	BELLHOP_REPLY_ACK = 1, /* or NAK, as the syndrome says */
	BELLHOP_REPLY_READ,
	BELLHOP_REPLY_ATOMIC, /* the word's old value */
	BELLHOP_REPLY_DONE, /* a read's without payload (IBA A19) */
};

/**
 * struct bellhop_reply - an answer
 * @kind: enum bellhop_reply_kind
 * @syndrome: of an acknowledgment
 * @psn: of its first packet
 * @packets: how many it has
 * @sent: how many of them were sent
 * @length: of a read: its bytes
 * @rkey: of a read: their key
 * @address: of a read: where they are
 * @original: of an atomic operation: what was there before
 */
struct bellhop_reply {
	u8 kind;
	u8 syndrome;
	u32 psn;
	u32 packets;
	u32 sent;
	u32 length;
	u32 rkey;
	u64 address;
	u64 original;
};

/**
 * struct bellhop_replies - those of a responder
 * @queue: what is to be sent, of @depth places
 * @depth: a power of two, 2 at least
 * @kept: what may have to be repeated, of @keep places
 * @keep: the RDMA reads and atomics that the QP takes at a time (max_dest_rd_atomic); may be 0
 * @service: of the QP
 * @mtu: the path MTU, in bytes
 * @head: answers that were sent
 * @tail: answers that were queued
 * @next: how many were ever kept
 */
struct bellhop_replies {
	struct bellhop_reply *queue;
	u32 depth;
	struct bellhop_reply *kept;
	u32 keep;
	enum bellhop_service service;
	u32 mtu;
	u32 head;
	u32 tail;
	u32 next;
};

/**
 * struct bellhop_reply_packet - a packet to be sent
 * @kind: enum bellhop_reply_kind
 * @opcode: enum bellhop_bth_opcode
 * @syndrome: for its AETH, if it has one
 * @psn: its number
 * @bytes: payload of a read
 * @rkey: the key of these bytes
 * @address: where they are
 * @original: of an atomic operation
 */
struct bellhop_reply_packet {
	u8 kind;
	u8 opcode;
	u8 syndrome;
	u32 psn;
	u32 bytes;
	u32 rkey;
	u64 address;
	u64 original;
};

/**
 * bellhop_replies_begin() - nothing was asked
 * @replies: @queue, @depth, @kept, @keep, @service and @mtu are set, all else is written
 */
void bellhop_replies_begin(struct bellhop_replies *replies);

/**
 * bellhop_replies_have_room() - whether one more can be queued
 * @replies: have begun
 */
static inline bool bellhop_replies_have_room(const struct bellhop_replies *replies)
{
	return replies->tail - replies->head < replies->depth;
}

/**
 * bellhop_replies_acknowledge() - queues an acknowledgment, or a NAK
 * @replies: have room
 * @psn: the last request that is acknowledged, or the one that is not
 * @syndrome: as on the wire
 */
void bellhop_replies_acknowledge(struct bellhop_replies *replies, u32 psn, u8 syndrome);

/**
 * bellhop_replies_add() - queues the answer to a read or an atomic operation, and keeps it
 * @replies: have room
 * @reply: it; all but @sent is set
 */
void bellhop_replies_add(struct bellhop_replies *replies, const struct bellhop_reply *reply);

/**
 * bellhop_replies_repeat() - queues again what a requester asks for once more
 * @replies: have room
 * @request: the headers of its request, a read or an atomic operation
 *
 * A read may be repeated from any of its packets on, and to any end (IBA 9.7.4.1.2).
 * Return: false if it is not kept.
 */
bool bellhop_replies_repeat(struct bellhop_replies *replies,
			    const struct bellhop_transport *request);

/**
 * bellhop_replies_next() - the next packet
 * @replies: have begun
 * @packet: filled in
 *
 * What is not sent then counts as lost.
 * Return: false if there is none.
 */
bool bellhop_replies_next(struct bellhop_replies *replies, struct bellhop_reply_packet *packet);

/**
 * bellhop_replies_refuse() - the payload of the packet that came last cannot be had
 * @replies: bellhop_replies_next() gave one of a read
 * @packet: it
 * @syndrome: the NAK that is sent in its place, and that is the end
 */
void bellhop_replies_refuse(struct bellhop_replies *replies,
			    const struct bellhop_reply_packet *packet, u8 syndrome);

#endif /* BELLHOP_PROTO_REPLIES_H */
