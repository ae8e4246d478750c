// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shared_ring_test.cpp: shared_ring.h: an SRQ's ring gets other memory, and no entry is lost.
#include <gtest/gtest.h>

extern "C" {
#include "shared_ring.h"
}
#include "ring_memory.hpp"

namespace
{

constexpr u32 kStride = 32;
/* Where free-running indices are worth starting: at zero, and before both of their wraps. */
constexpr u32 kStarts[] = { 0, 1, 0x7ffffffd, 0xfffffffd, 0xffffffff };

/* The kernel's end of a ring, and the words that the library writes. */
struct SharedRing {
	explicit SharedRing(u32 slots, u32 start = 0)
	    : memory{ slots, kStride }, end{ memory.hdr(), slots - 1, kStride, start, start }
	{
		memory.hdr()->producer = start;
	}

	/* Entries say their number. */
	void post(u32 count)
	{
		for (u32 i = 0; i < count; i++) {
			const u32 index = memory.hdr()->producer++;

			std::memcpy(bellhop_ring_slot(&end, index), &index, sizeof(index));
		}
	}

	/* Takes one and returns its number. */
	u32 take()
	{
		u32 number;

		EXPECT_GT(bellhop_ring_pending(&end), 0);
		std::memcpy(&number, bellhop_ring_front(&end), sizeof(number));
		EXPECT_EQ(bellhop_ring_take(&end), number);
		bellhop_ring_free(&end);
		return number;
	}

	RingMemory<bellhop_wq_hdr> memory;
	bellhop_work_ring end;
};

TEST(shared_ring, copy__puts_entries_where_their_numbers_are)
{
	for (u32 start : kStarts) {
		for (u32 slots : { 4u, 8u, 16u }) {
			SharedRing old{ 8, start }, other{ slots };

			old.post(4);
			bellhop_shared_ring_copy(&old.end, &other.end, start, 4);
			for (u32 i = start; i != start + 4; i++)
				EXPECT_EQ(std::memcmp(bellhop_ring_slot(&other.end, i),
						      bellhop_ring_slot(&old.end, i), kStride),
					  0);
		}
	}
}

TEST(shared_ring, copy__of_none_writes_nothing)
{
	SharedRing old{ 4 }, other{ 4 };

	std::memset(old.memory.slot(0), 0xff, kStride);
	bellhop_shared_ring_copy(&old.end, &other.end, 0, 0);
	EXPECT_EQ(other.memory.slot(0)[0], std::byte{ 0 });
}

TEST(shared_ring, move__goes_on_with_the_entry_that_is_next)
{
	for (u32 start : kStarts) {
		for (u32 slots : { 4u, 8u, 64u }) {
			SharedRing old{ 8, start }, other{ slots };

			old.post(6);
			EXPECT_EQ(old.take(), start);
			EXPECT_EQ(old.take(), start + 1);
			bellhop_shared_ring_copy(&old.end, &other.end, start + 2, 4);
			ASSERT_EQ(bellhop_shared_ring_move(&old.end, &other.end, start + 6), 0);
			EXPECT_EQ(old.end.hdr, other.memory.hdr());
			EXPECT_EQ(other.memory.hdr()->producer, start + 6);
			EXPECT_EQ(other.memory.hdr()->taken, start + 2);
			for (u32 i = 2; i < 6; i++)
				EXPECT_EQ(old.take(), start + i);
			EXPECT_EQ(bellhop_ring_pending(&old.end), 0);
			/* It is a ring like any other. */
			for (u32 i = 6; i < 6 + 3 * slots; i++) {
				const u32 index = other.memory.hdr()->producer++;

				std::memcpy(bellhop_ring_slot(&old.end, index), &index,
					    sizeof(index));
				EXPECT_EQ(old.take(), start + i);
			}
		}
	}
}

TEST(shared_ring, move__does_not_bring_back_what_was_taken_meanwhile)
{
	SharedRing old{ 8 }, other{ 8 };

	old.post(5);
	bellhop_shared_ring_copy(&old.end, &other.end, 0, 5);
	for (u32 i = 0; i < 3; i++)
		EXPECT_EQ(old.take(), i);
	ASSERT_EQ(bellhop_shared_ring_move(&old.end, &other.end, 5), 0);
	EXPECT_EQ(old.take(), 3u);
	EXPECT_EQ(old.take(), 4u);
	EXPECT_EQ(bellhop_ring_pending(&old.end), 0);
}

TEST(shared_ring, move__of_a_queue_that_is_empty)
{
	for (u32 start : kStarts) {
		SharedRing old{ 2, start }, other{ 2 };

		ASSERT_EQ(bellhop_shared_ring_move(&old.end, &other.end, start), 0);
		EXPECT_EQ(bellhop_ring_pending(&old.end), 0);
		EXPECT_EQ(other.memory.hdr()->taken, start);
	}
}

TEST(shared_ring, move__refuses_a_ring_without_room)
{
	for (u32 start : kStarts) {
		SharedRing old{ 8, start }, other{ 4 };

		old.post(5);
		EXPECT_EQ(bellhop_shared_ring_move(&old.end, &other.end, start + 5), -EINVAL);
		EXPECT_EQ(old.end.hdr, old.memory.hdr());
		EXPECT_EQ(other.memory.hdr()->producer, 0u);
		EXPECT_EQ(old.take(), start);
		EXPECT_EQ(bellhop_shared_ring_move(&old.end, &other.end, start + 5), 0);
	}
}

TEST(shared_ring, move__refuses_a_library_that_did_not_wait)
{
	SharedRing old{ 8 }, other{ 8 };

	old.post(2);
	for (u32 producer : { 0u, 1u, 3u, 9u, 0x80000000u, 0xffffffffu })
		EXPECT_EQ(bellhop_shared_ring_move(&old.end, &other.end, producer), -EINVAL)
			<< producer;
	EXPECT_EQ(old.end.hdr, old.memory.hdr());
}

/* However often it looks, it finds the same numbers, whatever they say. */
TEST(shared_ring, move__refuses_indices_that_cannot_be)
{
	for (u32 producer : { 9u, 100u, 0x80000000u, 0xffffffffu }) {
		SharedRing old{ 8 }, other{ 1024 };

		old.memory.hdr()->producer = producer;
		EXPECT_EQ(bellhop_shared_ring_move(&old.end, &other.end, producer), -EINVAL);
	}
}

} // namespace
