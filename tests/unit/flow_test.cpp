// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// flow_test.cpp: flow.h: which way data goes, in words and pieces.
#include <gtest/gtest.h>

extern "C" {
#include "flow.h"
}

TEST(flow, direction__only_what_is_fetched_comes_in)
{
	for (u32 opcode = 0; opcode < BELLHOP_OPCODES; opcode++) {
		const bellhop_opcode *op = bellhop_opcode_row(u8(opcode));
		const bool fetches = opcode == BELLHOP_WR_RDMA_READ ||
				     opcode == BELLHOP_WR_ATOMIC_CMP_AND_SWP ||
				     opcode == BELLHOP_WR_ATOMIC_FETCH_AND_ADD;

		EXPECT_EQ(bellhop_flow_direction(op), fetches ? BELLHOP_IN : BELLHOP_OUT) << opcode;
		EXPECT_EQ(bellhop_flow_opposite(op), fetches ? BELLHOP_OUT : BELLHOP_IN) << opcode;
	}
}

TEST(flow, count__rounds_each_piece_up_to_words)
{
	struct {
		u32 bytes, words;
	} const cases[] = { { 0, 0 }, { 1, 1 },		{ 4, 1 },
			    { 5, 2 }, { 65536, 16384 }, { 65535, 16384 } };

	for (const auto &c : cases) {
		bellhop_flow flow{};

		bellhop_flow_count(&flow, BELLHOP_OUT, c.bytes);
		EXPECT_EQ(flow.words[BELLHOP_OUT], c.words) << c.bytes;
		EXPECT_EQ(flow.pieces[BELLHOP_OUT], 1u);
		EXPECT_EQ(flow.words[BELLHOP_IN], 0u);
		EXPECT_EQ(flow.pieces[BELLHOP_IN], 0u);
	}
}

TEST(flow, count__goes_beyond_32_bits)
{
	bellhop_flow flow{};

	flow.words[BELLHOP_IN] = 0xffffffffu;
	flow.pieces[BELLHOP_IN] = 0xffffffffu;
	bellhop_flow_count(&flow, BELLHOP_IN, 64 << 10);
	EXPECT_EQ(flow.words[BELLHOP_IN], 0xffffffffull + 16384);
	EXPECT_EQ(flow.pieces[BELLHOP_IN], 0x100000000ull);
}

TEST(flow, add__sums_each_direction)
{
	bellhop_flow sum{ { 1, 2 }, { 3, 4 } };
	const bellhop_flow flow{ { 10, 20 }, { 30, 40 } };

	bellhop_flow_add(&sum, &flow);
	EXPECT_EQ(sum.words[BELLHOP_OUT], 11u);
	EXPECT_EQ(sum.words[BELLHOP_IN], 22u);
	EXPECT_EQ(sum.pieces[BELLHOP_OUT], 33u);
	EXPECT_EQ(sum.pieces[BELLHOP_IN], 44u);
}
