// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// retry_test.cpp: retry.c: how often a requester tries, and after how long.
#include <gtest/gtest.h>

extern "C" {
#include "retry.h"
#include "timeout.h"
}

namespace
{

constexpr int kForEver = 100000;

// Plans to try again before the one that gives up; kForEver if none does.
int waits_for_receive(bellhop_retry &retry)
{
	for (int waits = 0; waits < kForEver; waits++)
		if (bellhop_retry_rnr(&retry, 1).give_up)
			return waits;
	return kForEver;
}

int waits_in_silence(bellhop_retry &retry)
{
	for (int waits = 0; waits < kForEver; waits++)
		if (bellhop_retry_silent(&retry).give_up)
			return waits;
	return kForEver;
}

bellhop_retry patience(u8 retry_cnt, u8 rnr_retry, u8 timeout = 14)
{
	bellhop_retry retry{};

	retry.timeout = timeout;
	retry.retry_cnt = retry_cnt;
	retry.rnr_retry = rnr_retry;
	return retry;
}

} // namespace

TEST(retry, progress__refills_both_counters)
{
	bellhop_retry retry = patience(2, 2);

	EXPECT_EQ(waits_for_receive(retry), 2);
	EXPECT_EQ(waits_in_silence(retry), 3);
	bellhop_retry_progress(&retry);
	EXPECT_EQ(waits_for_receive(retry), 2);
	bellhop_retry_progress(&retry);
	EXPECT_EQ(waits_in_silence(retry), 3);
}

TEST(retry, progress__keeps_what_was_asked_for)
{
	bellhop_retry retry = patience(3, 5, 9);

	bellhop_retry_progress(&retry);
	EXPECT_EQ(retry.retry_cnt, 3);
	EXPECT_EQ(retry.rnr_retry, 5);
	EXPECT_EQ(retry.timeout, 9);
}

TEST(retry, rnr__tries_again_as_often_as_rnr_retry_says)
{
	for (u8 rnr_retry = 0; rnr_retry < BELLHOP_RETRY_RNR_FOREVER; rnr_retry++) {
		bellhop_retry retry = patience(7, rnr_retry);

		EXPECT_EQ(waits_for_receive(retry), rnr_retry);
	}
}

TEST(retry, rnr__seven_is_for_ever)
{
	bellhop_retry retry = patience(0, BELLHOP_RETRY_RNR_FOREVER);

	EXPECT_EQ(waits_for_receive(retry), kForEver);
}

TEST(retry, rnr__does_not_count_against_retry_cnt)
{
	bellhop_retry retry = patience(0, 6);

	EXPECT_EQ(waits_for_receive(retry), 6);
}

TEST(retry, rnr__once_given_up_it_stays_so)
{
	bellhop_retry retry = patience(7, 1);

	EXPECT_EQ(waits_for_receive(retry), 1);
	for (int i = 0; i < 600; i++)
		EXPECT_TRUE(bellhop_retry_rnr(&retry, 1).give_up);
}

TEST(retry, rnr__waits_as_long_as_the_responder_asks)
{
	for (u8 code = 0; code < 32; code++) {
		bellhop_retry retry = patience(7, 7);

		EXPECT_EQ(bellhop_retry_rnr(&retry, code).wait_ns, bellhop_timeout_rnr_ns(code));
	}
}

TEST(retry, rnr__is_an_answer)
{
	bellhop_retry retry = patience(1, 7);

	for (int i = 0; i < 100; i++) {
		EXPECT_FALSE(bellhop_retry_silent(&retry).give_up);
		EXPECT_FALSE(bellhop_retry_silent(&retry).give_up);
		EXPECT_FALSE(bellhop_retry_rnr(&retry, 1).give_up);
	}
}

TEST(retry, silent__the_first_try_and_retry_cnt_more_all_wait)
{
	for (u8 retry_cnt = 0; retry_cnt <= 7; retry_cnt++) {
		bellhop_retry retry = patience(retry_cnt, 0);

		EXPECT_EQ(waits_in_silence(retry), retry_cnt + 1);
	}
}

TEST(retry, silent__once_given_up_it_stays_so)
{
	bellhop_retry retry = patience(7, 7);

	EXPECT_EQ(waits_in_silence(retry), 8);
	for (int i = 0; i < 600; i++)
		EXPECT_TRUE(bellhop_retry_silent(&retry).give_up);
}

TEST(retry, silent__waits_for_the_local_ack_timeout)
{
	for (u8 code = 1; code < 32; code++) {
		bellhop_retry retry = patience(7, 7, code);

		EXPECT_EQ(bellhop_retry_silent(&retry).wait_ns, 4096ULL << code) << int(code);
	}
}

TEST(retry, silent__a_timer_that_is_off_still_ends)
{
	bellhop_retry retry = patience(7, 7, 0);

	EXPECT_EQ(bellhop_retry_silent(&retry).wait_ns, 4096ULL << 19);
	EXPECT_EQ(waits_in_silence(retry), 7);
}

TEST(retry, silent__does_not_refill_rnr)
{
	bellhop_retry retry = patience(7, 2);

	EXPECT_FALSE(bellhop_retry_rnr(&retry, 1).give_up);
	EXPECT_FALSE(bellhop_retry_silent(&retry).give_up);
	EXPECT_FALSE(bellhop_retry_rnr(&retry, 1).give_up);
	EXPECT_FALSE(bellhop_retry_silent(&retry).give_up);
	EXPECT_TRUE(bellhop_retry_rnr(&retry, 1).give_up);
}

static constexpr u64 second = 1000000000;

TEST(retry, absent__ends_after_a_minute_without_progress)
{
	bellhop_retry retry = patience(0, 0);
	const u64 start = 5 * second;

	EXPECT_FALSE(bellhop_retry_absent(&retry, 7, 4096, start).give_up);
	EXPECT_FALSE(bellhop_retry_absent(&retry, 7, 4096, start + 60 * second - 1).give_up);
	EXPECT_TRUE(bellhop_retry_absent(&retry, 7, 4096, start + 60 * second).give_up);
	EXPECT_TRUE(bellhop_retry_absent(&retry, 7, 4096, start + 600 * second).give_up);
}

TEST(retry, absent__any_progress_begins_another_minute)
{
	bellhop_retry retry = patience(0, 0);
	u64 now = second;

	bellhop_retry_absent(&retry, 0, 0, now);
	now += 59 * second;
	EXPECT_FALSE(bellhop_retry_absent(&retry, 0, 65536, now).give_up);
	now += 59 * second;
	EXPECT_FALSE(bellhop_retry_absent(&retry, 1, 65536, now).give_up);
	now += 59 * second;
	EXPECT_FALSE(bellhop_retry_absent(&retry, 1, 65536, now).give_up);
	now += second;
	EXPECT_TRUE(bellhop_retry_absent(&retry, 1, 65536, now).give_up);
}

/* The number of an entry comes again after a reset. */
TEST(retry, absent__a_reset_begins_another_minute)
{
	bellhop_retry retry = patience(0, 0);

	bellhop_retry_absent(&retry, 0, 0, second);
	retry.absent_since_ns = 0;
	EXPECT_FALSE(bellhop_retry_absent(&retry, 0, 0, 100 * second).give_up);
	EXPECT_TRUE(bellhop_retry_absent(&retry, 0, 0, 160 * second).give_up);
}

TEST(retry, absent__looks_again_before_it_is_woken)
{
	bellhop_retry retry = patience(0, 0);

	EXPECT_EQ(bellhop_retry_absent(&retry, 0, 0, second).wait_ns, second / 10);
}
