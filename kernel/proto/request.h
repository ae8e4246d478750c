/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * request.h: a message that a connected QP sends, and its packets (IBA 9.7.2, 9.7.3).
 *
 * Each packet has a position, of which the PSN is the low 24 bits. A read takes those of its
 * answer.
 */
#ifndef BELLHOP_PROTO_REQUEST_H
#define BELLHOP_PROTO_REQUEST_H

#include "base.h"
#include "opcode.h"
#include "service.h"
#include "transport.h"

/**
 * struct bellhop_request - a message
 * @first: the position of its first packet
 * @packets: how many positions it takes; of a read, those of the answer
 * @length: bytes of payload
 * @wr: enum bellhop_wr_opcode
 * @flags: BELLHOP_SQE_FENCE and BELLHOP_SQE_SOLICITED
 */
struct bellhop_request {
	u64 first;
	u32 packets;
	u32 length;
	u8 wr;
	u8 flags;
};

/**
 * struct bellhop_request_packet - a packet to be sent
 * @request: its message's place in the queue
 * @psn: its number
 * @offset: where in the message its payload begins, or what a read asks for
 * @bytes: how much that is
 * @opcode: enum bellhop_bth_opcode
 * @first: it begins the message
 * @last: it ends the message
 * @solicited: it asks for a solicited event
 * @ack_request: it asks for an acknowledgment
 * @again: it was sent before
 */
struct bellhop_request_packet {
	u32 request;
	u32 psn;
	u32 offset;
	u32 bytes;
	u8 opcode;
	bool first;
	bool last;
	bool solicited;
	bool ack_request;
	bool again;
};

/* The position behind its last. */
static inline u64 bellhop_request_end(const struct bellhop_request *request)
{
	return request->first + request->packets;
}

/* Whether it is complete when its answer has come, not when it is acknowledged. */
static inline bool bellhop_request_has_answer(const struct bellhop_request *request)
{
	return bellhop_opcode_row(request->wr)->traits & (BELLHOP_OP_READ | BELLHOP_OP_WORD);
}

/**
 * bellhop_request_plan() - describes a packet
 * @request: the message
 * @service: of the QP
 * @mtu: the path MTU, in bytes
 * @position: the packet's, one of the message's
 * @end: nothing of a read's answer from here on is asked for; behind @position
 * @packet: filled in, but for what depends on others
 *
 * Return: how many positions it takes.
 */
u32 bellhop_request_plan(const struct bellhop_request *request, enum bellhop_service service,
			 u32 mtu, u64 position, u64 end, struct bellhop_request_packet *packet);

/**
 * bellhop_request_ends_at() - whether a packet of an answer is the last that was asked for at once
 * @request: the message, one that has an answer
 * @position: the packet's, one of the message's
 */
bool bellhop_request_ends_at(const struct bellhop_request *request, u64 position);

/**
 * bellhop_request_is_answer() - whether a packet is what the message waits for (IBA 9.7.6.2)
 * @request: the message
 * @mtu: the path MTU, in bytes
 * @transport: the packet's headers; its opcode is a response's
 * @position: the packet's, one of the message's
 */
bool bellhop_request_is_answer(const struct bellhop_request *request, u32 mtu,
			       const struct bellhop_transport *transport, u64 position);

/**
 * bellhop_request_bytes() - the payload that a packet of the message, or of its answer, has
 * @request: the message
 * @mtu: the path MTU, in bytes
 * @position: the packet's, one of the message's
 */
u32 bellhop_request_bytes(const struct bellhop_request *request, u32 mtu, u64 position);

#endif /* BELLHOP_PROTO_REQUEST_H */
