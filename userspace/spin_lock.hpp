// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// spin_lock.hpp: the lock of one queue, held for a few dozen nanoseconds at a time.
#pragma once

#include <atomic>
#include <sched.h>

namespace bellhop
{

class SpinLock
{
public:
	void lock() noexcept
	{
		while (taken_.exchange(true, std::memory_order_acquire))
			wait();
	}

	void unlock() noexcept
	{
		taken_.store(false, std::memory_order_release);
	}

private:
	// With fewer cores than threads the holder may not be running: let it.
	void wait() noexcept
	{
		for (int i = 0; i < 100; i++)
			if (!taken_.load(std::memory_order_relaxed))
				return;
		sched_yield();
	}

	std::atomic<bool> taken_ = false;
};

// Holds a lock for a scope, or, for a queue that only one thread uses, does nothing.
template <bool Locked>
class Guard
{
public:
	explicit Guard(SpinLock &lock) noexcept : lock_(lock)
	{
		if constexpr (Locked)
			lock_.lock();
	}
	~Guard()
	{
		if constexpr (Locked)
			lock_.unlock();
	}
	Guard(const Guard &) = delete;
	Guard &operator=(const Guard &) = delete;

private:
	[[maybe_unused]] SpinLock &lock_;
};

} // namespace bellhop
