// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// pma_test.cpp: pma.h: every byte of the answers to requests for counters.
#include <array>
#include <gtest/gtest.h>

extern "C" {
#include "pma.h"
}

namespace
{

using Mad = std::array<u8, BELLHOP_PMA_BYTES>;

constexpr u32 kClassPortInfo = 0x01, kCounters = 0x12, kExtended = 0x1d;
constexpr size_t kData = 64;

Mad request(u32 attribute, u8 port = 1, u8 method = 1)
{
	Mad mad{};

	mad[0] = 1;
	mad[1] = 4;
	mad[2] = 1;
	mad[3] = method;
	for (u8 i = 0; i < 8; i++)
		mad[8 + i] = u8(0xa0 + i); /* the transaction */
	mad[16] = u8(attribute >> 8);
	mad[17] = u8(attribute);
	mad[kData + 1] = port;
	mad[kData + 2] = 0xf0;
	mad[kData + 3] = 0x0f;
	return mad;
}

constexpr bellhop_pma_counts kCounts = {
	.xmit_words = 0x1122334455667788,
	.rcv_words = 0x99,
	.xmit_packets = 1000,
	.rcv_packets = 0x100000000,
	.multicast_xmit = 10,
	.multicast_rcv = 20,
	.xmit_discards = 0x1234,
};

Mad answer(const Mad &mad, const bellhop_pma_counts &counts = kCounts)
{
	Mad reply;

	reply.fill(0xee);
	EXPECT_TRUE(bellhop_pma_is_asked(mad.data()));
	bellhop_pma_answer(mad.data(), &counts, reply.data());
	return reply;
}

u64 at(const Mad &mad, size_t offset, size_t bytes)
{
	u64 value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | mad[offset + i];
	return value;
}

u64 status(const Mad &mad)
{
	return at(mad, 4, 2);
}

/* But for the places that are named, there is nothing. */
void expect_zero_but(const Mad &mad, size_t from, size_t to)
{
	for (size_t i = kData; i < mad.size(); i++)
		EXPECT_TRUE(!mad[i] || (i >= from && i < to)) << "byte " << i;
}

TEST(pma, is_asked__by_requests_of_its_class_alone)
{
	for (int method = 0; method < 256; method++)
		for (int mgmt_class = 0; mgmt_class < 256; mgmt_class++) {
			Mad mad = request(kCounters, 1, u8(method));

			mad[1] = u8(mgmt_class);
			EXPECT_EQ(bellhop_pma_is_asked(mad.data()),
				  mgmt_class == 4 && (method == 1 || method == 2));
		}
}

TEST(pma, answer__says_what_was_asked)
{
	for (u32 attribute : { kClassPortInfo, kCounters, kExtended, 0x7777u }) {
		const Mad mad = request(attribute), reply = answer(mad);

		EXPECT_EQ(reply[3], 0x81);
		for (size_t i : { 0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 })
			EXPECT_EQ(reply[i], mad[i]) << "byte " << i;
		for (size_t i = 24; i < kData; i++)
			EXPECT_EQ(reply[i], 0) << "byte " << i;
	}
}

TEST(pma, answer__class_port_info_has_extended_counters)
{
	const Mad reply = answer(request(kClassPortInfo, 0));

	EXPECT_EQ(status(reply), 0u);
	EXPECT_EQ(reply[kData], 1);
	EXPECT_EQ(reply[kData + 1], 1);
	EXPECT_EQ(at(reply, kData + 2, 2), 0x0300u);
	EXPECT_EQ(at(reply, kData + 4, 4), 18u);
	expect_zero_but(reply, kData, kData + 8);
}

TEST(pma, answer__counters_of_32_bits_stop_where_they_are_full)
{
	for (u8 port : { u8{ 1 }, u8{ 0xff } }) {
		const Mad reply = answer(request(kCounters, port));

		EXPECT_EQ(status(reply), 0u);
		EXPECT_EQ(reply[kData + 1], port);
		EXPECT_EQ(at(reply, kData + 2, 2), 0xf00fu);
		EXPECT_EQ(at(reply, kData + 14, 2), 0x1234u);
		EXPECT_EQ(at(reply, kData + 24, 4), 0xffffffffu);
		EXPECT_EQ(at(reply, kData + 28, 4), 0x99u);
		EXPECT_EQ(at(reply, kData + 32, 4), 1000u);
		EXPECT_EQ(at(reply, kData + 36, 4), 0xffffffffu);
		EXPECT_EQ(at(reply, kData + 4, 8), 0u);
		EXPECT_EQ(at(reply, kData + 16, 8), 0u);
		expect_zero_but(reply, kData + 1, kData + 40);
	}
}

TEST(pma, answer__discards_stop_where_they_are_full)
{
	bellhop_pma_counts counts = kCounts;

	counts.xmit_discards = 0x10000;
	EXPECT_EQ(at(answer(request(kCounters), counts), kData + 14, 2), 0xffffu);
	counts.xmit_discards = 0xffff;
	EXPECT_EQ(at(answer(request(kCounters), counts), kData + 14, 2), 0xffffu);
}

TEST(pma, answer__extended_counters_have_64_bits)
{
	const Mad reply = answer(request(kExtended));

	EXPECT_EQ(status(reply), 0u);
	EXPECT_EQ(reply[kData + 1], 1);
	EXPECT_EQ(at(reply, kData + 8, 8), 0x1122334455667788u);
	EXPECT_EQ(at(reply, kData + 16, 8), 0x99u);
	EXPECT_EQ(at(reply, kData + 24, 8), 1000u);
	EXPECT_EQ(at(reply, kData + 32, 8), 0x100000000u);
	EXPECT_EQ(at(reply, kData + 40, 8), 990u);
	EXPECT_EQ(at(reply, kData + 48, 8), 0x100000000u - 20);
	EXPECT_EQ(at(reply, kData + 56, 8), 10u);
	EXPECT_EQ(at(reply, kData + 64, 8), 20u);
	expect_zero_but(reply, kData + 1, kData + 72);
}

TEST(pma, answer__the_whole_is_never_less_than_a_part)
{
	bellhop_pma_counts counts = {};

	counts.multicast_xmit = counts.multicast_rcv = 5;
	const Mad reply = answer(request(kExtended), counts);
	EXPECT_EQ(at(reply, kData + 40, 8), 0u);
	EXPECT_EQ(at(reply, kData + 48, 8), 0u);
}

TEST(pma, answer__refuses_with_a_reason)
{
	struct {
		Mad mad;
		u64 status;
	} cases[] = {
		{ request(kCounters, 0), 0x1c },   { request(kCounters, 2), 0x1c },
		{ request(kExtended, 0), 0x1c },   { request(kCounters, 1, 2), 0x08 },
		{ request(0x10, 1), 0x0c },	   { request(0x1e, 1), 0x0c },
		{ request(0x0112, 1), 0x0c },	   { request(kCounters), 0x04 },
		{ request(kClassPortInfo), 0x04 },
	};

	cases[7].mad[0] = 2;
	cases[8].mad[2] = 2;
	for (const auto &c : cases) {
		const Mad reply = answer(c.mad);

		EXPECT_EQ(status(reply), c.status);
		EXPECT_EQ(reply[3], 0x81);
		expect_zero_but(reply, kData, kData);
	}
}

} // namespace
