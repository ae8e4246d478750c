// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tsc-khz.cpp: prints how many thousand times a second this machine's time stamp counter ticks.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <x86intrin.h>

using Clock = std::chrono::steady_clock;

struct Reading {
	uint64_t ticks;
	Clock::time_point time;
};

/* Of many readings the one that was interrupted least. */
static Reading read_both()
{
	Reading best = {};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		const uint64_t before = __rdtsc();
		const Clock::time_point now = Clock::now();
		const uint64_t took = __rdtsc() - before;

		if (took < least) {
			least = took;
			best = { before + took / 2, now };
		}
	}
	return best;
}

int main()
{
	const Reading first = read_both();
	std::this_thread::sleep_for(std::chrono::milliseconds(100));
	const Reading last = read_both();
	const std::chrono::duration<double, std::milli> passed = last.time - first.time;

	std::printf("%.0f\n", static_cast<double>(last.ticks - first.ticks) / passed.count());
}
