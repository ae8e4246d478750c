/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * acceptor.h: what a connected QP makes of the packets of requests (IBA 9.7.4, 9.8.2.2).
 *
 *	receive --> EXECUTE: the caller checks keys and moves bytes --> commit, or refuse
 *	        --> KEEP: something before it was not here, and the requester can do with it
 *	        --> REPLY: it was here before, or something before it was not
 *	        --> REFUSE: it breaks the rules
 *	        --> DROP
 *
 * After each of them but DROP @replies may have packets to be sent, and after a commit there may be
 * packets that were kept to be received.
 */
#ifndef BELLHOP_PROTO_ACCEPTOR_H
#define BELLHOP_PROTO_ACCEPTOR_H

#include "base.h"
#include "replies.h"
#include "service.h"
#include "stash.h"
#include "transport.h"

/**
 * struct bellhop_acceptor - a QP's receiving end
 * @replies: what is to be sent; of a reliable service
 * @service: of the QP
 * @mtu: the path MTU, in bytes
 * @expected: the PSN of the next packet
 * @msn: messages that were completed (IBA 9.7.7.1)
 * @operation: enum bellhop_operation of the message that has begun; 0 is none
 * @received: bytes of it that have come
 * @length: of a write: its bytes
 * @rkey: of a write: their key
 * @address: of a write: where they go
 * @is_waiting: the requester was told what is missing; to say so again is of no use
 * @stash: which packets are kept
 * @asked: the packets before this one were asked for again
 */
struct bellhop_acceptor {
	struct bellhop_replies replies;
	enum bellhop_service service;
	u32 mtu;
	u32 expected;
	u32 msn;
	u8 operation;
	u32 received;
	u32 length;
	u32 rkey;
	u64 address;
	bool is_waiting;
	struct bellhop_stash stash;
	u32 asked;
};

enum bellhop_acceptor_verdict {
	BELLHOP_ACCEPTOR_DROP,
	BELLHOP_ACCEPTOR_REPLY,
	BELLHOP_ACCEPTOR_KEEP,
	BELLHOP_ACCEPTOR_REFUSE,
	BELLHOP_ACCEPTOR_EXECUTE,
};

/**
 * struct bellhop_acceptor_plan - what follows from a packet
 * @verdict: what
 * @abandons: the message that has begun is lost (IBA 9.8.2.2); a receive that it took is free again
 * @operation: enum bellhop_operation
 * @first: it begins the message
 * @last: it ends the message
 * @takes_receive: the message needs a receive from here on
 * @offset: of a send or write: where in the message its payload belongs
 * @bytes: how much payload it has
 * @length: of a write or read: the bytes of the whole message
 * @rkey: of what has an address: its key
 * @address: of what has an address: where the message begins
 * @reason: to refuse: why
 * @place: to keep: where; what is there is of no use any more
 */
struct bellhop_acceptor_plan {
	enum bellhop_acceptor_verdict verdict;
	bool abandons;
	u8 operation;
	bool first;
	bool last;
	bool takes_receive;
	u32 offset;
	u32 bytes;
	u32 length;
	u32 rkey;
	u64 address;
	enum bellhop_reason reason;
	u32 place;
};

/**
 * bellhop_acceptor_begin() - nothing has come
 * @acceptor: @service and @mtu are set, and of a reliable service the queue of @replies and what
 *they keep; all else is written
 * @psn: of the first packet (rq_psn)
 */
void bellhop_acceptor_begin(struct bellhop_acceptor *acceptor, u32 psn);

/**
 * bellhop_acceptor_receive() - a packet has come from the requester
 * @acceptor: has begun
 * @transport: its headers; its opcode is not a response's
 *
 * Return: what to do. Nothing has changed but for @replies, what is kept, and, if it abandons, the
 * message.
 */
struct bellhop_acceptor_plan bellhop_acceptor_receive(struct bellhop_acceptor *acceptor,
						      const struct bellhop_transport *transport);

/**
 * bellhop_acceptor_commit() - the packet was executed
 * @acceptor: nothing else was told it since it made the plan
 * @plan: the plan
 * @transport: the packet's headers
 * @original: of an atomic operation: what was there before
 */
void bellhop_acceptor_commit(struct bellhop_acceptor *acceptor,
			     const struct bellhop_acceptor_plan *plan,
			     const struct bellhop_transport *transport, u64 original);

/**
 * bellhop_acceptor_lose() - there is no memory to keep a packet
 * @acceptor: nothing else was told it since it made the plan
 * @place: where it was to be kept
 */
void bellhop_acceptor_lose(struct bellhop_acceptor *acceptor, u32 place);

/**
 * bellhop_acceptor_resume() - takes the packet out that can be executed now
 * @acceptor: a packet was executed
 * @place: where it is kept: it is to be received like one that has just come
 *
 * Return: false if there is none; then @replies may have something to say.
 */
bool bellhop_acceptor_resume(struct bellhop_acceptor *acceptor, u32 *place);

/**
 * bellhop_acceptor_refuse() - the packet could not be executed
 * @acceptor: nothing else was told it since it made the plan
 * @reason: why; BELLHOP_REASON_RNR is no error, and BELLHOP_REASON_SILENT is as if the packet had
 *	not come
 * @timer: with BELLHOP_REASON_RNR: how long the requester is to wait (min_rnr_timer)
 */
void bellhop_acceptor_refuse(struct bellhop_acceptor *acceptor, enum bellhop_reason reason,
			     u8 timer);

#endif /* BELLHOP_PROTO_ACCEPTOR_H */
