// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// run_race_test.cpp: run.h under three threads that post and kick at once, for TSan.
#include <array>
#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "run.h"
}

namespace
{

constexpr unsigned kThreads = 3;
constexpr unsigned kRounds = 4000;
constexpr unsigned kKicks = 7; // per thread and round

// What the word protects is plain memory: two runners at once are a race that TSan reports.
struct Queue {
	alignas(64) u32 word = BELLHOP_RUN_IDLE;
	alignas(64) std::array<std::atomic<u32>, kThreads> posted{};
	std::array<u32, kThreads> taken{};
	u32 runs = 0;

	void kick()
	{
		if (!bellhop_run_enter(&word))
			return;
		do {
			runs++;
			for (unsigned i = 0; i < kThreads; i++)
				taken[i] = posted[i].load(std::memory_order_relaxed);
			/* Now and then the others come between the last look and the leave. */
			if (runs % 4 == 0)
				std::this_thread::yield();
		} while (!bellhop_run_leave(&word));
	}
};

} // namespace

TEST(run_race, nothing_is_left_behind_when_everybody_has_left)
{
	Queue queue;
	unsigned left_behind = 0, still_running = 0;
	std::barrier arrived{ kThreads };
	std::barrier left{ kThreads, [&]() noexcept {
				  for (unsigned i = 0; i < kThreads; i++)
					  left_behind += queue.posted[i].load() - queue.taken[i];
				  still_running += queue.word != BELLHOP_RUN_IDLE;
			  } };
	std::vector<std::thread> threads;

	for (unsigned self = 0; self < kThreads; self++) {
		threads.emplace_back([&, self] {
			for (unsigned round = 0; round < kRounds; round++) {
				arrived.arrive_and_wait();
				for (unsigned i = 0; i < kKicks; i++) {
					queue.posted[self].fetch_add(1, std::memory_order_relaxed);
					queue.kick();
				}
				left.arrive_and_wait();
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();

	EXPECT_EQ(left_behind, 0u);
	EXPECT_EQ(still_running, 0u);
	for (u32 taken : queue.taken)
		EXPECT_EQ(taken, kRounds * kKicks);
	EXPECT_GT(queue.runs, 0u);
}
