/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * requester.h: which packets a connected QP sends, and what the answers to them mean (IBA 9.7.3,
 * 9.7.6, 9.8.2.1).
 *
 *	  oldest	 una		     sent	     high		  end
 *	----|-------------|-------------------|---------------|--------------------|----
 *	    complete	  may be under way      were sent once  were never sent
 *
 * Requests stand in a queue, and their packets in a row: each has a position, of which the PSN is
 * the low 24 bits. After a loss the requester goes back: what lies before its way, it walks again.
 * Where the responder keeps what comes behind the loss, only what it names is sent again; and what
 * comes of answers is kept here, and only those that are missing are asked for again.
 * The requester goes back, too, when nobody has answered for longer than usual: then, nothing has
 * failed yet. A service that is not reliable hears of no loss, and all is complete that was sent.
 */
#ifndef BELLHOP_PROTO_REQUESTER_H
#define BELLHOP_PROTO_REQUESTER_H

#include "base.h"
#include "probe.h"
#include "request.h"
#include "retry.h"
#include "stash.h"
#include "transport.h"

/* Packets under way whose acknowledgment nobody has asked for, at most. */
#define BELLHOP_REQUESTER_ACK_EVERY 16u

/**
 * struct bellhop_requester - a QP's sending end
 * @requests: the queue, of @depth places
 * @depth: a power of two
 * @service: of the QP
 * @mtu: the path MTU, in bytes
 * @window: packets that may be under way, less than BELLHOP_PSN_HALF
 * @allowed: and those that may be at the moment: after an answer was overdue one, and with each
 *	answer so many more as it acknowledges, since what was not lost need not be sent again
 * @max_rd_atomic: reads and atomics that the peer takes at a time, 1 at least, if there are any
 * @retry: patience
 * @oldest: requests that were taken off the queue
 * @unacked: and the first behind them that is not complete
 * @sending: and the one of which a packet is sent next
 * @newest: and those that were ever posted
 * @una: the first packet that is not acknowledged
 * @sent: the next to be sent
 * @high: behind the last that was ever sent
 * @end: behind the last that was posted
 * @repair: the next that is sent again by itself
 * @repair_end: and behind the last of them; if that is not more, there are none
 * @repairs_answers: it is their answers that are missing
 * @early: answers to reads that came before their time, by their PSN
 * @asked: answers before this one were asked for again
 * @heard: all before it is acknowledged but for what waits for an answer
 * @reads: reads and atomics between @una and @sent
 * @unasked: packets sent since an acknowledgment was asked for
 * @gone_back: for the sake of @una: what comes out of order is no news
 * @probe: what is sent again before that is overdue
 * @deadline_ns: when an answer is overdue; 0 is never
 * @resume_ns: the responder was not ready: nothing is sent before; 0 is at once
 */
struct bellhop_requester {
	struct bellhop_request *requests;
	u32 depth;
	enum bellhop_service service;
	u32 mtu;
	u32 window;
	u32 allowed;
	u32 max_rd_atomic;
	struct bellhop_retry retry;
	u32 oldest;
	u32 unacked;
	u32 sending;
	u32 newest;
	u64 una;
	u64 sent;
	u64 high;
	u64 end;
	u64 repair;
	u64 repair_end;
	bool repairs_answers;
	struct bellhop_stash early;
	u64 asked;
	u64 heard;
	u32 reads;
	u32 unasked;
	bool gone_back;
	struct bellhop_probe probe;
	u64 deadline_ns;
	u64 resume_ns;
};

enum bellhop_requester_verdict {
	BELLHOP_REQUESTER_DROP, /* it is no news */
	BELLHOP_REQUESTER_GO_ON, /* requests may be complete, and packets may be sent */
	BELLHOP_REQUESTER_PLACE, /* its payload is part of an answer: bellhop_requester_placed() */
	BELLHOP_REQUESTER_FAIL, /* the first request that is not complete fails, and so does the QP
				 */
};

/**
 * struct bellhop_requester_plan - what follows from an answer, or from none
 * @verdict: what
 * @request: to place: the message's place in the queue
 * @position: to place: the packet's
 * @offset: where in the message the payload belongs
 * @bytes: how much it is; of an atomic operation, the word is in the packet's header
 * @reason: to fail: why; bellhop_responder_refuse() knows the status
 */
struct bellhop_requester_plan {
	enum bellhop_requester_verdict verdict;
	u32 request;
	u64 position;
	u32 offset;
	u32 bytes;
	enum bellhop_reason reason;
};

/**
 * bellhop_requester_begin() - nothing has been sent
 * @requester: @requests, @depth, @service, @mtu, @window and @retry are set, all else is written
 * @psn: of the first packet (sq_psn)
 */
void bellhop_requester_begin(struct bellhop_requester *requester, u32 psn);

/**
 * bellhop_requester_has_room() - whether another request can be posted
 * @requester: has begun
 */
static inline bool bellhop_requester_has_room(const struct bellhop_requester *requester)
{
	return requester->newest - requester->oldest < requester->depth;
}

/**
 * bellhop_requester_post() - queues a message
 * @requester: has room
 * @wr: enum bellhop_wr_opcode, one that goes to the responder, and that the service has
 * @length: bytes of payload, BELLHOP_MAX_MESSAGE at most
 * @flags: BELLHOP_SQE_FENCE and BELLHOP_SQE_SOLICITED count
 *
 * Return: its place in the queue.
 */
u32 bellhop_requester_post(struct bellhop_requester *requester, u8 wr, u32 length, u8 flags);

/**
 * bellhop_requester_next() - the next packet, if there is one that may be sent now
 * @requester: has begun
 * @now_ns: the time, not 0
 * @packet: filled in
 *
 * What is not sent then counts as lost.
 * Return: false if it has to wait: for a post, an answer, or the time of
 * bellhop_requester_wake_ns().
 */
bool bellhop_requester_next(struct bellhop_requester *requester, u64 now_ns,
			    struct bellhop_request_packet *packet);

/**
 * bellhop_requester_receive() - a packet has come from the responder
 * @requester: of a reliable service; has begun
 * @transport: its headers; its opcode is a response's
 * @now_ns: the time, not 0
 *
 * Return: what to do.
 */
struct bellhop_requester_plan bellhop_requester_receive(struct bellhop_requester *requester,
							const struct bellhop_transport *transport,
							u64 now_ns);

/**
 * bellhop_requester_placed() - the payload that a plan speaks of is where it belongs
 * @requester: nothing else was told it since it made the plan
 * @plan: the plan
 * @now_ns: the time, not 0
 */
void bellhop_requester_placed(struct bellhop_requester *requester,
			      const struct bellhop_requester_plan *plan, u64 now_ns);

/**
 * bellhop_requester_expire() - time has passed
 * @requester: has begun
 * @now_ns: the time, not 0
 *
 * Return: what to do: nothing is placed.
 */
struct bellhop_requester_plan bellhop_requester_expire(struct bellhop_requester *requester,
						       u64 now_ns);

/**
 * bellhop_requester_done() - takes a complete request off the queue
 * @requester: has begun
 * @request: its place
 *
 * Return: false if the oldest is not complete, or there is none.
 */
bool bellhop_requester_done(struct bellhop_requester *requester, u32 *request);

/**
 * bellhop_requester_oldest() - the place of the oldest request
 * @requester: has begun, and has one
 */
static inline u32 bellhop_requester_oldest(const struct bellhop_requester *requester)
{
	return requester->oldest & (requester->depth - 1);
}

/**
 * bellhop_requester_abandon() - takes the oldest request off, complete or not
 * @requester: has begun, and will not go on
 * @request: its place
 *
 * Return: false if there is none.
 */
bool bellhop_requester_abandon(struct bellhop_requester *requester, u32 *request);

/**
 * bellhop_requester_rest() - the payload of the packet that came last cannot be had yet
 * @requester: bellhop_requester_next() gave it, and it was not sent
 * @until_ns: when to try again
 */
void bellhop_requester_rest(struct bellhop_requester *requester, u64 until_ns);

/**
 * bellhop_requester_rouse() - a rest is over before its time
 * @requester: has begun
 */
static inline void bellhop_requester_rouse(struct bellhop_requester *requester)
{
	requester->resume_ns = 0;
}

/**
 * bellhop_requester_wake_ns() - when it wants to hear of time
 * @requester: has begun
 *
 * Return: the time at which bellhop_requester_next() or bellhop_requester_expire() may have
 * something to do, or 0.
 */
static inline u64 bellhop_requester_wake_ns(const struct bellhop_requester *requester)
{
	if (requester->resume_ns)
		return requester->resume_ns;
	return requester->probe.due_ns && requester->probe.due_ns < requester->deadline_ns
		       ? requester->probe.due_ns
		       : requester->deadline_ns;
}

#endif /* BELLHOP_PROTO_REQUESTER_H */
