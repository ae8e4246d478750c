// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// sweep.hpp: one verb, called with its first allocation failing, its second, and so on, until none
// is left to fail.
#ifndef BELLHOP_VM_SWEEP_HPP
#define BELLHOP_VM_SWEEP_HPP

#include <algorithm>
#include <functional>
#include <vector>
#include <gtest/gtest.h>
#include "fault.hpp"
#include "inventory.hpp"
#include "ktap.hpp"

namespace vm
{

/** A verb and its surroundings. Nothing fails but in @call. */
struct Trial {
	std::function<void()> prepare = {}; /* before each call */
	std::function<int()> call; /* returns 0 or an errno */
	/* Where @call cannot know: returns 0 or an errno. @hit: a fault was met on the way. */
	std::function<int(int error, bool hit)> settle = {};
	std::function<void()> refused = {}; /* claims what is so after a failure */
	std::function<void()> check = {}; /* claims that it works after success */
	std::function<void()> undo = {}; /* after success */
	int also = 0; /* an errno that is as good as those that tell of memory */
	/* Of a verb that takes long only so many are tried, the first and the last above all; and
	 * that it works after a failure is shown only now and then, by a call without a fault:
	 * else the next one shows it, whose fault comes later. */
	unsigned most = INT_MAX;
	unsigned every = 1;
};

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

/** Tries a verb with each of its faults. */
class Sweep
{
public:
	Sweep(const std::string &verb, const Trial &trial) : verb_(verb), trial_(trial) {}

	void run()
	{
		const Inventory before;

		try_one(Fault::never, before);
		const unsigned total = Fault::never - left_;
		for (nth_ = 1; !testing::Test::HasFailure(); nth_ = next(total)) {
			try_one(nth_, before);
			if (left_)
				break;
			faults_++;
		}
		Swept::all().push_back({ verb_, total, faults_, refusals_ });
	}

private:
	/* How many calls can fail differs a little from one time to the next. */
	unsigned next(unsigned total) const
	{
		const unsigned dense = trial_.most / 3;

		if (total <= trial_.most || nth_ < dense || nth_ + dense >= total)
			return nth_ + 1;
		return std::min(nth_ + std::max(1u, (total - 2 * dense) / dense), total - dense);
	}

	int call(unsigned nth)
	{
		bool hit = false;
		int error;

		if (nth)
			fault_.arm(nth);
		error = trial_.call();
		if (nth) {
			left_ = fault_.disarm();
			hit = !left_;
		}
		return trial_.settle ? trial_.settle(error, hit) : error;
	}

	static void perform(const std::function<void()> &step)
	{
		if (step)
			step();
	}

	void try_one(unsigned nth, const Inventory &before)
	{
		SCOPED_TRACE(verb_ + ", fault " + std::to_string(nth));
		perform(trial_.prepare);
		const Inventory prepared;
		const int error = call(nth);

		if (error) {
			refusals_++;
			EXPECT_FALSE(left_) << "fails without a fault: " << std::strerror(error);
			EXPECT_TRUE(is_sensible(error)) << std::strerror(error);
			EXPECT_TRUE(prepared.is_back()) << prepared.describe_difference();
			perform(trial_.refused);
			if (nth % trial_.every)
				return;
			ASSERT_EQ(call(0), 0) << "it does not work after a failure";
		}
		if (nth % trial_.every == 0 || nth == Fault::never)
			perform(trial_.check);
		perform(trial_.undo);
		EXPECT_TRUE(before.is_back()) << before.describe_difference();
	}

	/* What a program can understand: there is no memory, or none at this address. */
	bool is_sensible(int error) const
	{
		return error == ENOMEM || error == EFAULT || error == EAGAIN || error == ENOBUFS ||
		       error == trial_.also;
	}

	std::string verb_;
	const Trial &trial_;
	Fault fault_;
	unsigned nth_ = 0, left_ = 0;
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
