// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* rtt.c: how long a peer takes to answer. */
#include "rtt.h"

#define NSEC_PER_MILLISECOND 1000000ull
#define AT_LEAST_NS NSEC_PER_MILLISECOND
#define AT_MOST_NS (1000 * NSEC_PER_MILLISECOND)
/* Of a peer that has not been heard of. */
#define AT_FIRST_NS (4 * NSEC_PER_MILLISECOND)

/* RFC 6298, 2.2 and 2.3 */
void bellhop_rtt_hear(struct bellhop_rtt *rtt, u64 position, u64 now_ns)
{
	u64 sample, difference;

	if (!rtt->since_ns || position <= rtt->timed)
		return;
	sample = now_ns - rtt->since_ns;
	rtt->since_ns = 0;
	if (!rtt->smoothed_ns) {
		rtt->smoothed_ns = sample;
		rtt->variation_ns = sample / 2;
		return;
	}
	difference =
		sample > rtt->smoothed_ns ? sample - rtt->smoothed_ns : rtt->smoothed_ns - sample;
	rtt->variation_ns = (3 * rtt->variation_ns + difference) / 4;
	rtt->smoothed_ns = (7 * rtt->smoothed_ns + sample) / 8;
}

u64 bellhop_rtt_timeout_ns(const struct bellhop_rtt *rtt)
{
	u64 timeout = rtt->smoothed_ns + 4 * rtt->variation_ns;

	if (!rtt->smoothed_ns)
		return AT_FIRST_NS;
	if (timeout < AT_LEAST_NS)
		return AT_LEAST_NS;
	return timeout < AT_MOST_NS ? timeout : AT_MOST_NS;
}
