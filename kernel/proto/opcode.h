/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* opcode.h: one row per send opcode: what it does, needs and completes as. */
#ifndef BELLHOP_PROTO_OPCODE_H
#define BELLHOP_PROTO_OPCODE_H

#include "base.h"
#include "service.h"

enum bellhop_opcode_traits {
	BELLHOP_OP_RECV = 1 << 0, /* consumes a receive entry */
	BELLHOP_OP_SCATTER = 1 << 1, /* payload goes into the receive entry's elements */
	BELLHOP_OP_REMOTE = 1 << 2, /* has a remote address and rkey */
	BELLHOP_OP_READ = 1 << 3, /* payload comes back to the requester */
	BELLHOP_OP_IMM = 1 << 4,
	BELLHOP_OP_ATOMIC = 1 << 5, /* changes a word, and BELLHOP_OP_READ brings the old one */
	BELLHOP_OP_LOCAL = 1 << 6, /* is about a window of this side, and goes nowhere */
	BELLHOP_OP_INVALIDATE = 1 << 7, /* unbinds a window: this side's, or else the other's */
	BELLHOP_OP_WORD = 1 << 8, /* payload is one aligned word, which is written at once */
};

/**
 * struct bellhop_opcode - a row
 * @services: each enum bellhop_service that has it; none, if there is no such opcode
 * @flags: the enum bellhop_sqe_flags it takes
 * @traits: enum bellhop_opcode_traits
 * @wc: how its own completion is named
 * @recv_wc: how the receive completion is named, with BELLHOP_OP_RECV
 * @access: what the responder's QP and key must allow, with BELLHOP_OP_REMOTE
 */
struct bellhop_opcode {
	u8 services;
	u8 flags;
	u16 traits;
	u8 wc;
	u8 recv_wc;
	u16 access;
};

/* Rows by opcode, and behind them one for every opcode that there is not. */
#define BELLHOP_OPCODES (BELLHOP_WR_ATOMIC_WRITE + 1)
extern const struct bellhop_opcode bellhop_opcode_rows[BELLHOP_OPCODES + 1];

/**
 * bellhop_opcode_row() - what is known of an opcode
 * @opcode: any value; user space chose it
 *
 * Return: its row, or one that no service has.
 */
static inline const struct bellhop_opcode *bellhop_opcode_row(u8 opcode)
{
	u32 row = opcode < BELLHOP_OPCODES ? opcode : BELLHOP_OPCODES;

	return &bellhop_opcode_rows[array_index_nospec(row, BELLHOP_OPCODES + 1u)];
}

#endif /* BELLHOP_PROTO_OPCODE_H */
