/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* opcode.h: one row per send opcode: what it does, needs and completes as. */
#ifndef BELLHOP_PROTO_OPCODE_H
#define BELLHOP_PROTO_OPCODE_H

#include "base.h"

enum bellhop_opcode_traits {
	BELLHOP_OP_VALID = 1 << 0,
	BELLHOP_OP_RECV = 1 << 1, /* consumes a receive entry */
	BELLHOP_OP_SCATTER = 1 << 2, /* payload goes into the receive entry's elements */
	BELLHOP_OP_REMOTE = 1 << 3, /* has a remote address and rkey */
	BELLHOP_OP_READ = 1 << 4, /* payload comes back to the requester */
	BELLHOP_OP_IMM = 1 << 5,
};

/**
 * struct bellhop_opcode - a row
 * @traits: enum bellhop_opcode_traits
 * @flags: the enum bellhop_sqe_flags it takes
 * @wc: how its own completion is named
 * @recv_wc: how the receive completion is named, with BELLHOP_OP_RECV
 * @access: what the responder's QP and key must allow, with BELLHOP_OP_REMOTE
 */
struct bellhop_opcode {
	u8 traits;
	u8 flags;
	u8 wc;
	u8 recv_wc;
	u32 access;
};

/**
 * bellhop_opcode_row() - what is known of an opcode
 * @opcode: any value; user space chose it
 *
 * Return: its row, or one without BELLHOP_OP_VALID.
 */
const struct bellhop_opcode *bellhop_opcode_row(u8 opcode);

#endif /* BELLHOP_PROTO_OPCODE_H */
