// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rendezvous.hpp: lets two threads begin the same round as nearly at once as they can.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

class Rendezvous
{
public:
	// side: 0 or 1, one thread each. Returns when the other side has come as often.
	void meet(int side)
	{
		std::uint32_t round = arrived_[side].word.load(std::memory_order_relaxed) + 1;

		arrived_[side].word.store(round, std::memory_order_release);
		for (unsigned spins = 0;
		     arrived_[!side].word.load(std::memory_order_acquire) - round > kBehind;
		     spins++)
			if (spins > kSpins)
				std::this_thread::yield();
	}

private:
	static constexpr std::uint32_t kBehind = UINT32_MAX / 2;
	static constexpr unsigned kSpins = 2000; // then the other may need this processor

	struct alignas(64) Line {
		std::atomic<std::uint32_t> word = 0;
	};

	Line arrived_[2];
};
