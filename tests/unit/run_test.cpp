// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// run_test.cpp: run.h, one event at a time; run_race_test.cpp races it.
#include <gtest/gtest.h>

extern "C" {
#include "run.h"
}

TEST(run, enter__an_idle_word_makes_a_runner)
{
	u32 word = BELLHOP_RUN_IDLE;

	EXPECT_TRUE(bellhop_run_enter(&word));
	EXPECT_EQ(word, u32(BELLHOP_RUN));
}

TEST(run, enter__a_runner_is_told_to_look_again)
{
	u32 word = BELLHOP_RUN;

	EXPECT_FALSE(bellhop_run_enter(&word));
	EXPECT_EQ(word, u32(BELLHOP_RUN_AGAIN));
}

TEST(run, enter__once_told_is_enough)
{
	u32 word = BELLHOP_RUN_AGAIN;

	EXPECT_FALSE(bellhop_run_enter(&word));
	EXPECT_EQ(word, u32(BELLHOP_RUN_AGAIN));
}

TEST(run, leave__nobody_came)
{
	u32 word = BELLHOP_RUN;

	EXPECT_TRUE(bellhop_run_leave(&word));
	EXPECT_EQ(word, u32(BELLHOP_RUN_IDLE));
}

TEST(run, leave__somebody_came)
{
	u32 word = BELLHOP_RUN_AGAIN;

	EXPECT_FALSE(bellhop_run_leave(&word));
	EXPECT_EQ(word, u32(BELLHOP_RUN));
	EXPECT_TRUE(bellhop_run_leave(&word));
}

TEST(run, leave__many_came_and_one_more_look_serves_all)
{
	u32 word = BELLHOP_RUN_IDLE;

	ASSERT_TRUE(bellhop_run_enter(&word));
	for (int i = 0; i < 5; i++)
		EXPECT_FALSE(bellhop_run_enter(&word));
	EXPECT_FALSE(bellhop_run_leave(&word));
	EXPECT_TRUE(bellhop_run_leave(&word));
	EXPECT_TRUE(bellhop_run_enter(&word));
}

TEST(run, park__hands_the_word_to_whoever_unparks_it)
{
	u32 word = BELLHOP_RUN_IDLE;

	ASSERT_TRUE(bellhop_run_enter(&word));
	bellhop_run_park(&word);
	EXPECT_EQ(word, u32(BELLHOP_RUN_QUEUED));
	EXPECT_FALSE(bellhop_run_enter(&word));
	EXPECT_EQ(word, u32(BELLHOP_RUN_QUEUED));
	EXPECT_TRUE(bellhop_run_unpark(&word));
	EXPECT_FALSE(bellhop_run_unpark(&word));
	EXPECT_TRUE(bellhop_run_leave(&word));
}

TEST(run, park__takes_the_wish_to_look_again_with_it)
{
	u32 word = BELLHOP_RUN_IDLE;

	ASSERT_TRUE(bellhop_run_enter(&word));
	ASSERT_FALSE(bellhop_run_enter(&word));
	bellhop_run_park(&word);
	ASSERT_TRUE(bellhop_run_unpark(&word));
	EXPECT_EQ(word, u32(BELLHOP_RUN));
}

TEST(run, unpark__of_a_word_that_is_not_parked)
{
	for (u32 state : { BELLHOP_RUN_IDLE, BELLHOP_RUN, BELLHOP_RUN_AGAIN }) {
		u32 word = state;

		EXPECT_FALSE(bellhop_run_unpark(&word));
		EXPECT_EQ(word, state);
	}
}
