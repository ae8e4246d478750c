/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * flow.h: how much has gone through one side of a QP.
 *
 * It is counted in words of four bytes, as a port counts, and in pieces: no packets are built on
 * one host, and a piece is what was moved at once, a message or a part of a long one. Nobody waits
 * for these numbers, so they lie in memory that the side writes in any case, and are added up when
 * they are asked for.
 */
#ifndef BELLHOP_PROTO_FLOW_H
#define BELLHOP_PROTO_FLOW_H

#include "base.h"
#include "opcode.h"

enum bellhop_direction {
	BELLHOP_OUT, /* data left this side */
	BELLHOP_IN, /* it came to it */
	BELLHOP_DIRECTIONS,
};

/**
 * struct bellhop_flow - the two directions of a side
 * @words: of payload, each piece rounded up
 * @pieces: how many
 *
 * Has one writer at a time; others look at it whenever they like.
 */
struct bellhop_flow {
	u64 words[BELLHOP_DIRECTIONS];
	u64 pieces[BELLHOP_DIRECTIONS];
};

/**
 * bellhop_flow_direction() - which way the data of an operation goes, for its requester
 * @op: the operation
 */
static inline enum bellhop_direction bellhop_flow_direction(const struct bellhop_opcode *op)
{
	return op->traits & BELLHOP_OP_READ ? BELLHOP_IN : BELLHOP_OUT;
}

/* The same for its responder. */
static inline enum bellhop_direction bellhop_flow_opposite(const struct bellhop_opcode *op)
{
	return op->traits & BELLHOP_OP_READ ? BELLHOP_OUT : BELLHOP_IN;
}

/**
 * bellhop_flow_count() - a piece has gone
 * @flow: the side's
 * @direction: where
 * @bytes: of payload
 *
 * Context: the side's one writer.
 */
static inline void bellhop_flow_count(struct bellhop_flow *flow, enum bellhop_direction direction,
				      u32 bytes)
{
	WRITE_ONCE(flow->words[direction], flow->words[direction] + (bytes + 3) / 4);
	WRITE_ONCE(flow->pieces[direction], flow->pieces[direction] + 1);
}

/**
 * bellhop_flow_add() - adds one side's flow to a sum
 * @sum: the caller's own
 * @flow: what it is to contain; may be written at this moment
 *
 * Context: any.
 */
static inline void bellhop_flow_add(struct bellhop_flow *sum, const struct bellhop_flow *flow)
{
	int i;

	for (i = 0; i < BELLHOP_DIRECTIONS; i++) {
		sum->words[i] += READ_ONCE(flow->words[i]);
		sum->pieces[i] += READ_ONCE(flow->pieces[i]);
	}
}

#endif /* BELLHOP_PROTO_FLOW_H */
