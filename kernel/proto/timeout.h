/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* timeout.h: the IBA's encodings of time, in nanoseconds. */
#ifndef BELLHOP_PROTO_TIMEOUT_H
#define BELLHOP_PROTO_TIMEOUT_H

#include "base.h"

/**
 * bellhop_timeout_rnr_ns() - how long a requester waits after an RNR NAK
 * @code: min_rnr_timer of the responder; its low five bits count (IBA 9.7.5.2.8, table 47)
 */
u64 bellhop_timeout_rnr_ns(u8 code);

/**
 * bellhop_timeout_ack_ns() - how long a requester waits for an answer
 * @code: the local ACK timeout: 4.096 us * 2^code (IBA 9.7.6.1.3); its low five bits count
 *
 * Return: nanoseconds; 0 when the timer is off.
 */
static inline u64 bellhop_timeout_ack_ns(u8 code)
{
	code &= 31;
	return code ? 4096ULL << code : 0;
}

#endif /* BELLHOP_PROTO_TIMEOUT_H */
