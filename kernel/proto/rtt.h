/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * rtt.h: how long a peer takes to answer (RFC 6298).
 *
 * The timer of a connection (IBA 9.7.6.1.3) says when to give up, in steps of milliseconds to
 * seconds; what was lost at the end of a message need not wait for that.
 */
#ifndef BELLHOP_PROTO_RTT_H
#define BELLHOP_PROTO_RTT_H

#include "base.h"

/**
 * struct bellhop_rtt - what is known of a peer; all zero is nothing
 * @smoothed_ns: the usual time
 * @variation_ns: by how much it differs
 * @timed: the packet whose answer is waited for
 * @since_ns: when it was sent; 0 where none is timed
 */
struct bellhop_rtt {
	u64 smoothed_ns;
	u64 variation_ns;
	u64 timed;
	u64 since_ns;
};

/**
 * bellhop_rtt_send() - a packet is sent that asks for an answer
 * @rtt: the peer's
 * @position: which
 * @now_ns: the time, not 0
 *
 * One is timed at a time.
 */
static inline void bellhop_rtt_send(struct bellhop_rtt *rtt, u64 position, u64 now_ns)
{
	if (rtt->since_ns)
		return;
	rtt->timed = position;
	rtt->since_ns = now_ns;
}

/**
 * bellhop_rtt_forget() - packets are sent again: nobody knows to which an answer belongs
 * @rtt: the peer's
 */
static inline void bellhop_rtt_forget(struct bellhop_rtt *rtt)
{
	rtt->since_ns = 0;
}

/**
 * bellhop_rtt_hear() - packets were answered
 * @rtt: the peer's
 * @position: all before this one
 * @now_ns: the time
 */
void bellhop_rtt_hear(struct bellhop_rtt *rtt, u64 position, u64 now_ns);

/**
 * bellhop_rtt_timeout_ns() - after how long without an answer something is likely to be lost
 * @rtt: the peer's
 *
 * Return: a millisecond at least, since nobody's processor is always there, and a second at most.
 */
u64 bellhop_rtt_timeout_ns(const struct bellhop_rtt *rtt);

#endif /* BELLHOP_PROTO_RTT_H */
