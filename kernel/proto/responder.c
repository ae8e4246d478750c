// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* responder.c: the table of a responder's refusals (IBA 9.9.3, table 62). */
#include "responder.h"

#define INVALID_REQUEST(recv_status, tell)                                                         \
	{                                                                                          \
		.requester = BELLHOP_WC_REM_INV_REQ_ERR, .responder = (recv_status),               \
		.fatal = true, .event = (tell),                                                    \
	}
#define ACCESS_ERROR                                                                               \
	{                                                                                          \
		.requester = BELLHOP_WC_REM_ACCESS_ERR, .responder = BELLHOP_WC_WR_FLUSH_ERR,      \
		.fatal = true, .event = BELLHOP_EVENT_ACCESS,                                      \
	}
/* The message has come, but not what it was to do: its receive tells (IBA 9.9.3). */
#define INVALIDATION_ERROR                                                                         \
	{                                                                                          \
		.requester = BELLHOP_WC_REM_ACCESS_ERR, .responder = BELLHOP_WC_LOC_ACCESS_ERR,    \
		.fatal = true,                                                                     \
	}
#define OPERATION_ERROR(recv_status)                                                               \
	{                                                                                          \
		.requester = BELLHOP_WC_REM_OP_ERR, .responder = (recv_status), .fatal = true,     \
		.own = true,                                                                       \
	}

static const struct bellhop_refusal refusals[] = {
	[BELLHOP_REASON_LKEY_UNKNOWN] = OPERATION_ERROR(BELLHOP_WC_LOC_PROT_ERR),
	[BELLHOP_REASON_LKEY_PD] = OPERATION_ERROR(BELLHOP_WC_LOC_PROT_ERR),
	[BELLHOP_REASON_LKEY_ACCESS] = OPERATION_ERROR(BELLHOP_WC_LOC_PROT_ERR),
	[BELLHOP_REASON_LKEY_RANGE] = OPERATION_ERROR(BELLHOP_WC_LOC_PROT_ERR),
	[BELLHOP_REASON_LKEY_ABSENT] = OPERATION_ERROR(BELLHOP_WC_LOC_PROT_ERR),
	[BELLHOP_REASON_RKEY_UNKNOWN] = ACCESS_ERROR,
	[BELLHOP_REASON_RKEY_PD] = ACCESS_ERROR,
	[BELLHOP_REASON_RKEY_ACCESS] = ACCESS_ERROR,
	[BELLHOP_REASON_RKEY_RANGE] = ACCESS_ERROR,
	[BELLHOP_REASON_RKEY_QP] = ACCESS_ERROR,
	[BELLHOP_REASON_RKEY_ABSENT] = ACCESS_ERROR,
	[BELLHOP_REASON_QP_ACCESS] =
		INVALID_REQUEST(BELLHOP_WC_WR_FLUSH_ERR, BELLHOP_EVENT_REQUEST),
	[BELLHOP_REASON_NO_RD_ATOMIC] =
		INVALID_REQUEST(BELLHOP_WC_WR_FLUSH_ERR, BELLHOP_EVENT_REQUEST),
	[BELLHOP_REASON_ALIGNMENT] =
		INVALID_REQUEST(BELLHOP_WC_WR_FLUSH_ERR, BELLHOP_EVENT_REQUEST),
	[BELLHOP_REASON_RECV_TOO_SHORT] =
		INVALID_REQUEST(BELLHOP_WC_LOC_LEN_ERR, BELLHOP_EVENT_NONE),
	[BELLHOP_REASON_RECV_FAULTY] = OPERATION_ERROR(BELLHOP_WC_LOC_QP_OP_ERR),
	[BELLHOP_REASON_SEQUENCE] = INVALID_REQUEST(BELLHOP_WC_LOC_QP_OP_ERR, BELLHOP_EVENT_NONE),
	[BELLHOP_REASON_MW_UNKNOWN] = INVALIDATION_ERROR,
	[BELLHOP_REASON_MW_PD] = INVALIDATION_ERROR,
	[BELLHOP_REASON_MW_TYPE] = INVALIDATION_ERROR,
	[BELLHOP_REASON_MW_UNBOUND] = INVALIDATION_ERROR,
	[BELLHOP_REASON_MW_QP] = INVALIDATION_ERROR,
	[BELLHOP_REASON_XRC_SRQ_UNKNOWN] = ACCESS_ERROR,
	[BELLHOP_REASON_XRC_DOMAIN] = ACCESS_ERROR,
	/* The responder has dealt with its own side. */
	[BELLHOP_REASON_NAK_INVALID_REQUEST] = { .requester = BELLHOP_WC_REM_INV_REQ_ERR },
	[BELLHOP_REASON_NAK_ACCESS] = { .requester = BELLHOP_WC_REM_ACCESS_ERR },
	[BELLHOP_REASON_NAK_OPERATIONAL] = { .requester = BELLHOP_WC_REM_OP_ERR },
	/* The requester gave up; the responder does not know of it. */
	[BELLHOP_REASON_BAD_RESPONSE] = { .requester = BELLHOP_WC_BAD_RESP_ERR },
	[BELLHOP_REASON_RNR] = { .requester = BELLHOP_WC_RNR_RETRY_EXC_ERR },
	[BELLHOP_REASON_SILENT] = { .requester = BELLHOP_WC_RETRY_EXC_ERR },
};

static const struct bellhop_refusal broken = {
	.requester = BELLHOP_WC_FATAL_ERR,
	.responder = BELLHOP_WC_FATAL_ERR,
	.fatal = true,
	.own = true,
};

const struct bellhop_refusal *bellhop_responder_refuse(enum bellhop_reason reason)
{
	u32 row = (u32)reason;

	/* Success is no refusal, so an empty row is a reason that is not a responder's. */
	if (row >= sizeof(refusals) / sizeof(refusals[0]) || !refusals[row].requester)
		return &broken;
	return &refusals[row];
}
