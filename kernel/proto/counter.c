// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* counter.c: names of counters, and which of them a reason belongs to. */
#include "counter.h"

const char *const bellhop_counter_names[] = {
	[BELLHOP_COUNTER_RNR_WAITS] = "rnr_waits",
	[BELLHOP_COUNTER_RNR_EXCEEDED] = "rnr_retries_exceeded",
	[BELLHOP_COUNTER_SILENT_WAITS] = "unanswered_waits",
	[BELLHOP_COUNTER_SILENT_EXCEEDED] = "retries_exceeded",
	[BELLHOP_COUNTER_SEND_ERRORS] = "send_errors",
	[BELLHOP_COUNTER_RECV_ERRORS] = "receive_errors",
	[BELLHOP_COUNTER_FLUSHED] = "flushed",
	[BELLHOP_COUNTER_CQ_OVERRUNS] = "cq_overruns",
	[BELLHOP_COUNTER_QP_ERRORS] = "qps_failed",
	[BELLHOP_COUNTER_LKEY_UNKNOWN] = "lkey_unknown",
	[BELLHOP_COUNTER_LKEY_PD] = "lkey_of_other_pd",
	[BELLHOP_COUNTER_LKEY_ACCESS] = "lkey_without_access",
	[BELLHOP_COUNTER_LKEY_RANGE] = "lkey_out_of_range",
	[BELLHOP_COUNTER_RKEY_UNKNOWN] = "rkey_unknown",
	[BELLHOP_COUNTER_RKEY_PD] = "rkey_of_other_pd",
	[BELLHOP_COUNTER_RKEY_ACCESS] = "rkey_without_access",
	[BELLHOP_COUNTER_RKEY_RANGE] = "rkey_out_of_range",
	[BELLHOP_COUNTER_RKEY_QP] = "rkey_of_other_qp",
	[BELLHOP_COUNTER_WINDOW_ERRORS] = "window_errors",
	[BELLHOP_COUNTER_NOT_ALLOWED] = "operations_not_allowed",
	[BELLHOP_COUNTER_BAD_REQUESTS] = "bad_requests",
	[BELLHOP_COUNTER_BAD_RECEIVES] = "bad_receives",
	[BELLHOP_COUNTER_RECV_TOO_SHORT] = "receives_too_short",
	[BELLHOP_COUNTER_OUT_OF_SEQUENCE] = "out_of_sequence",
	[BELLHOP_COUNTER_DROPPED_NOBODY] = "dropped_nobody_there",
	[BELLHOP_COUNTER_DROPPED_STATE] = "dropped_not_ready",
	[BELLHOP_COUNTER_DROPPED_QKEY] = "dropped_qkey_mismatch",
	[BELLHOP_COUNTER_DROPPED_ADDRESS] = "dropped_wrong_address",
	[BELLHOP_COUNTER_DROPPED_NO_RECEIVE] = "dropped_no_receive",
	[BELLHOP_COUNTER_DROPPED_TOO_LONG] = "dropped_too_long",
	[BELLHOP_COUNTER_MULTICAST_SENT] = "multicast_sent",
	[BELLHOP_COUNTER_MULTICAST_COPIES] = "multicast_copies",
	[BELLHOP_COUNTER_KICKS] = "kicks",
	[BELLHOP_COUNTER_SHARES_LEFT] = "shares_left_to_worker",
	[BELLHOP_COUNTER_DEFERRED] = "deferred_to_worker",
};

/* One more than the counter, so that an empty row is none. */
#define ROW(counter) (BELLHOP_COUNTER_##counter + 1)

static const u8 rows[] = {
	[BELLHOP_REASON_LKEY_UNKNOWN] = ROW(LKEY_UNKNOWN),
	[BELLHOP_REASON_LKEY_PD] = ROW(LKEY_PD),
	[BELLHOP_REASON_LKEY_ACCESS] = ROW(LKEY_ACCESS),
	[BELLHOP_REASON_LKEY_RANGE] = ROW(LKEY_RANGE),
	[BELLHOP_REASON_RKEY_UNKNOWN] = ROW(RKEY_UNKNOWN),
	[BELLHOP_REASON_RKEY_PD] = ROW(RKEY_PD),
	[BELLHOP_REASON_RKEY_ACCESS] = ROW(RKEY_ACCESS),
	[BELLHOP_REASON_RKEY_RANGE] = ROW(RKEY_RANGE),
	[BELLHOP_REASON_RKEY_QP] = ROW(RKEY_QP),
	[BELLHOP_REASON_QP_ACCESS] = ROW(NOT_ALLOWED),
	[BELLHOP_REASON_NO_RD_ATOMIC] = ROW(NOT_ALLOWED),
	[BELLHOP_REASON_RECV_TOO_SHORT] = ROW(RECV_TOO_SHORT),
	[BELLHOP_REASON_RECV_FAULTY] = ROW(BAD_RECEIVES),
	[BELLHOP_REASON_RNR] = ROW(DROPPED_NO_RECEIVE),
	[BELLHOP_REASON_SILENT] = ROW(DROPPED_STATE),
	[BELLHOP_REASON_SEQUENCE] = ROW(OUT_OF_SEQUENCE),
	[BELLHOP_REASON_FLUSHED] = ROW(FLUSHED),
	[BELLHOP_REASON_CQ_OVERRUN] = ROW(CQ_OVERRUNS),
	[BELLHOP_REASON_MW_UNKNOWN] = ROW(WINDOW_ERRORS),
	[BELLHOP_REASON_MW_PD] = ROW(WINDOW_ERRORS),
	[BELLHOP_REASON_MW_TYPE] = ROW(WINDOW_ERRORS),
	[BELLHOP_REASON_MW_BOUND] = ROW(WINDOW_ERRORS),
	[BELLHOP_REASON_MW_UNBOUND] = ROW(WINDOW_ERRORS),
	[BELLHOP_REASON_MW_QP] = ROW(WINDOW_ERRORS),
	[BELLHOP_REASON_MW_REGION] = ROW(WINDOW_ERRORS),
	[BELLHOP_REASON_MW_REGION_ACCESS] = ROW(WINDOW_ERRORS),
	[BELLHOP_REASON_MW_RANGE] = ROW(WINDOW_ERRORS),
};

enum bellhop_counter bellhop_counter_of(enum bellhop_reason reason)
{
	u32 row = (u32)reason;

	if (row >= sizeof(rows) / sizeof(rows[0]) || !rows[row])
		return BELLHOP_COUNTER_BAD_REQUESTS;
	return (enum bellhop_counter)(rows[row] - 1);
}
