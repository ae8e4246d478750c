// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// sweep.hpp: one verb, called with its first allocation failing, its second, and so on, until none
// is left to fail.
#ifndef BELLHOP_VM_SWEEP_HPP
#define BELLHOP_VM_SWEEP_HPP

#include <algorithm>
#include <vector>
#include "fault.hpp"
#include "ktap.hpp"
#include "trial.hpp"

namespace vm
{

/** What sweeps have done so far. */
struct Swept {
	std::string verb;
	unsigned calls; /* that can fail */
	unsigned faults;
	unsigned refusals;

	static std::vector<Swept> &all()
	{
		static std::vector<Swept> all;
		return all;
	}

	static void print()
	{
		unsigned faults = 0, refusals = 0;

		for (const Swept &one : all()) {
			note("%6u faults of %6u, %6u refusals  %s", one.faults, one.calls,
			     one.refusals, one.verb.c_str());
			faults += one.faults;
			refusals += one.refusals;
		}
		if (!all().empty())
			note("%6u faults, %6u refusals altogether", faults, refusals);
	}
};

/* How many calls can fail differs a little from one time to the next: only when so many tries in
 * a row have met no fault are there none left. */
inline constexpr unsigned tries_without = 3;
/* And one that comes a place earlier the next time, where the slabs have room by then, is passed
 * over: a short verb is gone through more than once. */
inline constexpr unsigned passes = 3;

/** Tries a verb with each of its faults. */
class Sweep
{
public:
	Sweep(const std::string &verb, const Trial &trial)
	    : verb_(verb), trial_(trial), trier_(verb, trial)
	{
	}

	void run()
	{
		try_one(Fault::never);
		total_ = Fault::never - left_;
		for (unsigned pass = 0; pass < (trial_.most == INT_MAX ? passes : 1); pass++)
			go_through();
		Swept::all().push_back({ verb_, total_, faults_, refusals_ });
	}

private:
	/* So many at the beginning are tried one after the other, and as many at the end. */
	unsigned dense() const
	{
		return trial_.most / 3;
	}

	/* Behind it the end begins. */
	unsigned last_of_many() const
	{
		return total_ > dense() ? total_ - dense() : 0;
	}

	unsigned next() const
	{
		const unsigned many = total_ - std::min(total_, trial_.from);

		if (many <= trial_.most || nth_ < trial_.from + dense() || nth_ >= last_of_many())
			return nth_ + 1;
		return std::min(nth_ + std::max(1u, (many - 2 * dense()) / dense()),
				last_of_many());
	}

	/* From the first fault to the last. */
	void go_through()
	{
		unsigned without = 0;

		nth_ = trial_.from;
		last_ = nth_ - 1;
		while (without < tries_without && !testing::Test::HasFailure()) {
			const Outcome outcome = try_one(nth_);

			refusals_ += outcome.error != 0;
			if (outcome.hit) {
				without = 0;
				faults_++;
				last_ = nth_;
				nth_ = next();
			} else {
				without += nth_ == last_ + 1;
				total_ = nth_ - left_;
				nth_ = std::max(last_ + 1, std::min(nth_, last_of_many()));
			}
		}
	}

	Outcome try_one(unsigned nth)
	{
		return trier_.run(
			"fault " + std::to_string(nth), [&] { fault_.arm(nth); },
			[&] {
				left_ = fault_.disarm();
				return !left_;
			},
			nth == Fault::never || nth % trial_.every == 0);
	}

	std::string verb_;
	const Trial &trial_;
	const Fault fault_; /* opens a file, which is there before the trier counts files */
	Trier trier_;
	unsigned total_ = 0; /* as the last call without a fault has shown */
	unsigned nth_ = 0, last_ = 0, left_ = 0; /* @last_: the last that was met */
	unsigned faults_ = 0, refusals_ = 0;
};

/** Of a kernel without fault injection everything is skipped. */
class FaultTest : public testing::Test
{
protected:
	void SetUp() override
	{
		static const std::string reason = Fault::enable();

		if (!reason.empty())
			GTEST_SKIP() << reason;
	}
};

/** run_ktap(), and then what was swept. */
inline int run_sweeps(int argc, char **argv)
{
	const int status = run_ktap(argc, argv);

	Swept::print();
	return status;
}

inline void sweep(const std::string &verb, const Trial &trial)
{
	Sweep(verb, trial).run();
}

} // namespace vm

#endif
