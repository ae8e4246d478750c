// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// handshake_test.cpp: the two places where each side stores its own word and then loads the
// other's: (G)/(H) and (I)/(J) of ring.h. A lost wake-up is a round in which both saw nothing.
//
// Built with optimisation and without a sanitizer: only a store that the processor really
// delays can show that a fence is missing.
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "ring.hpp"
extern "C" {
#include "ring.h"
}
#include "rendezvous.hpp"
#include "ring_memory.hpp"

namespace
{

constexpr u32 kRounds = 300000;
constexpr std::chrono::seconds kTime{ 5 };
constexpr u32 kSlots = 8;

struct Outcome {
	u32 woken = 0; // rounds in which the sleeper is woken up
	u32 seen = 0; // rounds in which it found the entry by itself
	u32 lost = 0;
};

// Three meetings per round: both begin, both are done, the books are kept. On a machine that is
// busy with other things the time runs out before the rounds do.
template <typename Library, typename Kernel, typename Account>
void race(Library library, Kernel kernel, Account account)
{
	Rendezvous start, end, kept;
	std::atomic<bool> more = true; /* written before kept, read after it */
	auto deadline = std::chrono::steady_clock::now() + kTime;
	std::thread other{ [&] {
		for (u32 round = 0; more; round++) {
			start.meet(1);
			kernel(round);
			end.meet(1);
			kept.meet(1);
		}
	} };

	for (u32 round = 0; more; round++) {
		start.meet(0);
		library(round);
		end.meet(0);
		account(round);
		more = round + 1 < kRounds && std::chrono::steady_clock::now() < deadline;
		kept.meet(0);
	}
	other.join();
}

// On one processor no store can be delayed past the other thread's load.
bool has_two_processors()
{
	return std::thread::hardware_concurrency() > 1;
}

bellhop_ring_map map_of(u32 stride)
{
	bellhop_ring_map map{};

	map.slots = kSlots;
	map.stride = stride;
	return map;
}

void expect_both_ways(const Outcome &outcome)
{
	EXPECT_EQ(outcome.lost, 0u);
	/* Otherwise the two sides never met and nothing was tested. */
	EXPECT_GT(outcome.woken, 0u);
	EXPECT_GT(outcome.seen, 0u);
	::testing::Test::RecordProperty("woken", int(outcome.woken));
	::testing::Test::RecordProperty("seen", int(outcome.seen));
}

} // namespace

TEST(handshake, a_receive_posted_while_the_kernel_begins_to_wait)
{
	if (!has_two_processors())
		GTEST_SKIP() << "one processor";
	RingMemory<bellhop_wq_hdr> memory{ kSlots, 64 };
	bellhop_work_ring kernel_end = { memory.hdr(), kSlots - 1, 64, 0, 0 };
	bellhop::WorkRing ring;
	bool kicks = false;
	int found = 0;
	Outcome outcome;

	ring.attach(memory.hdr(), map_of(64));
	race(
		[&](u32 round) {
			ring.publish(round + 1);
			bellhop::fence_before_kick();
			kicks = ring.wanted();
		},
		[&](u32) {
			bellhop_ring_want(&kernel_end, true);
			found = bellhop_ring_pending(&kernel_end);
		},
		[&](u32) {
			outcome.woken += kicks;
			outcome.seen += found > 0;
			outcome.lost += !kicks && !found;
			bellhop_ring_want(&kernel_end, false);
			bellhop_ring_take(&kernel_end);
		});
	expect_both_ways(outcome);
}

TEST(handshake, a_completion_pushed_while_the_library_arms)
{
	if (!has_two_processors())
		GTEST_SKIP() << "one processor";
	RingMemory<bellhop_cq_hdr> memory{ kSlots, sizeof(bellhop_cqe) };
	bellhop_completion_ring kernel_end = { memory.hdr(), kSlots - 1, 0, 0, 0 };
	bellhop::CompletionRing ring;
	bool found = false, fires = false;
	u32 full = 0;
	Outcome outcome;

	ring.attach(memory.hdr(), map_of(sizeof(bellhop_cqe)));
	race(
		[&](u32) {
			ring.arm(false);
			found = ring.front();
		},
		[&](u32 round) {
			bellhop_completion completion{};

			completion.wqe_index = round;
			full += bellhop_ring_push(&kernel_end, &completion) != 0;
			fires = bellhop_ring_fire(&kernel_end, false);
		},
		[&](u32) {
			outcome.woken += fires;
			outcome.seen += found;
			outcome.lost += !fires && !found;
			ring.pop();
			ring.publish();
			/* Answers a request that came too late, so that each round arms anew. */
			if (!fires)
				bellhop_ring_fire(&kernel_end, false);
		});
	EXPECT_EQ(full, 0u);
	expect_both_ways(outcome);
}
