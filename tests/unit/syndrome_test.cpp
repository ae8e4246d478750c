// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// syndrome_test.cpp: syndrome.h: every byte, and the table of credits.
#include <gtest/gtest.h>

extern "C" {
#include "syndrome.h"
}

namespace
{

/* As the IBA prints it. */
constexpr u32 kCredits[] = {
	0,    1,    2,	  3,	4,    6,     8,	    12,	   16,	  24,	32,
	48,   64,   96,	  128,	192,  256,   384,   512,   768,	  1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

} // namespace

TEST(syndrome, encode__as_on_the_wire)
{
	EXPECT_EQ(bellhop_syndrome_encode(BELLHOP_SYNDROME_ACK, 0), 0);
	EXPECT_EQ(bellhop_syndrome_encode(BELLHOP_SYNDROME_ACK, BELLHOP_SYNDROME_NO_CREDITS), 0x1f);
	EXPECT_EQ(bellhop_syndrome_encode(BELLHOP_SYNDROME_RNR_NAK, 12), 0x2c);
	EXPECT_EQ(bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_PSN_SEQUENCE_ERROR),
		  0x60);
	EXPECT_EQ(bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_INVALID_REQUEST), 0x61);
	EXPECT_EQ(bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_REMOTE_ACCESS_ERROR),
		  0x62);
	EXPECT_EQ(
		bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_REMOTE_OPERATIONAL_ERROR),
		0x63);
	EXPECT_EQ(bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_INVALID_RD_REQUEST),
		  0x64);
	EXPECT_EQ(bellhop_syndrome_encode(BELLHOP_SYNDROME_RNR_NAK, 0xffffffe5), 0x25)
		<< "five bits";
}

TEST(syndrome, kind__and_value_are_what_was_encoded)
{
	for (u32 byte = 0; byte < 256; byte++) {
		const bellhop_syndrome kind = bellhop_syndrome_kind(u8(byte));

		EXPECT_EQ(bellhop_syndrome_encode(kind, bellhop_syndrome_value(u8(byte))),
			  byte & 0x7f);
	}
	EXPECT_EQ(bellhop_syndrome_kind(0x9f), BELLHOP_SYNDROME_ACK) << "a reserved bit";
	EXPECT_EQ(bellhop_syndrome_kind(0x20), BELLHOP_SYNDROME_RNR_NAK);
	EXPECT_EQ(bellhop_syndrome_kind(0x5f), BELLHOP_SYNDROME_REPAIR);
	EXPECT_EQ(bellhop_syndrome_kind(0x7f), BELLHOP_SYNDROME_NAK);
}

TEST(syndrome, credits__as_in_the_table)
{
	static_assert(std::size(kCredits) == BELLHOP_SYNDROME_NO_CREDITS);
	for (u32 count = 0; count < std::size(kCredits); count++)
		EXPECT_EQ(bellhop_syndrome_credits(count), kCredits[count]) << count;
}

TEST(syndrome, count__promises_no_more_than_there_are)
{
	u32 count = 0;

	for (u32 credits = 0; credits < 40000; credits++) {
		if (count + 1 < std::size(kCredits) && kCredits[count + 1] <= credits)
			count++;
		ASSERT_EQ(bellhop_syndrome_count(credits), count) << credits;
	}
	EXPECT_EQ(bellhop_syndrome_count(0xffffffff), 30u);
}
