// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rtt_test.cpp: rtt.h, rtt.c: how long a peer takes to answer.
#include <gtest/gtest.h>

extern "C" {
#include "rtt.h"
}

namespace
{

constexpr u64 kMs = 1000000;

/* One packet that is answered after so long. */
void sample(bellhop_rtt &rtt, u64 ns)
{
	bellhop_rtt_send(&rtt, 7, kMs);
	bellhop_rtt_hear(&rtt, 8, kMs + ns);
}

} // namespace

TEST(rtt, send__one_at_a_time)
{
	bellhop_rtt rtt{};

	bellhop_rtt_send(&rtt, 7, 1 * kMs);
	bellhop_rtt_send(&rtt, 8, 2 * kMs);
	bellhop_rtt_hear(&rtt, 8, 4 * kMs);
	EXPECT_EQ(rtt.smoothed_ns, 3 * kMs);
	bellhop_rtt_hear(&rtt, 9, 90 * kMs);
	EXPECT_EQ(rtt.smoothed_ns, 3 * kMs);
}

TEST(rtt, forget__what_was_sent_twice_says_nothing)
{
	bellhop_rtt rtt{};

	bellhop_rtt_send(&rtt, 7, kMs);
	bellhop_rtt_forget(&rtt);
	bellhop_rtt_hear(&rtt, 8, 4 * kMs);
	EXPECT_EQ(rtt.smoothed_ns, 0u);
}

TEST(rtt, hear__not_of_those_before)
{
	bellhop_rtt rtt{};

	bellhop_rtt_send(&rtt, 7, kMs);
	bellhop_rtt_hear(&rtt, 7, 2 * kMs);
	EXPECT_EQ(rtt.smoothed_ns, 0u);
	bellhop_rtt_hear(&rtt, 8, 3 * kMs);
	EXPECT_EQ(rtt.smoothed_ns, 2 * kMs);
	EXPECT_EQ(rtt.variation_ns, 1 * kMs);
}

TEST(rtt, hear__follows_slowly)
{
	bellhop_rtt rtt{};

	sample(rtt, 8 * kMs);
	sample(rtt, 16 * kMs);
	EXPECT_EQ(rtt.smoothed_ns, 9 * kMs);
	EXPECT_EQ(rtt.variation_ns, 5 * kMs);
	for (int i = 0; i < 200; i++)
		sample(rtt, 2 * kMs);
	EXPECT_NEAR(double(rtt.smoothed_ns), 2.0 * kMs, 0.01 * kMs);
	EXPECT_NEAR(double(bellhop_rtt_timeout_ns(&rtt)), 2.0 * kMs, 0.1 * kMs);
}

TEST(rtt, timeout__has_limits)
{
	bellhop_rtt rtt{};

	EXPECT_EQ(bellhop_rtt_timeout_ns(&rtt), 4 * kMs);
	sample(rtt, 1000);
	EXPECT_EQ(bellhop_rtt_timeout_ns(&rtt), 1 * kMs);
	sample(rtt, 9000000 * kMs);
	EXPECT_EQ(bellhop_rtt_timeout_ns(&rtt), 1000 * kMs);
	rtt = {};
	sample(rtt, 2 * kMs);
	EXPECT_EQ(bellhop_rtt_timeout_ns(&rtt), 6 * kMs);
}
