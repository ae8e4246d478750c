// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// stash_test.cpp: stash.h, stash.c: which packets have come before their time.
#include <gtest/gtest.h>

extern "C" {
#include "stash.h"
}

namespace
{

constexpr u32 kPsn = 0xffffff; /* the next is 0 */

} // namespace

TEST(stash, put__once_and_not_too_far)
{
	bellhop_stash stash{};
	u32 place = 0;

	EXPECT_TRUE(bellhop_stash_put(&stash, kPsn, 1, &place));
	EXPECT_LT(place, BELLHOP_STASH_PLACES);
	EXPECT_FALSE(bellhop_stash_put(&stash, kPsn, 1, &place));
	EXPECT_TRUE(bellhop_stash_put(&stash, kPsn, BELLHOP_STASH_PLACES - 2, &place));
	EXPECT_FALSE(bellhop_stash_put(&stash, kPsn, BELLHOP_STASH_PLACES - 1, &place));
	EXPECT_FALSE(bellhop_stash_put(&stash, kPsn, 0x800000, &place));
}

TEST(stash, take__from_where_it_was_put)
{
	for (u32 ahead = 1; ahead < BELLHOP_STASH_PLACES; ahead++) {
		const u32 psn = (kPsn + ahead) & 0xffffff;
		bellhop_stash stash{};
		u32 put = 0, taken = 0;

		ASSERT_TRUE(bellhop_stash_put(&stash, kPsn, psn, &put));
		ASSERT_FALSE(bellhop_stash_take(&stash, psn + 1, &taken));
		ASSERT_TRUE(bellhop_stash_take(&stash, psn, &taken));
		ASSERT_EQ(put, taken);
		ASSERT_FALSE(bellhop_stash_take(&stash, psn, &taken));
		ASSERT_EQ(bellhop_stash_gap(&stash, kPsn), 0u);
	}
}

TEST(stash, gap__up_to_the_first)
{
	bellhop_stash stash{};
	u32 place = 0;

	EXPECT_EQ(bellhop_stash_gap(&stash, kPsn), 0u);
	ASSERT_TRUE(bellhop_stash_put(&stash, kPsn, 99, &place));
	EXPECT_EQ(bellhop_stash_gap(&stash, kPsn), 100u);
	ASSERT_TRUE(bellhop_stash_put(&stash, kPsn, 2, &place));
	EXPECT_EQ(bellhop_stash_gap(&stash, kPsn), 3u);
	EXPECT_EQ(bellhop_stash_gap(&stash, 1), 1u);
}

TEST(stash, pass__what_was_executed_goes)
{
	bellhop_stash stash{};
	u32 place = 0;

	for (u32 psn = 0; psn < 100; psn++)
		ASSERT_TRUE(bellhop_stash_put(&stash, kPsn, psn, &place));
	bellhop_stash_pass(&stash, kPsn, 41);
	EXPECT_FALSE(bellhop_stash_take(&stash, 39, &place));
	EXPECT_TRUE(bellhop_stash_take(&stash, 40, &place));
	bellhop_stash_pass(&stash, 41, 0x7fffffff);
	EXPECT_EQ(bellhop_stash_gap(&stash, 41), 0u);
}
