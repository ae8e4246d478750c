// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// segment_test.cpp: segment.c: how many packets a message has, and what they are called.
#include <gtest/gtest.h>

extern "C" {
#include "bth.h"
#include "opcode.h"
#include "segment.h"
}

TEST(segment, count__an_empty_message_has_one_packet)
{
	EXPECT_EQ(bellhop_segment_count(0, 256), 1u);
	EXPECT_EQ(bellhop_segment_bytes(0, 256, 0), 0u);
}

TEST(segment, count__at_the_edges_of_packets)
{
	for (u32 mtu : { 256u, 512u, 1024u, 2048u, 4096u }) {
		EXPECT_EQ(bellhop_segment_count(1, mtu), 1u);
		EXPECT_EQ(bellhop_segment_count(mtu, mtu), 1u);
		EXPECT_EQ(bellhop_segment_count(mtu + 1, mtu), 2u);
		EXPECT_EQ(bellhop_segment_count(BELLHOP_MAX_MESSAGE, mtu),
			  BELLHOP_MAX_MESSAGE / mtu);
	}
}

TEST(segment, bytes__add_up_to_the_message)
{
	for (u32 length : { 1u, 255u, 256u, 257u, 1000u, 4096u }) {
		u32 total = 0;

		for (u32 i = 0; i < bellhop_segment_count(length, 256); i++)
			total += bellhop_segment_bytes(length, 256, i);
		EXPECT_EQ(total, length);
	}
}

TEST(segment, opcode__is_one_that_the_service_has_at_every_place)
{
	constexpr bellhop_service services[] = { BELLHOP_SERVICE_RC, BELLHOP_SERVICE_UC,
						 BELLHOP_SERVICE_XRC };

	for (bellhop_service service : services)
		for (u8 wr = 0; wr < BELLHOP_OPCODES; wr++) {
			const bellhop_opcode *op = bellhop_opcode_row(wr);

			if (!(op->services & service) || (op->traits & BELLHOP_OP_LOCAL))
				continue;
			for (int place = 0; place < 4; place++) {
				const bool first = place & 1, last = place & 2;
				const bellhop_bth *row = bellhop_bth_row(
					bellhop_segment_opcode(service, wr, first, last));

				ASSERT_TRUE(row->bytes) << int(wr);
				EXPECT_EQ(row->service, service);
				if (op->traits & (BELLHOP_OP_READ | BELLHOP_OP_WORD))
					continue;
				EXPECT_EQ(bool(row->traits & BELLHOP_BTH_IS_FIRST), first);
				EXPECT_EQ(bool(row->traits & BELLHOP_BTH_IS_LAST), last);
				EXPECT_EQ(bool(row->headers & BELLHOP_HAS_IMMDT),
					  last && (op->traits & BELLHOP_OP_IMM));
				EXPECT_EQ(bool(row->headers & BELLHOP_HAS_IETH),
					  last && (op->traits & BELLHOP_OP_INVALIDATE));
				EXPECT_EQ(bool(row->headers & BELLHOP_HAS_RETH),
					  first && (op->traits & BELLHOP_OP_REMOTE));
			}
		}
}

TEST(segment, response_opcode__says_where_in_the_answer_it_stands)
{
	for (int place = 0; place < 4; place++) {
		const bellhop_bth *row = bellhop_bth_row(
			bellhop_segment_response_opcode(BELLHOP_SERVICE_RC, place & 1, place & 2));

		EXPECT_EQ(row->operation, BELLHOP_OPERATION_READ);
		EXPECT_TRUE(row->traits & BELLHOP_BTH_IS_RESPONSE);
		EXPECT_EQ(bool(row->traits & BELLHOP_BTH_IS_FIRST), bool(place & 1));
		EXPECT_EQ(bool(row->traits & BELLHOP_BTH_IS_LAST), bool(place & 2));
	}
}

TEST(segment, service__that_of_datagrams)
{
	EXPECT_EQ(bellhop_segment_service(BELLHOP_SERVICE_UD), BELLHOP_BTH_UD);
}

TEST(segment, wr__is_what_the_last_packet_was_made_of)
{
	for (u8 wr = 0; wr < BELLHOP_OPCODES; wr++) {
		const bellhop_opcode *op = bellhop_opcode_row(wr);

		if (!(op->services & BELLHOP_SERVICE_RC) || (op->traits & BELLHOP_OP_LOCAL))
			continue;
		for (bool first : { false, true })
			EXPECT_EQ(bellhop_segment_wr(bellhop_segment_opcode(BELLHOP_SERVICE_RC, wr,
									    first, true)),
				  wr);
	}
	EXPECT_EQ(bellhop_segment_wr(BELLHOP_BTH_SEND_FIRST), BELLHOP_WR_SEND);
	EXPECT_EQ(bellhop_segment_wr(BELLHOP_BTH_UC | BELLHOP_BTH_WRITE_MIDDLE),
		  BELLHOP_WR_RDMA_WRITE);
}
