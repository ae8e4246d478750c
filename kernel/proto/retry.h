/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * retry.h: how often, and after how long, a requester tries again.
 *
 * Two counters, as the IBA has them: one for requests that nobody answers (retry_cnt,
 * 9.7.6.1.3), one for responders that have no receive ready (rnr_retry, 9.7.5.2.8;
 * 7 is without end). Progress refills both.
 */
#ifndef BELLHOP_PROTO_RETRY_H
#define BELLHOP_PROTO_RETRY_H

#include "base.h"

#define BELLHOP_RETRY_RNR_FOREVER 7

/**
 * struct bellhop_retry - a requester's patience
 * @timeout: local ACK timeout code
 * @retry_cnt: tries again without an answer, 0 to 7
 * @rnr_retry: tries again after an RNR NAK, 0 to 7
 * @silent: tries without an answer since the last progress
 * @rnr: RNR NAKs since the last progress
 * @absent_index: the entry that last found pages absent
 * @absent_moved: how much of it was done then
 * @absent_since_ns: since when it has not got further; 0 when there was none
 */
struct bellhop_retry {
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 silent;
	u8 rnr;
	u32 absent_index;
	u32 absent_moved;
	u64 absent_since_ns;
};

/**
 * struct bellhop_retry_plan - what to do now
 * @give_up: complete the request with the error
 * @wait_ns: otherwise try again after this long
 */
struct bellhop_retry_plan {
	bool give_up;
	u64 wait_ns;
};

static inline void bellhop_retry_progress(struct bellhop_retry *retry)
{
	retry->silent = 0;
	retry->rnr = 0;
}

/**
 * bellhop_retry_rnr() - the responder was not ready
 * @retry: the requester's
 * @min_rnr_timer: the responder's code
 */
struct bellhop_retry_plan bellhop_retry_rnr(struct bellhop_retry *retry, u8 min_rnr_timer);

/**
 * bellhop_retry_silent() - nobody answered
 * @retry: the requester's
 *
 * A timer that is off (code 0) would wait for ever; one host loses nothing, so the
 * answer will not come, and the plan waits as the longest timer that still is a
 * program's own choice: code 19, two seconds.
 */
struct bellhop_retry_plan bellhop_retry_silent(struct bellhop_retry *retry);

/**
 * bellhop_retry_absent() - pages that are fetched on demand are not there
 * @retry: the requester's; its @absent_since_ns is 0 after a reset
 * @index: number of the entry that needs them
 * @moved: how much of it is done
 * @now_ns: not 0
 *
 * A fetch ends by itself as a rule, and wakes the requester before its wait is over. Where it does
 * not, or where pages go as fast as they come, a minute without progress is the end.
 */
struct bellhop_retry_plan bellhop_retry_absent(struct bellhop_retry *retry, u32 index, u32 moved,
					       u64 now_ns);

#endif /* BELLHOP_PROTO_RETRY_H */
