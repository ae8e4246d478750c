// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tally.hpp: how often each thing was tried, and how often the kernel did it, counted across
// processes.
#ifndef BELLHOP_VM_TALLY_HPP
#define BELLHOP_VM_TALLY_HPP

#include <array>
#include <atomic>
#include "ktap.hpp"
#include "shared.hpp"

namespace vm
{

/** One count for each of @names; made before the processes that share it. */
template <size_t Kinds>
class Tally
{
public:
	explicit Tally(const std::array<const char *, Kinds> &names) : names_(names) {}

	/** Counts a try of @kind. Returns @done. Any thread. */
	bool count(size_t kind, bool done)
	{
		counts_[kind].tried.fetch_add(1, std::memory_order_relaxed);
		if (done)
			counts_[kind].done.fetch_add(1, std::memory_order_relaxed);
		return done;
	}

	uint64_t tried(size_t kind) const
	{
		return counts_[kind].tried;
	}

	uint64_t done(size_t kind) const
	{
		return counts_[kind].done;
	}

	/** Prints what was tried at all. */
	void print() const
	{
		uint64_t total = 0;

		for (size_t kind = 0; kind < Kinds; kind++) {
			total += tried(kind);
			if (tried(kind))
				note("%10llu of %10llu  %s", (unsigned long long)done(kind),
				     (unsigned long long)tried(kind), names_[kind]);
		}
		note("%llu altogether", (unsigned long long)total);
	}

private:
	struct Count {
		std::atomic<uint64_t> tried;
		std::atomic<uint64_t> done;
	};

	std::array<const char *, Kinds> names_;
	Shared<Count, Kinds> counts_;
};

} // namespace vm

#endif
