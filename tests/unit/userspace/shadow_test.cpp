// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shadow_test.cpp: shadow.hpp, one thread; shadow_race_test.cpp races it.
#include <gtest/gtest.h>
#include "shadow.hpp"

namespace
{

using bellhop::Shadow;

constexpr std::uint32_t SLOTS = 8;

class ShadowTest : public testing::Test
{
protected:
	ShadowTest()
	{
		EXPECT_TRUE(shadow_.allocate(SLOTS));
	}

	// Entries from..from+count-1, each with its number, doubled, as wr_id.
	void fill(std::uint32_t from, std::uint32_t count)
	{
		for (std::uint32_t i = 0; i < count; i++) {
			ASSERT_FALSE(shadow_.is_full(from + i));
			shadow_.remember(from + i, 2ULL * (from + i));
		}
	}

	Shadow shadow_;
};

TEST(Shadow, WithoutSlotsIsAlwaysFull)
{
	Shadow shadow;

	EXPECT_TRUE(shadow.allocate(0));
	EXPECT_TRUE(shadow.is_full(0));
}

TEST_F(ShadowTest, HoldsAsManyAsItHasSlots)
{
	fill(0, SLOTS);
	EXPECT_TRUE(shadow_.is_full(SLOTS));
}

TEST_F(ShadowTest, RetiringFreesOneSlotAndTellsItsWrId)
{
	fill(0, SLOTS);
	EXPECT_EQ(shadow_.retire(0), 0U);
	EXPECT_FALSE(shadow_.is_full(SLOTS));
	EXPECT_TRUE(shadow_.is_full(SLOTS + 1));
	EXPECT_EQ(shadow_.retire(1), 2U);
	EXPECT_FALSE(shadow_.is_full(SLOTS + 1));
}

TEST_F(ShadowTest, RetiringFreesWhatCameBefore)
{
	fill(0, SLOTS);
	EXPECT_EQ(shadow_.retire(4), 8U);
	fill(SLOTS, 5);
	EXPECT_TRUE(shadow_.is_full(SLOTS + 5));
	EXPECT_EQ(shadow_.retire(SLOTS + 4), 2U * (SLOTS + 4));
	fill(SLOTS + 5, SLOTS);
	EXPECT_TRUE(shadow_.is_full(2 * SLOTS + 5));
}

TEST_F(ShadowTest, KeepsCountWhenIndicesWrap)
{
	constexpr std::uint32_t START = 0xfffffffc;

	shadow_.retire(START - 1);
	fill(START, SLOTS);
	EXPECT_TRUE(shadow_.is_full(START + SLOTS));
	EXPECT_EQ(shadow_.retire(0xffffffff), 2ULL * 0xffffffff);
	EXPECT_FALSE(shadow_.is_full(START + SLOTS + 3));
	EXPECT_TRUE(shadow_.is_full(START + SLOTS + 4));
	EXPECT_EQ(shadow_.retire(3), 6U);
	fill(4, SLOTS);
}

TEST_F(ShadowTest, ResetForgetsAll)
{
	fill(0, SLOTS);
	shadow_.retire(2);
	shadow_.reset();
	fill(0, SLOTS);
	EXPECT_TRUE(shadow_.is_full(SLOTS));
}

} // namespace
