/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* state.h: what each QP state lets the send and the receive side do (IBA 10.3.1). */
#ifndef BELLHOP_PROTO_STATE_H
#define BELLHOP_PROTO_STATE_H

#include "base.h"
#include "service.h"

/* The values are those of enum ib_qp_state. */
enum bellhop_qp_state {
	BELLHOP_QPS_RESET,
	BELLHOP_QPS_INIT,
	BELLHOP_QPS_RTR,
	BELLHOP_QPS_RTS,
	BELLHOP_QPS_SQD,
	BELLHOP_QPS_SQE,
	BELLHOP_QPS_ERR,
};

/* New sends are executed. A message under way is finished in SQD as well. */
static inline bool bellhop_state_sends(enum bellhop_qp_state state)
{
	return state == BELLHOP_QPS_RTS;
}

/* Requests from the peer are executed. */
static inline bool bellhop_state_responds(enum bellhop_qp_state state)
{
	return state >= BELLHOP_QPS_RTR && state <= BELLHOP_QPS_SQE;
}

/* Queued entries complete with a flush error. */
static inline bool bellhop_state_flushes(enum bellhop_qp_state state)
{
	return state == BELLHOP_QPS_ERR;
}

/* Of what is not reliable, the send queue fails alone. */
static inline bool bellhop_state_flushes_sends(enum bellhop_qp_state state)
{
	return state == BELLHOP_QPS_SQE || bellhop_state_flushes(state);
}

/**
 * bellhop_state_after_send_error() - what a send that completes in error makes of its QP
 * @state: before
 * @service: of the QP
 *
 * Return: the state after it (IBA 10.3.1.6, 10.3.1.7).
 */
static inline enum bellhop_qp_state bellhop_state_after_send_error(enum bellhop_qp_state state,
								   enum bellhop_service service)
{
	if ((service & BELLHOP_SERVICES_RELIABLE) || bellhop_state_flushes(state))
		return BELLHOP_QPS_ERR;
	return BELLHOP_QPS_SQE;
}

#endif /* BELLHOP_PROTO_STATE_H */
