// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// nuisance.hpp: what goes on beside a test, and ends with it.
#ifndef BELLHOP_VM_NUISANCE_HPP
#define BELLHOP_VM_NUISANCE_HPP

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>

namespace vm
{

/** Does something again and again, in a thread of its own, until it is told to stop. */
class Nuisance
{
public:
	explicit Nuisance(std::function<void()> action)
	    : count_(std::async(std::launch::async, [this, action = std::move(action)] {
		      uint32_t count = 0;

		      for (; !over_; count++)
			      action();
		      return count;
	      }))
	{
	}

	/* A test that has failed does not wait for it either. */
	~Nuisance()
	{
		over_ = true;
	}

	Nuisance(const Nuisance &) = delete;
	Nuisance &operator=(const Nuisance &) = delete;

	/** Returns how often it was done. */
	uint32_t stop()
	{
		over_ = true;
		return count_.get();
	}

private:
	std::atomic<bool> over_ = false;
	std::future<uint32_t> count_;
};

/** Says that it is over when it goes: to be declared behind the threads that look at the flag. */
class Ending
{
public:
	explicit Ending(std::atomic<bool> &over) : over_(over) {}

	~Ending()
	{
		over_ = true;
	}

	Ending(const Ending &) = delete;
	Ending &operator=(const Ending &) = delete;

private:
	std::atomic<bool> &over_;
};

} // namespace vm

#endif
