// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shadow_race_test.cpp: shadow.hpp, posted to by one thread while another polls.
#include <atomic>
#include <thread>
#include <gtest/gtest.h>
#include "shadow.hpp"

namespace
{

TEST(ShadowRace, ThePollerGetsWhatThePosterRemembered)
{
	constexpr std::uint32_t SLOTS = 16;
	constexpr std::uint32_t ENTRIES = 200000;
	bellhop::Shadow shadow;
	std::atomic<std::uint32_t> executed = 0; // the kernel between the two

	ASSERT_TRUE(shadow.allocate(SLOTS));
	std::thread poster([&] {
		for (std::uint32_t i = 0; i < ENTRIES; i++) {
			while (shadow.is_full(i))
				std::this_thread::yield();
			shadow.remember(i, ~std::uint64_t{ i });
			executed.store(i + 1, std::memory_order_release);
		}
	});
	std::uint32_t wrong = 0;

	for (std::uint32_t polled = 0; polled < ENTRIES;) {
		std::uint32_t end = executed.load(std::memory_order_acquire);

		if (polled == end)
			std::this_thread::yield();
		// Every third entry is signalled, and the last.
		for (; polled < end; polled++)
			if (polled % 3 == 2 || polled + 1 == end)
				wrong += shadow.retire(polled) != ~std::uint64_t{ polled };
	}
	poster.join();
	EXPECT_EQ(wrong, 0U);
}

} // namespace
