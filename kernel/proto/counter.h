/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * counter.h: what a device counts besides its traffic, for people who look for a mistake.
 *
 * Each stands under its name in hw_counters/ and in `rdma statistic`. What goes wrong is counted
 * once, on the device of the QP that found it.
 */
#ifndef BELLHOP_PROTO_COUNTER_H
#define BELLHOP_PROTO_COUNTER_H

#include "base.h"

/* In the order in which they are shown. */
enum bellhop_counter {
	/* A sender waited for a receive; gave up on that. */
	BELLHOP_COUNTER_RNR_WAITS,
	BELLHOP_COUNTER_RNR_EXCEEDED,
	/* It waited for an answer; gave up on that. */
	BELLHOP_COUNTER_SILENT_WAITS,
	BELLHOP_COUNTER_SILENT_EXCEEDED,
	/* Completions that are no success, and those that only follow them. */
	BELLHOP_COUNTER_SEND_ERRORS,
	BELLHOP_COUNTER_RECV_ERRORS,
	BELLHOP_COUNTER_FLUSHED,
	BELLHOP_COUNTER_CQ_OVERRUNS,
	BELLHOP_COUNTER_QP_ERRORS,
	/* Keys of this side, and those by which the other side asked for memory of this one. */
	BELLHOP_COUNTER_LKEY_UNKNOWN,
	BELLHOP_COUNTER_LKEY_PD,
	BELLHOP_COUNTER_LKEY_ACCESS,
	BELLHOP_COUNTER_LKEY_RANGE,
	BELLHOP_COUNTER_LKEY_ABSENT, /* on demand, and there is nothing any more */
	BELLHOP_COUNTER_RKEY_UNKNOWN,
	BELLHOP_COUNTER_RKEY_PD,
	BELLHOP_COUNTER_RKEY_ACCESS,
	BELLHOP_COUNTER_RKEY_RANGE,
	BELLHOP_COUNTER_RKEY_QP,
	BELLHOP_COUNTER_RKEY_ABSENT,
	BELLHOP_COUNTER_XRC_ERRORS, /* the SRQ that is named cannot be reached */
	BELLHOP_COUNTER_WINDOW_ERRORS,
	/* Requests that the QP does not allow, or that are wrong in themselves; and receives. */
	BELLHOP_COUNTER_NOT_ALLOWED,
	BELLHOP_COUNTER_BAD_REQUESTS,
	BELLHOP_COUNTER_BAD_RECEIVES,
	BELLHOP_COUNTER_RECV_TOO_SHORT,
	BELLHOP_COUNTER_OUT_OF_SEQUENCE,
	/* Messages of UC and UD that were lost, and frames. */
	BELLHOP_COUNTER_DROPPED_NOBODY, /* no QP has the number */
	BELLHOP_COUNTER_DROPPED_STATE, /* the QP takes none */
	BELLHOP_COUNTER_DROPPED_QKEY,
	BELLHOP_COUNTER_DROPPED_ADDRESS, /* it is not the port's, or not reached from here */
	BELLHOP_COUNTER_DROPPED_NO_RECEIVE,
	BELLHOP_COUNTER_DROPPED_TOO_LONG,
	BELLHOP_COUNTER_DROPPED_NO_ROOM, /* in a queue of the interface */
	/* Packets to other hosts, and from them; those that are not even looked at further. */
	BELLHOP_COUNTER_PACKETS_SENT,
	BELLHOP_COUNTER_PACKETS_SENT_AGAIN,
	BELLHOP_COUNTER_PACKETS_RECEIVED,
	BELLHOP_COUNTER_DROPPED_NO_ROUTE,
	BELLHOP_COUNTER_DROPPED_MALFORMED,
	BELLHOP_COUNTER_DROPPED_ICRC,
	BELLHOP_COUNTER_DROPPED_PKEY,
	/* Datagrams to groups, and their copies. */
	BELLHOP_COUNTER_MULTICAST_SENT,
	BELLHOP_COUNTER_MULTICAST_COPIES,
	/* Kicks; what was left to the worker since its share was used up, or it had to wait. */
	BELLHOP_COUNTER_KICKS,
	BELLHOP_COUNTER_SHARES_LEFT,
	BELLHOP_COUNTER_DEFERRED,
	BELLHOP_COUNTERS,
};

/* As they are shown: names of files. */
extern const char *const bellhop_counter_names[BELLHOP_COUNTERS];

/**
 * bellhop_counter_of() - under what a refusal is counted
 * @reason: why; any number
 *
 * Return: the counter; BELLHOP_COUNTER_BAD_REQUESTS of what has none of its own.
 */
enum bellhop_counter bellhop_counter_of(enum bellhop_reason reason);

#endif /* BELLHOP_PROTO_COUNTER_H */
