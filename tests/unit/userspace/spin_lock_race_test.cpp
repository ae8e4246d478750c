// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// spin_lock_race_test.cpp: spin_lock.hpp, fought over.
#include <thread>
#include <vector>
#include <gtest/gtest.h>
#include "spin_lock.hpp"

namespace
{

TEST(SpinLockRace, LetsOneInAtATime)
{
	constexpr int THREADS = 4;
	constexpr int ROUNDS = 20000;
	bellhop::SpinLock lock;
	std::vector<std::thread> threads;
	int count = 0;

	for (int t = 0; t < THREADS; t++)
		threads.emplace_back([&] {
			for (int i = 0; i < ROUNDS; i++) {
				bellhop::Guard<true> guard(lock);

				count++;
			}
		});
	for (auto &thread : threads)
		thread.join();
	EXPECT_EQ(count, THREADS * ROUNDS);
}

} // namespace
