// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* retry.c: the two retry counters of a requester. */
#include "retry.h"
#include "timeout.h"

#define TIMEOUT_WHEN_OFF 19

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
