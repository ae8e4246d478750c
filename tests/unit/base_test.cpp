// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// base_test.cpp: base.h: what user space puts in place of the kernel's primitives.
#include <gtest/gtest.h>

extern "C" {
#include "base.h"
}

TEST(base, array_index_nospec__keeps_what_is_inside)
{
	EXPECT_EQ(array_index_nospec(0u, 5u), 0u);
	EXPECT_EQ(array_index_nospec(4u, 5u), 4u);
}

TEST(base, array_index_nospec__leads_what_is_outside_to_the_first)
{
	EXPECT_EQ(array_index_nospec(5u, 5u), 0u);
	EXPECT_EQ(array_index_nospec(~0u, 5u), 0u);
}

TEST(base, cmpxchg__exchanges_what_it_expected_and_returns_it)
{
	u32 word = 7;

	EXPECT_EQ(cmpxchg(&word, 7, 9), 7u);
	EXPECT_EQ(word, 9u);
}

TEST(base, cmpxchg__leaves_anything_else_and_returns_that)
{
	u32 word = 7;

	EXPECT_EQ(cmpxchg(&word, 8, 9), 7u);
	EXPECT_EQ(word, 7u);
}

TEST(base, crc32_le__inverts_nothing)
{
	const char *const check = "123456789";

	EXPECT_EQ(~crc32_le(~0u, check, 9), 0xcbf43926u) << "the value that names this CRC";
	EXPECT_EQ(crc32_le(crc32_le(~0u, check, 4), check + 4, 5), crc32_le(~0u, check, 9));
	EXPECT_EQ(crc32_le(5, nullptr, 0), 5u);
}
