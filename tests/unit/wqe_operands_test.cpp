// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe_operands_test.cpp: wqe.c: entries with something else than payload: operands, and binds.
#include <gtest/gtest.h>
#include "wqe_slot.hpp"

TEST(wqe, decode_send__an_atomic_has_one_element_and_two_operands)
{
	for (u8 opcode : { BELLHOP_WR_ATOMIC_CMP_AND_SWP, BELLHOP_WR_ATOMIC_FETCH_AND_ADD }) {
		const bellhop_wqe_limits limits = { 2, 0, BELLHOP_SERVICE_RC };
		const bool adds = opcode == BELLHOP_WR_ATOMIC_FETCH_AND_ADD;
		SendSlot slot{ bellhop_wqe_send_stride(&limits) };
		struct {
			bellhop_sge element = { 0x1000, BELLHOP_ATOMIC_BYTES, 7 };
			bellhop_operands operands = { ~0ULL - 1, 0 };
		} payload;
		bellhop_send_wqe wqe;
		const auto decoded = [&](u16 num_sge) {
			slot.set_head(send_head(opcode, 0, num_sge));
			std::memcpy(slot.payload(), &payload, sizeof(payload));
			std::memset(&wqe, 0xa5, sizeof(wqe));
			return bellhop_wqe_decode_send(&wqe, slot.bytes(), &limits);
		};

		EXPECT_EQ(decoded(1), BELLHOP_REASON_NONE);
		EXPECT_EQ(wqe.length, BELLHOP_ATOMIC_BYTES);
		EXPECT_EQ(wqe.operands.compare_add, ~0ULL - 1);
		EXPECT_EQ(wqe.sge[0].lkey, 7u);
		EXPECT_EQ(decoded(0), BELLHOP_REASON_WR_NUM_SGE);
		EXPECT_EQ(decoded(2), BELLHOP_REASON_WR_NUM_SGE);
		payload.operands.swap = 3;
		EXPECT_EQ(decoded(1), adds ? BELLHOP_REASON_WR_RESERVED : BELLHOP_REASON_NONE);
		payload.operands.swap = 0;
		for (u32 length : { 0u, 4u, 7u, 9u, 16u, ~0u }) {
			payload.element.length = length;
			EXPECT_EQ(decoded(1), BELLHOP_REASON_WR_LENGTH) << length;
			EXPECT_EQ(wqe.length, 0u);
		}
	}
}

TEST(wqe, decode_send__an_atomic_write_has_one_word_of_payload)
{
	const bellhop_wqe_limits limits = { 2, 16, BELLHOP_SERVICE_RC };
	SendSlot slot{ bellhop_wqe_send_stride(&limits) };
	struct {
		bellhop_sge first = { 0x1000, 4, 7 }, second = { 0x2000, 4, 7 };
	} payload;
	bellhop_send_wqe wqe;
	const auto decoded = [&](u8 flags, u16 num_sge, u32 inline_length) {
		bellhop_sqe head = send_head(BELLHOP_WR_ATOMIC_WRITE, flags, num_sge);

		head.inline_length = inline_length;
		slot.set_head(head);
		std::memcpy(slot.payload(), &payload, sizeof(payload));
		std::memset(&wqe, 0xa5, sizeof(wqe));
		return bellhop_wqe_decode_send(&wqe, slot.bytes(), &limits);
	};

	EXPECT_EQ(decoded(0, 2, 0), BELLHOP_REASON_NONE);
	EXPECT_EQ(wqe.length, BELLHOP_ATOMIC_BYTES);
	EXPECT_EQ(decoded(0, 1, 0), BELLHOP_REASON_WR_LENGTH);
	EXPECT_EQ(wqe.length, 0u);
	payload.second.length = 5;
	EXPECT_EQ(decoded(0, 2, 0), BELLHOP_REASON_WR_LENGTH);
	for (u32 length = 0; length <= 16; length++) {
		EXPECT_EQ(decoded(BELLHOP_SQE_INLINE, 0, length),
			  length == BELLHOP_ATOMIC_BYTES ? BELLHOP_REASON_NONE
							 : BELLHOP_REASON_WR_LENGTH);
		EXPECT_EQ(wqe.length, length == BELLHOP_ATOMIC_BYTES ? length : 0u);
	}
}

TEST(wqe, decode_send__an_atomic_write_without_payload_brings_its_word)
{
	for (const bellhop_wqe_limits &limits :
	     { bellhop_wqe_limits{ 0, 0, BELLHOP_SERVICE_RC },
	       bellhop_wqe_limits{ 0, 0, BELLHOP_SERVICE_XRC }, kWidest }) {
		SendSlot slot{ bellhop_wqe_send_stride(&limits) };
		struct {
			bellhop_sge element = { ~0ULL, ~0u, ~0u };
			bellhop_operands operands = { 0x1234'5678'9abc'def0ULL, 0 };
		} payload;
		bellhop_send_wqe wqe;
		const auto decoded = [&] {
			slot.set_head(send_head(BELLHOP_WR_ATOMIC_WRITE));
			std::memcpy(slot.payload(), &payload, sizeof(payload));
			std::memset(&wqe, 0xa5, sizeof(wqe));
			return bellhop_wqe_decode_send(&wqe, slot.bytes(), &limits);
		};

		EXPECT_EQ(decoded(), BELLHOP_REASON_NONE);
		EXPECT_EQ(wqe.length, BELLHOP_ATOMIC_BYTES);
		EXPECT_EQ(wqe.operands.compare_add, payload.operands.compare_add);
		payload.operands.swap = 1;
		EXPECT_EQ(decoded(), BELLHOP_REASON_WR_RESERVED);
		EXPECT_EQ(wqe.length, 0u);
	}
}

TEST(wqe, decode_send__a_bind_stands_behind_the_head_in_every_queue)
{
	for (const bellhop_wqe_limits &limits :
	     { bellhop_wqe_limits{ 0, 0, BELLHOP_SERVICE_RC },
	       bellhop_wqe_limits{ 0, 0, BELLHOP_SERVICE_UC }, kWidest }) {
		SendSlot slot{ bellhop_wqe_send_stride(&limits) };
		bellhop_bind bind = { 0x1234'5678'9abcULL, ~0ULL, 0x77, 0 };
		bellhop_send_wqe wqe;
		const auto decoded = [&](u8 opcode, u16 num_sge) {
			slot.set_head(send_head(opcode, 0, num_sge));
			std::memcpy(slot.payload(), &bind, sizeof(bind));
			std::memset(&wqe, 0xa5, sizeof(wqe));
			return bellhop_wqe_decode_send(&wqe, slot.bytes(), &limits);
		};

		for (unsigned bit = 0; bit < 32; bit++) {
			const bool known = bit == 1 || bit == 2 || bit == 3 || bit == 5;

			bind.access = 1u << bit;
			EXPECT_EQ(decoded(BELLHOP_WR_BIND_MW, 0),
				  known ? BELLHOP_REASON_NONE : BELLHOP_REASON_WR_FLAGS)
				<< bit;
			EXPECT_EQ(wqe.length, 0u);
			EXPECT_EQ(std::memcmp(&wqe.bind, &bind, sizeof(bind)), 0);
			/* What is there does not matter to what needs it not. */
			EXPECT_EQ(decoded(BELLHOP_WR_LOCAL_INV, 0), BELLHOP_REASON_NONE);
			EXPECT_EQ(wqe.length, 0u);
		}
		bind = {};
		for (u8 opcode : { BELLHOP_WR_BIND_MW, BELLHOP_WR_LOCAL_INV })
			EXPECT_EQ(decoded(opcode, 1), BELLHOP_REASON_WR_NUM_SGE);
	}
}

/* A queue without elements has no room for one. */
TEST(wqe, decode_send__an_atomic_needs_a_queue_with_elements)
{
	const bellhop_wqe_limits limits = { 0, 0, BELLHOP_SERVICE_RC };
	bellhop_send_wqe wqe;

	EXPECT_EQ(decode(wqe, send_head(BELLHOP_WR_ATOMIC_FETCH_AND_ADD, 0, 1), limits),
		  BELLHOP_REASON_WR_NUM_SGE);
	EXPECT_EQ(decode(wqe, send_head(BELLHOP_WR_ATOMIC_FETCH_AND_ADD), limits),
		  BELLHOP_REASON_WR_NUM_SGE);
}
