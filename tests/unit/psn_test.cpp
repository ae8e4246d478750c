// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// psn_test.cpp: psn.h: all numbers near those where arithmetic could go wrong, against wide
// integers.
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

extern "C" {
#include "psn.h"
}

namespace
{

constexpr int64_t kAll = int64_t{ 1 } << 24, kHalf = kAll / 2;

/* What is left of a number of any size. */
u32 wrap(int64_t number)
{
	return u32(((number % kAll) + kAll) % kAll);
}

/* Around the wrap, around the half, and somewhere. */
std::vector<u32> numbers()
{
	std::vector<u32> all;

	for (int64_t middle : { int64_t{ 0 }, kHalf, kHalf / 2, int64_t{ 0x123456 } })
		for (int64_t i = -70; i <= 70; i++)
			all.push_back(wrap(middle + i));
	return all;
}

} // namespace

TEST(psn, add__goes_round)
{
	EXPECT_EQ(bellhop_psn_add(0xffffff, 0), 0xffffffu);
	EXPECT_EQ(bellhop_psn_add(0xffffff, 1), 0u);
	EXPECT_EQ(bellhop_psn_add(0xfffffe, 0x1000003), 1u) << "more than a round";
	EXPECT_EQ(bellhop_psn_add(5, 0xffffffff), 4u) << "2^24 divides 2^32, so this is one back";
	for (u32 psn : numbers())
		for (u32 count : numbers())
			EXPECT_EQ(bellhop_psn_add(psn, count), wrap(int64_t{ psn } + count));
}

TEST(psn, distance__every_distance_across_the_wrap)
{
	for (u32 from : { 0u, 0x7fffffu, 0xffffffu }) {
		int64_t steps = -kHalf;

		/* Not a check for each: there are millions. */
		while (steps < kHalf && bellhop_psn_distance(from, wrap(from + steps)) == steps)
			steps++;
		EXPECT_EQ(steps, kHalf) << from;
	}
}

TEST(psn, distance__is_undone_by_add)
{
	for (u32 from : numbers())
		for (u32 to : numbers())
			ASSERT_EQ(bellhop_psn_add(from, u32(bellhop_psn_distance(from, to))), to);
}

TEST(psn, before__half_of_them_are)
{
	for (u32 from : numbers()) {
		EXPECT_FALSE(bellhop_psn_before(from, from));
		for (int64_t steps : { int64_t{ 1 }, int64_t{ 2 }, int64_t{ 100 }, kHalf - 1 }) {
			const u32 later = wrap(from + steps);

			EXPECT_TRUE(bellhop_psn_before(from, later)) << from << " + " << steps;
			EXPECT_FALSE(bellhop_psn_before(later, from)) << from << " + " << steps;
		}
		EXPECT_TRUE(bellhop_psn_before(wrap(from - kHalf), from)) << "the duplicates' last";
		EXPECT_FALSE(bellhop_psn_before(wrap(from - kHalf - 1), from));
	}
}

TEST(psn, within__only_what_is_in_the_window)
{
	for (u32 first : numbers()) {
		for (u32 count : { 0u, 1u, 2u, 64u }) {
			for (int64_t i = -66; i <= 66; i++)
				ASSERT_EQ(bellhop_psn_within(wrap(first + i), first, count),
					  i >= 0 && i < int64_t{ count })
					<< first << " + " << i << " of " << count;
		}
		EXPECT_TRUE(bellhop_psn_within(wrap(first + kHalf - 1), first, BELLHOP_PSN_HALF));
		EXPECT_FALSE(bellhop_psn_within(wrap(first + kHalf), first, BELLHOP_PSN_HALF));
		EXPECT_TRUE(bellhop_psn_within(wrap(first - 1), first, BELLHOP_PSN_MASK + 1));
	}
}
