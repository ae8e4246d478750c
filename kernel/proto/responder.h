/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* responder.h: whether a responder takes a request, and what both sides do when it does not. */
#ifndef BELLHOP_PROTO_RESPONDER_H
#define BELLHOP_PROTO_RESPONDER_H

#include "base.h"
#include "opcode.h"
#include "service.h"
#include "state.h"

/**
 * struct bellhop_responder - what decides, of a responder's QP
 * @state: of the QP
 * @service: of the QP; 0 of one that only sends
 * @source_qpn: the only QP that it takes requests from
 * @access: enum bellhop_access of the QP (qp_access_flags)
 * @max_rd_atomic: RDMA reads and atomics that it takes at a time (max_dest_rd_atomic)
 * @qkey: of a UD QP, what a datagram must have
 */
struct bellhop_responder {
	enum bellhop_qp_state state;
	enum bellhop_service service;
	u32 source_qpn;
	u32 access;
	u32 max_rd_atomic;
	u32 qkey;
};

/**
 * bellhop_responder_admit() - whether the responder looks at a request at all
 * @responder: the addressed QP
 * @source_qpn: who asks
 * @service: of who asks
 * @op: what is asked; the service has it
 *
 * Return: BELLHOP_REASON_NONE, BELLHOP_REASON_SILENT (dropped without an answer:
 * IBA 9.6.1, 10.3.1), BELLHOP_REASON_QP_ACCESS or BELLHOP_REASON_NO_RD_ATOMIC
 * (NAK invalid request: IBA 9.7.4.1.4, 9.7.5.2.6).
 */
static inline enum bellhop_reason bellhop_responder_admit(const struct bellhop_responder *responder,
							  u32 source_qpn,
							  enum bellhop_service service,
							  const struct bellhop_opcode *op)
{
	if (!bellhop_state_responds(responder->state) || responder->source_qpn != source_qpn ||
	    responder->service != service)
		return BELLHOP_REASON_SILENT;
	if (op->access & ~responder->access)
		return BELLHOP_REASON_QP_ACCESS;
	if ((op->traits & BELLHOP_OP_READ) && !responder->max_rd_atomic)
		return BELLHOP_REASON_NO_RD_ATOMIC;
	return BELLHOP_REASON_NONE;
}

/**
 * bellhop_responder_admit_datagram() - whether a UD QP takes a datagram
 * @responder: the addressed QP
 * @qkey: the datagram's
 *
 * What is not taken is dropped, and nobody is told (IBA 9.6.1.4, 9.8.3).
 */
static inline bool bellhop_responder_admit_datagram(const struct bellhop_responder *responder,
						    u32 qkey)
{
	return bellhop_state_responds(responder->state) && responder->qkey == qkey;
}

/* The top bit of a request's Q_Key asks for the QP's own, a privileged one maybe (IBA 10.2.5). */
static inline u32 bellhop_responder_effective_qkey(u32 requested, u32 own)
{
	return requested & 0x80000000u ? own : requested;
}

/* How the responder's owner is told when no receive entry can tell it (IBA 11.6.3.2). */
enum bellhop_refusal_event {
	BELLHOP_EVENT_NONE,
	BELLHOP_EVENT_ACCESS, /* local access violation work queue error */
	BELLHOP_EVENT_REQUEST, /* invalid request local work queue error */
};

/**
 * struct bellhop_refusal - what a refused request does to the two sides
 * @requester: how the request completes
 * @responder: how a receive entry that it consumed completes
 * @fatal: the responder's QP goes to error
 * @own: it is the responder's own fault, and that of its QP on every service; for any other
 * a service that is not reliable loses the message, and neither side hears of it
 * @event: the asynchronous event on the responder's QP
 */
struct bellhop_refusal {
	enum bellhop_wc_status requester;
	enum bellhop_wc_status responder;
	bool fatal;
	bool own;
	enum bellhop_refusal_event event;
};

/**
 * bellhop_responder_refuse() - what follows from a refusal
 * @reason: why; an LKEY reason is one of the responder's own receive entry
 *
 * BELLHOP_REASON_RNR and BELLHOP_REASON_SILENT are for retries that have run out.
 * Return: a row; never NULL. A reason that is not a responder's gives fatal errors
 * on both sides, since something is broken.
 */
const struct bellhop_refusal *bellhop_responder_refuse(enum bellhop_reason reason);

#endif /* BELLHOP_PROTO_RESPONDER_H */
