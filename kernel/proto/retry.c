// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* retry.c: the two retry counters of a requester, and its patience with absent pages. */
#include "retry.h"
#include "timeout.h"

#define TIMEOUT_WHEN_OFF 19

#define NSEC_PER_SECOND 1000000000ull
#define ABSENT_WAIT_NS (NSEC_PER_SECOND / 10)
#define ABSENT_LIMIT_NS (60 * NSEC_PER_SECOND)

struct bellhop_retry_plan bellhop_retry_rnr(struct bellhop_retry *retry, u8 min_rnr_timer)
{
	struct bellhop_retry_plan plan = { .wait_ns = bellhop_timeout_rnr_ns(min_rnr_timer) };

	/* It answered, if only to refuse. */
	retry->silent = 0;
	if (retry->rnr_retry == BELLHOP_RETRY_RNR_FOREVER)
		return plan;
	if (retry->rnr >= retry->rnr_retry)
		plan.give_up = true;
	else
		retry->rnr++;
	return plan;
}

struct bellhop_retry_plan bellhop_retry_silent(struct bellhop_retry *retry)
{
	struct bellhop_retry_plan plan = {
		.wait_ns =
			bellhop_timeout_ack_ns(retry->timeout ? retry->timeout : TIMEOUT_WHEN_OFF),
	};

	/* The first try has waited, too: retry_cnt + 1 waits before the error. */
	if (retry->silent > retry->retry_cnt)
		plan.give_up = true;
	else
		retry->silent++;
	return plan;
}

struct bellhop_retry_plan bellhop_retry_absent(struct bellhop_retry *retry, u32 index, u32 moved,
					       u64 now_ns)
{
	struct bellhop_retry_plan plan = { .wait_ns = ABSENT_WAIT_NS };

	if (!retry->absent_since_ns || retry->absent_index != index ||
	    retry->absent_moved != moved) {
		retry->absent_index = index;
		retry->absent_moved = moved;
		retry->absent_since_ns = now_ns;
	}
	plan.give_up = now_ns - retry->absent_since_ns >= ABSENT_LIMIT_NS;
	return plan;
}
