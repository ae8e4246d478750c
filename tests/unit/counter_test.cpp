// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// counter_test.cpp: counter.h: names of counters, and which of them a reason belongs to.
#include <gtest/gtest.h>
#include <set>
#include <string>

extern "C" {
#include "counter.h"
}

namespace
{

TEST(counter, names__are_those_of_files_and_none_comes_twice)
{
	std::set<std::string> seen;

	for (const char *name : bellhop_counter_names) {
		ASSERT_TRUE(name);
		EXPECT_NE(*name, '\0');
		EXPECT_EQ(std::string(name).find_first_not_of("abcdefghijklmnopqrstuvwxyz_"),
			  std::string::npos)
			<< name;
		EXPECT_TRUE(seen.insert(name).second) << name;
	}
}

TEST(counter, of__every_key_error_has_its_own)
{
	std::set<bellhop_counter> seen;

	for (bellhop_reason reason :
	     { BELLHOP_REASON_LKEY_UNKNOWN, BELLHOP_REASON_LKEY_PD, BELLHOP_REASON_LKEY_ACCESS,
	       BELLHOP_REASON_LKEY_RANGE, BELLHOP_REASON_RKEY_UNKNOWN, BELLHOP_REASON_RKEY_PD,
	       BELLHOP_REASON_RKEY_ACCESS, BELLHOP_REASON_RKEY_RANGE, BELLHOP_REASON_RKEY_QP,
	       BELLHOP_REASON_LKEY_ABSENT, BELLHOP_REASON_RKEY_ABSENT }) {
		EXPECT_NE(bellhop_counter_of(reason), BELLHOP_COUNTER_BAD_REQUESTS) << reason;
		EXPECT_TRUE(seen.insert(bellhop_counter_of(reason)).second) << reason;
	}
}

TEST(counter, of__reasons_that_belong_together)
{
	struct {
		int first, last;
		bellhop_counter counter;
	} const cases[] = {
		{ BELLHOP_REASON_RING_INDEX, BELLHOP_REASON_WR_ADDRESS,
		  BELLHOP_COUNTER_BAD_REQUESTS },
		{ BELLHOP_REASON_MW_UNKNOWN, BELLHOP_REASON_MW_RANGE,
		  BELLHOP_COUNTER_WINDOW_ERRORS },
		{ BELLHOP_REASON_XRC_SRQ_UNKNOWN, BELLHOP_REASON_XRC_DOMAIN,
		  BELLHOP_COUNTER_XRC_ERRORS },
		{ BELLHOP_REASON_QP_ACCESS, BELLHOP_REASON_QP_ACCESS, BELLHOP_COUNTER_NOT_ALLOWED },
		{ BELLHOP_REASON_NO_RD_ATOMIC, BELLHOP_REASON_NO_RD_ATOMIC,
		  BELLHOP_COUNTER_NOT_ALLOWED },
		{ BELLHOP_REASON_RNR, BELLHOP_REASON_RNR, BELLHOP_COUNTER_DROPPED_NO_RECEIVE },
		{ BELLHOP_REASON_SILENT, BELLHOP_REASON_SILENT, BELLHOP_COUNTER_DROPPED_STATE },
	};

	for (const auto &c : cases)
		for (int reason = c.first; reason <= c.last; reason++)
			EXPECT_EQ(bellhop_counter_of(bellhop_reason(reason)), c.counter) << reason;
}

TEST(counter, of__any_number_has_one)
{
	for (u32 reason : { 0u, 15u, 36u, 37u, 63u, 79u, 88u, 89u, 1000u, 0x7fffffffu })
		EXPECT_LT(bellhop_counter_of(bellhop_reason(reason)), BELLHOP_COUNTERS) << reason;
	EXPECT_EQ(bellhop_counter_of(bellhop_reason(0)), BELLHOP_COUNTER_BAD_REQUESTS);
	EXPECT_EQ(bellhop_counter_of(bellhop_reason(1000)), BELLHOP_COUNTER_BAD_REQUESTS);
}

} // namespace
