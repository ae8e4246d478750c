// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// probe_test.cpp: the way back of a requester that was not patient enough.
#include <gtest/gtest.h>

extern "C" {
#include "probe.h"
}

namespace
{

constexpr u64 kMs = 1000000;

TEST(probe, go_back__waits_twice_as_long_each_time)
{
	bellhop_probe probe{};
	u64 now = 1;

	for (u32 i = 0; i < BELLHOP_PROBES; i++) {
		bellhop_probe_arm(&probe, now);
		ASSERT_EQ(probe.due_ns, now + (4 * kMs << i));
		EXPECT_FALSE(bellhop_probe_is_due(&probe, probe.due_ns - 1));
		now = probe.due_ns;
		EXPECT_TRUE(bellhop_probe_is_due(&probe, now));
		bellhop_probe_go_back(&probe, 10, false);
	}
	bellhop_probe_arm(&probe, now);
	EXPECT_EQ(probe.due_ns, 0u);
	EXPECT_FALSE(bellhop_probe_is_due(&probe, now + 1000 * kMs)) << "the rest is patience";
	bellhop_probe_hear(&probe, 1, now);
	EXPECT_EQ(probe.count, 0u);
}

TEST(probe, return__to_the_farthest_once)
{
	bellhop_probe probe{};

	bellhop_probe_go_back(&probe, 20, false);
	bellhop_probe_go_back(&probe, 11, false);
	EXPECT_EQ(bellhop_probe_return(&probe, 15), 20u);
	EXPECT_EQ(bellhop_probe_return(&probe, 16), 16u);
}

TEST(probe, return__not_before_what_is_answered)
{
	bellhop_probe probe{};

	bellhop_probe_go_back(&probe, 20, false);
	EXPECT_EQ(bellhop_probe_return(&probe, 20), 20u);
	EXPECT_EQ(probe.rtt.since_ns, 0u);
}

TEST(probe, return__not_where_other_answers_are_waited_for)
{
	bellhop_probe probe{};

	bellhop_probe_go_back(&probe, 20, true);
	EXPECT_EQ(bellhop_probe_return(&probe, 15), 15u);
}

TEST(probe, return__not_when_there_was_another_reason_since)
{
	bellhop_probe probe{};

	bellhop_probe_go_back(&probe, 20, false);
	bellhop_probe_forget(&probe);
	EXPECT_EQ(bellhop_probe_return(&probe, 15), 15u);
}

/* A responder that has become slower is not sent everything twice each time. */
TEST(probe, return__knows_how_long_the_answer_took)
{
	bellhop_probe probe{};

	bellhop_rtt_send(&probe.rtt, 3, 1);
	bellhop_probe_go_back(&probe, 20, false);
	bellhop_probe_go_back(&probe, 20, false);
	EXPECT_EQ(probe.rtt.since_ns, 0u) << "it may be for either";
	EXPECT_EQ(bellhop_probe_return(&probe, 15), 20u);
	bellhop_probe_hear(&probe, 15, 1 + 9 * kMs);
	EXPECT_EQ(probe.rtt.smoothed_ns, 9 * kMs);
}

} // namespace
