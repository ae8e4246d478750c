// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// dm_test.cpp: dm.h: how much of device memory may be had.
#include <cerrno>
#include <gtest/gtest.h>

extern "C" {
#include "dm.h"
}

TEST(dm, check__from_one_byte_to_all_there_is)
{
	EXPECT_EQ(bellhop_dm_check(1, 0), 0);
	EXPECT_EQ(bellhop_dm_check(BELLHOP_DM_TOTAL, 0), 0);
	EXPECT_EQ(bellhop_dm_check(BELLHOP_DM_TOTAL + 1, 0), -ENOMEM);
	EXPECT_EQ(bellhop_dm_check(~0ULL, 0), -ENOMEM);
	EXPECT_EQ(bellhop_dm_check(0, 0), -EINVAL);
}

/* The core keeps the length in 32 bits. */
TEST(dm, check__a_length_that_is_small_when_it_is_cut)
{
	EXPECT_EQ(bellhop_dm_check((1ULL << 32) + 64, 0), -ENOMEM);
}

TEST(dm, check__alignments_up_to_the_smallest_page)
{
	EXPECT_EQ(bellhop_dm_check(64, BELLHOP_DM_LOG_ALIGN_MAX), 0);
	EXPECT_EQ(bellhop_dm_check(64, BELLHOP_DM_LOG_ALIGN_MAX + 1), -EINVAL);
	EXPECT_EQ(bellhop_dm_check(64, ~0u), -EINVAL);
}
