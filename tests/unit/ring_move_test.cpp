// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ring_move_test.cpp: bellhop_ring_move() of ring.h.
#include <algorithm>
#include <vector>

#include "completion_ring.hpp"

TEST(ring, move__goes_on_at_the_first_slot_of_the_other_ring)
{
	for (u32 start : kStarts) {
		CompletionRing old{ 4, start }, other{ 8 };

		for (u32 i = 0; i < 3; i++) {
			bellhop_completion completion = entry(i);
			ASSERT_EQ(bellhop_ring_push(&old.end, &completion), 0);
		}
		ASSERT_EQ(bellhop_ring_move(&old.end, &other.end), 0);
		EXPECT_EQ(old.end.hdr, other.memory.hdr());
		for (u32 i = 0; i < 8; i++) {
			bellhop_completion completion = entry(10 + i);
			EXPECT_FALSE(other.has(i));
			ASSERT_EQ(bellhop_ring_push(&old.end, &completion), 0);
			ASSERT_TRUE(other.has(i));
			expect_entry(*other.at(i), 10 + i);
		}
		bellhop_completion completion = entry(20);
		EXPECT_EQ(bellhop_ring_push(&old.end, &completion), -EOVERFLOW);
	}
}

TEST(ring, move__leaves_the_old_ring_as_it_is_but_for_the_word_that_says_so)
{
	CompletionRing old{ 4 }, other{ 4 };
	bellhop_completion completion = entry(1);

	ASSERT_EQ(bellhop_ring_push(&old.end, &completion), 0);
	const std::vector<std::byte> before(old.memory.bytes(), old.memory.bytes() +
									BELLHOP_RING_SLOTS +
									4 * sizeof(bellhop_cqe));
	ASSERT_EQ(bellhop_ring_move(&old.end, &other.end), 0);
	ASSERT_EQ(bellhop_ring_push(&old.end, &completion), 0);
	EXPECT_EQ(old.memory.hdr()->moved, 1u);
	old.memory.hdr()->moved = 0;
	EXPECT_TRUE(std::equal(before.begin(), before.end(), old.memory.bytes()));
	EXPECT_EQ(other.memory.hdr()->moved, 0u);
}

TEST(ring, move__refuses_a_ring_without_room_for_what_was_not_taken)
{
	for (u32 start : kStarts) {
		CompletionRing old{ 8, start };
		bellhop_completion completion = entry(1);

		for (u32 i = 0; i < 5; i++)
			ASSERT_EQ(bellhop_ring_push(&old.end, &completion), 0);
		CompletionRing other{ 4 };
		EXPECT_EQ(bellhop_ring_move(&old.end, &other.end), -EINVAL);
		EXPECT_EQ(old.end.hdr, old.memory.hdr());
		EXPECT_EQ(old.memory.hdr()->moved, 0u);
		old.memory.hdr()->consumer = start + 1;
		EXPECT_EQ(bellhop_ring_move(&old.end, &other.end), 0);
	}
}

TEST(ring, move__refuses_a_consumer_that_cannot_be)
{
	for (u32 consumer : { 3u, 0x80000000u, ~0u - 8 }) {
		CompletionRing old{ 8 }, other{ 64 };
		bellhop_completion completion = entry(1);

		for (u32 i = 0; i < 2; i++)
			ASSERT_EQ(bellhop_ring_push(&old.end, &completion), 0);
		old.memory.hdr()->consumer = consumer;
		EXPECT_EQ(bellhop_ring_move(&old.end, &other.end), -EINVAL) << consumer;
	}
}

TEST(ring, move__takes_a_request_along_that_was_not_answered)
{
	CompletionRing old{ 4 }, other{ 4 };

	old.memory.hdr()->arm = 1 << 2 | BELLHOP_CQ_ARM_SOLICITED;
	ASSERT_EQ(bellhop_ring_move(&old.end, &other.end), 0);
	EXPECT_FALSE(bellhop_ring_fire(&old.end, false));
	EXPECT_TRUE(bellhop_ring_fire(&old.end, true));
	EXPECT_EQ(other.memory.hdr()->fired, 1u << 2 | BELLHOP_CQ_ARM_SOLICITED);
}

TEST(ring, move__does_not_answer_a_request_again)
{
	CompletionRing old{ 4 }, other{ 4 };

	old.memory.hdr()->arm = 1 << 2 | BELLHOP_CQ_ARM_NEXT;
	ASSERT_TRUE(bellhop_ring_fire(&old.end, false));
	ASSERT_EQ(bellhop_ring_move(&old.end, &other.end), 0);
	EXPECT_FALSE(bellhop_ring_fire(&old.end, true));
	/* So that the library, which looks here, asks anew. */
	EXPECT_EQ(other.memory.hdr()->fired, 1u << 2 | BELLHOP_CQ_ARM_NEXT);
}
