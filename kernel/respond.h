/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* respond.h: what a request does to its responder, on this host. */
#ifndef BELLHOP_RESPOND_H
#define BELLHOP_RESPOND_H

#include "proto/base.h"

struct bellhop_qp;

enum bellhop_answer_kind {
	BELLHOP_ANSWER_ACK, /* the bytes were moved */
	BELLHOP_ANSWER_RNR, /* no receive is ready; nothing has happened */
	BELLHOP_ANSWER_NONE, /* the responder does not answer */
	BELLHOP_ANSWER_ABSENT, /* there is none */
	BELLHOP_ANSWER_NAK, /* refused; the responder knows */
	BELLHOP_ANSWER_OWN_FAULT, /* the requester's own keys; the responder does not know */
	BELLHOP_ANSWER_FETCHING, /* pages on demand, of either side: the same again, later */
};

/**
 * struct bellhop_answer - what the requester hears
 * @kind: the answer
 * @reason: why, with NAK and OWN_FAULT
 * @min_rnr_timer: with RNR, the responder's wish
 */
struct bellhop_answer {
	enum bellhop_answer_kind kind;
	enum bellhop_reason reason;
	u8 min_rnr_timer;
};

/**
 * bellhop_respond() - carries on with the message that a QP is sending
 * @qp: the requester; the caller is its runner, and it is busy
 * @bytes: how much of the message comes now; the last part completes it at the responder
 *
 * Context: bottom halves are off; takes the responder's slot lock and holds it
 * while @bytes are copied.
 */
struct bellhop_answer bellhop_respond(struct bellhop_qp *qp, u32 bytes);

#endif
