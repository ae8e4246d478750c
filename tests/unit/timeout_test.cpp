// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// timeout_test.cpp: timeout.h and timeout.c: every code of both timers.
#include <gtest/gtest.h>

extern "C" {
#include "timeout.h"
}

TEST(timeout, rnr_ns__every_code_of_table_47)
{
	/* milliseconds times 100, as the table prints them without the point */
	const u64 table[32] = {
		65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
		48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	for (u8 code = 0; code < 32; code++)
		EXPECT_EQ(bellhop_timeout_rnr_ns(code), table[code] * 10000) << int(code);
}

TEST(timeout, rnr_ns__landmarks)
{
	EXPECT_EQ(bellhop_timeout_rnr_ns(0), 655360000u);
	EXPECT_EQ(bellhop_timeout_rnr_ns(1), 10000u);
	EXPECT_EQ(bellhop_timeout_rnr_ns(12), 640000u);
	EXPECT_EQ(bellhop_timeout_rnr_ns(31), 491520000u);
}

TEST(timeout, rnr_ns__follows_the_rule_behind_the_table)
{
	/* from code 5 on, two steps double; code 0 is where code 32 would be */
	for (u8 code = 5; code < 32; code++)
		EXPECT_EQ(bellhop_timeout_rnr_ns(code), 2 * bellhop_timeout_rnr_ns(code - 2))
			<< int(code);
	EXPECT_EQ(bellhop_timeout_rnr_ns(0), 2 * bellhop_timeout_rnr_ns(30));
}

TEST(timeout, rnr_ns__only_five_bits_count)
{
	for (unsigned code = 32; code < 256; code++)
		EXPECT_EQ(bellhop_timeout_rnr_ns(u8(code)), bellhop_timeout_rnr_ns(code % 32));
}

TEST(timeout, ack_ns__every_code)
{
	EXPECT_EQ(bellhop_timeout_ack_ns(0), 0u);
	u64 expected = 4096;
	for (u8 code = 1; code < 32; code++) {
		expected *= 2;
		EXPECT_EQ(bellhop_timeout_ack_ns(code), expected) << int(code);
	}
}

TEST(timeout, ack_ns__only_five_bits_count)
{
	for (unsigned code = 32; code < 256; code++)
		EXPECT_EQ(bellhop_timeout_ack_ns(u8(code)), bellhop_timeout_ack_ns(code % 32));
}
