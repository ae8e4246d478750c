// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ring_test.cpp: ring.h, one event at a time, but for moves; ring_race_test.cpp races it.
#include <algorithm>
#include <array>
#include <vector>

#include "completion_ring.hpp"

namespace
{

constexpr u32 kSlots[] = { 1, 2, 8, 64 };

struct WorkRing {
	WorkRing(u32 slots, u32 stride, u32 head = 0)
	    : memory{ slots, stride }, end{ memory.hdr(), slots - 1, stride, head, head }
	{
		memory.hdr()->producer = head;
	}

	RingMemory<bellhop_wq_hdr> memory;
	bellhop_work_ring end;
};

} // namespace

TEST(ring, pending__a_queue_without_entries_has_none)
{
	bellhop_work_ring end{};

	EXPECT_EQ(bellhop_ring_pending(&end), 0);
}

TEST(ring, pending__counts_what_is_published_up_to_all_slots)
{
	for (u32 slots : kSlots) {
		for (u32 start : kStarts) {
			WorkRing ring{ slots, 64, start };

			for (u32 published = 0; published <= slots; published++) {
				ring.memory.hdr()->producer = start + published;
				EXPECT_EQ(bellhop_ring_pending(&ring.end), int(published))
					<< slots << " slots from " << start;
			}
		}
	}
}

TEST(ring, pending__refuses_every_index_that_cannot_be)
{
	for (u32 slots : kSlots) {
		for (u32 start : kStarts) {
			WorkRing ring{ slots, 64, start };

			for (u32 ahead : { slots + 1, slots * 2, 0x7fffffffu, 0x80000000u,
					   0xfffffffeu, 0xffffffffu }) {
				if (ahead <= slots)
					continue;
				ring.memory.hdr()->producer = start + ahead;
				EXPECT_EQ(bellhop_ring_pending(&ring.end), -EINVAL)
					<< slots << " slots from " << start << ", " << ahead;
			}
		}
	}
}

TEST(ring, pending__an_index_that_cannot_be_leaves_what_was_counted)
{
	WorkRing ring{ 4, 64 };

	ring.memory.hdr()->producer = 5;
	EXPECT_EQ(bellhop_ring_pending(&ring.end), -EINVAL);
	EXPECT_TRUE(bellhop_ring_is_done(&ring.end));
	ring.memory.hdr()->producer = 2;
	bellhop_ring_pending(&ring.end);
	ring.memory.hdr()->producer = 7;
	EXPECT_EQ(bellhop_ring_pending(&ring.end), -EINVAL);
	bellhop_ring_take(&ring.end);
	EXPECT_FALSE(bellhop_ring_is_done(&ring.end));
	bellhop_ring_take(&ring.end);
	EXPECT_TRUE(bellhop_ring_is_done(&ring.end));
}

TEST(ring, pending__does_not_write_to_shared_memory)
{
	WorkRing ring{ 4, 64 };
	std::vector<std::byte> before(ring.memory.length());

	ring.memory.hdr()->producer = 77;
	std::memcpy(before.data(), ring.memory.bytes(), before.size());
	bellhop_ring_pending(&ring.end);
	EXPECT_EQ(std::memcmp(before.data(), ring.memory.bytes(), before.size()), 0);
}

TEST(ring, front__walks_the_slots_and_wraps)
{
	for (u32 stride : { 32u, 64u, 576u }) {
		for (u32 start : kStarts) {
			WorkRing ring{ 8, stride, start };

			for (u32 i = 0; i < 20; i++) {
				const void *expected = ring.memory.slot((start + i) % 8);

				EXPECT_EQ(bellhop_ring_front(&ring.end), expected);
				bellhop_ring_take(&ring.end);
			}
		}
	}
}

TEST(ring, front__the_last_slot_ends_where_the_mapping_ends)
{
	WorkRing ring{ 8, 64, 7 };
	const auto *front = static_cast<const std::byte *>(bellhop_ring_front(&ring.end));

	EXPECT_EQ(front + 64, ring.memory.bytes() + ring.memory.length());
}

TEST(ring, take__returns_the_entry_s_number_and_leaves_one_less)
{
	for (u32 start : kStarts) {
		WorkRing ring{ 4, 64, start };

		ring.memory.hdr()->producer = start + 4;
		for (u32 i = 0; i < 4; i++) {
			EXPECT_EQ(bellhop_ring_pending(&ring.end), int(4 - i));
			EXPECT_EQ(bellhop_ring_take(&ring.end), start + i);
		}
		EXPECT_EQ(bellhop_ring_pending(&ring.end), 0);
	}
}

TEST(ring, take__a_producer_that_runs_backwards_is_noticed)
{
	WorkRing ring{ 4, 64 };

	ring.memory.hdr()->producer = 2;
	bellhop_ring_take(&ring.end);
	bellhop_ring_take(&ring.end);
	ring.memory.hdr()->producer = 1;
	EXPECT_EQ(bellhop_ring_pending(&ring.end), -EINVAL);
}

TEST(ring, is_done__knows_what_was_counted_and_nothing_newer)
{
	for (u32 start : kStarts) {
		WorkRing ring{ 4, 64, start };

		EXPECT_TRUE(bellhop_ring_is_done(&ring.end));
		ring.memory.hdr()->producer = start + 2;
		EXPECT_TRUE(bellhop_ring_is_done(&ring.end));
		bellhop_ring_pending(&ring.end);
		ring.memory.hdr()->producer = start + 3;
		EXPECT_FALSE(bellhop_ring_is_done(&ring.end));
		bellhop_ring_take(&ring.end);
		EXPECT_FALSE(bellhop_ring_is_done(&ring.end));
		bellhop_ring_take(&ring.end);
		EXPECT_TRUE(bellhop_ring_is_done(&ring.end));
	}
}

TEST(ring, free__tells_how_many_were_taken)
{
	WorkRing ring{ 4, 64 };

	ring.memory.hdr()->producer = 3;
	ASSERT_EQ(bellhop_ring_pending(&ring.end), 3);
	bellhop_ring_take(&ring.end);
	bellhop_ring_take(&ring.end);
	EXPECT_EQ(ring.memory.hdr()->taken, 0u);
	bellhop_ring_free(&ring.end);
	EXPECT_EQ(ring.memory.hdr()->taken, 2u);
	EXPECT_EQ(bellhop_ring_pending(&ring.end), 1);
}

TEST(ring, rewind__begins_again_at_the_first_slot)
{
	WorkRing ring{ 4, 64, 7 };

	ring.memory.hdr()->producer = 9;
	bellhop_ring_pending(&ring.end);
	bellhop_ring_take(&ring.end);
	ring.memory.hdr()->producer = 0;
	bellhop_ring_rewind(&ring.end);
	EXPECT_TRUE(bellhop_ring_is_done(&ring.end));
	EXPECT_EQ(bellhop_ring_pending(&ring.end), 0);
	EXPECT_EQ(bellhop_ring_front(&ring.end), ring.memory.slot(0));
}

TEST(ring, want__tells_the_library_and_takes_it_back)
{
	WorkRing ring{ 4, 64 };

	bellhop_ring_want(&ring.end, true);
	EXPECT_NE(ring.memory.hdr()->wanted, 0u);
	bellhop_ring_want(&ring.end, false);
	EXPECT_EQ(ring.memory.hdr()->wanted, 0u);
}

TEST(ring, want__writes_that_word_only)
{
	WorkRing ring{ 4, 64 };

	bellhop_ring_want(&ring.end, true);
	ring.memory.hdr()->wanted = 0;
	EXPECT_TRUE(std::all_of(ring.memory.bytes(), ring.memory.bytes() + ring.memory.length(),
				[](std::byte b) { return b == std::byte{ 0 }; }));
}

TEST(ring, want__a_queue_without_entries_has_nobody_to_tell)
{
	bellhop_work_ring end{};

	bellhop_ring_want(&end, true);
	EXPECT_EQ(end.hdr, nullptr);
}

TEST(ring, push__n_slots_hold_n_and_no_more)
{
	for (u32 slots : kSlots) {
		for (u32 start : kStarts) {
			CompletionRing ring{ slots, start - start % slots };
			bellhop_completion completion = entry(1);

			for (u32 i = 0; i < slots; i++)
				EXPECT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
			EXPECT_EQ(bellhop_ring_push(&ring.end, &completion), -EOVERFLOW);
		}
	}
}

TEST(ring, push__a_full_ring_is_not_written_to)
{
	CompletionRing ring{ 4 };
	std::vector<std::byte> before(ring.memory.length());

	for (u32 i = 0; i < 4; i++) {
		bellhop_completion completion = entry(i);
		ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
	}
	std::memcpy(before.data(), ring.memory.bytes(), before.size());

	bellhop_completion completion = entry(4);
	EXPECT_EQ(bellhop_ring_push(&ring.end, &completion), -EOVERFLOW);
	EXPECT_EQ(std::memcmp(before.data(), ring.memory.bytes(), before.size()), 0);
	EXPECT_EQ(ring.end.producer, 4u);
}

TEST(ring, push__writes_the_entry_and_the_phase_of_its_lap)
{
	for (u32 slots : kSlots) {
		for (u32 start : kStarts) {
			CompletionRing ring{ slots, start };

			for (u32 i = 0; i < slots * 5; i++) {
				u32 index = start + i;
				bellhop_completion completion = entry(i);

				ASSERT_FALSE(ring.has(index));
				ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
				ASSERT_TRUE(ring.has(index)) << slots << " slots, " << index;
				expect_entry(*ring.at(index), i);
				ring.memory.hdr()->consumer = index + 1;
			}
		}
	}
}

TEST(ring, push__the_first_lap_s_phase_is_one)
{
	CompletionRing ring{ 2 };
	const u32 expected[] = { 1, 1, 0, 0, 1, 1, 0, 0 };

	for (u32 i = 0; i < 8; i++) {
		bellhop_completion completion = entry(i);

		ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
		EXPECT_EQ(ring.at(i)->phase, expected[i]) << i;
		ring.memory.hdr()->consumer = i + 1;
	}
}

TEST(ring, push__the_last_slot_ends_where_the_mapping_ends)
{
	CompletionRing ring{ 4, 3 };
	bellhop_completion completion = entry(3);

	ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
	EXPECT_EQ(ring.memory.bytes() + ring.memory.length(),
		  reinterpret_cast<std::byte *>(ring.at(3) + 1));
}

TEST(ring, push__goes_on_as_far_as_the_library_has_taken)
{
	for (u32 start : kStarts) {
		CompletionRing ring{ 8, start };
		bellhop_completion completion = entry(0);

		for (u32 i = 0; i < 8; i++)
			ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
		ring.memory.hdr()->consumer = start + 3;
		for (u32 i = 0; i < 3; i++)
			EXPECT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
		EXPECT_EQ(bellhop_ring_push(&ring.end, &completion), -EOVERFLOW);
	}
}

TEST(ring, push__refuses_a_consumer_that_runs_backwards)
{
	for (u32 start : kStarts) {
		CompletionRing ring{ 4, start };
		bellhop_completion completion = entry(0);

		for (u32 i = 0; i < 4; i++)
			ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
		ring.memory.hdr()->consumer = start + 2;
		for (u32 i = 0; i < 2; i++)
			ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
		for (u32 back : { start + 1, start, start - 1, start - 0x40000000u }) {
			ring.memory.hdr()->consumer = back;
			EXPECT_EQ(bellhop_ring_push(&ring.end, &completion), -EOVERFLOW)
				<< back - start;
		}
		EXPECT_EQ(ring.end.producer, start + 6);
	}
}

TEST(ring, push__refuses_a_consumer_that_took_what_was_never_pushed)
{
	for (u32 start : kStarts) {
		CompletionRing ring{ 4, start };
		bellhop_completion completion = entry(0);

		for (u32 i = 0; i < 4; i++)
			ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
		for (u32 ahead : { 5u, 8u, 0x7fffffffu, 0x80000000u, 0xffffffffu }) {
			ring.memory.hdr()->consumer = start + ahead;
			EXPECT_EQ(bellhop_ring_push(&ring.end, &completion), -EOVERFLOW) << ahead;
		}
		ring.memory.hdr()->consumer = start + 4;
		EXPECT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
	}
}

TEST(ring, push_stamped__writes_both_times_and_the_entry)
{
	for (u32 start : kStarts) {
		CompletionRing ring{ 4, start };

		for (u32 i = 0; i < 12; i++) {
			bellhop_completion completion = entry(i);

			ASSERT_EQ(bellhop_ring_push_stamped(&ring.end, &completion,
							    0x1122334455667788 + i, ~u64{ i }),
				  0);
			ASSERT_TRUE(ring.has(start + i));
			expect_entry(*ring.at(start + i), i);
			EXPECT_EQ(ring.at(start + i)->timestamp, 0x1122334455667788 + i);
			EXPECT_EQ(ring.at(start + i)->wallclock, ~u64{ i });
			ring.memory.hdr()->consumer = start + i + 1;
		}
	}
}

TEST(ring, push_stamped__a_full_ring_is_not_written_to)
{
	CompletionRing ring{ 2 };
	bellhop_completion completion = entry(0);

	for (u64 time : { 1, 2 })
		ASSERT_EQ(bellhop_ring_push_stamped(&ring.end, &completion, time, time), 0);
	EXPECT_EQ(bellhop_ring_push_stamped(&ring.end, &completion, 3, 3), -EOVERFLOW);
	EXPECT_EQ(ring.at(0)->timestamp, 1u);
	EXPECT_EQ(ring.at(1)->wallclock, 2u);
	EXPECT_EQ(ring.end.producer, 2u);
}

TEST(ring, push__leaves_the_times_alone)
{
	CompletionRing ring{ 2 };
	bellhop_completion completion = entry(0);

	ring.at(0)->timestamp = 5;
	ring.at(0)->wallclock = 6;
	ASSERT_EQ(bellhop_ring_push(&ring.end, &completion), 0);
	EXPECT_EQ(ring.at(0)->timestamp, 5u);
	EXPECT_EQ(ring.at(0)->wallclock, 6u);
}

TEST(ring, fire__nobody_asked)
{
	CompletionRing ring{ 4 };

	EXPECT_FALSE(bellhop_ring_fire(&ring.end, false));
	EXPECT_FALSE(bellhop_ring_fire(&ring.end, true));
	EXPECT_EQ(ring.memory.hdr()->fired, 0u);
}

TEST(ring, fire__answers_what_was_asked_for)
{
	struct {
		u32 kind;
		bool solicited;
		bool fires;
	} const cases[] = {
		{ 0, false, false },
		{ 0, true, false },
		{ BELLHOP_CQ_ARM_NEXT, false, true },
		{ BELLHOP_CQ_ARM_NEXT, true, true },
		{ BELLHOP_CQ_ARM_SOLICITED, false, false },
		{ BELLHOP_CQ_ARM_SOLICITED, true, true },
		{ BELLHOP_CQ_ARM_MASK, false, false },
		{ BELLHOP_CQ_ARM_MASK, true, false },
	};

	for (const auto &c : cases) {
		for (u32 count : { 1u, 2u, 0x3fffffffu }) {
			CompletionRing ring{ 4 };
			u32 arm = count << 2 | c.kind;

			ring.memory.hdr()->arm = arm;
			EXPECT_EQ(bellhop_ring_fire(&ring.end, c.solicited), c.fires)
				<< c.kind << (c.solicited ? " solicited" : "");
			EXPECT_EQ(ring.memory.hdr()->fired, c.fires ? arm : 0);
		}
	}
}

TEST(ring, fire__once_per_request)
{
	CompletionRing ring{ 4 };

	for (u32 count = 1; count < 5; count++) {
		ring.memory.hdr()->arm = count << 2 | BELLHOP_CQ_ARM_NEXT;
		EXPECT_TRUE(bellhop_ring_fire(&ring.end, false));
		EXPECT_FALSE(bellhop_ring_fire(&ring.end, false));
		EXPECT_FALSE(bellhop_ring_fire(&ring.end, true));
	}
}

TEST(ring, fire__an_unanswered_request_waits_for_its_kind)
{
	CompletionRing ring{ 4 };

	ring.memory.hdr()->arm = 1 << 2 | BELLHOP_CQ_ARM_SOLICITED;
	EXPECT_FALSE(bellhop_ring_fire(&ring.end, false));
	EXPECT_FALSE(bellhop_ring_fire(&ring.end, false));
	EXPECT_TRUE(bellhop_ring_fire(&ring.end, true));
}

TEST(ring, fire__a_later_request_replaces_one_that_waits)
{
	CompletionRing ring{ 4 };

	ring.memory.hdr()->arm = 1 << 2 | BELLHOP_CQ_ARM_SOLICITED;
	EXPECT_FALSE(bellhop_ring_fire(&ring.end, false));
	ring.memory.hdr()->arm = 2 << 2 | BELLHOP_CQ_ARM_NEXT;
	EXPECT_TRUE(bellhop_ring_fire(&ring.end, false));
	EXPECT_FALSE(bellhop_ring_fire(&ring.end, false));
}

TEST(ring, fire__does_not_trust_the_shared_answer)
{
	CompletionRing ring{ 4 };

	ring.memory.hdr()->arm = 1 << 2 | BELLHOP_CQ_ARM_NEXT;
	ring.memory.hdr()->fired = ring.memory.hdr()->arm;
	EXPECT_TRUE(bellhop_ring_fire(&ring.end, false));
	ring.memory.hdr()->fired = 0;
	EXPECT_FALSE(bellhop_ring_fire(&ring.end, false));
}
