// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// trial.hpp: one try of a verb with something failing on the way, and what must hold afterwards.
#ifndef BELLHOP_VM_TRIAL_HPP
#define BELLHOP_VM_TRIAL_HPP

#include <climits>
#include <functional>
#include <gtest/gtest.h>
#include "inventory.hpp"

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
	unsigned from = 1; /* the first fault to be tried */
};

/** How one try of a verb went. */
struct Outcome {
	int error;
	bool hit; /* a fault was met on the way */
};

/** Tries a verb, and claims what must hold afterwards. */
class Trier
{
public:
	Trier(const std::string &verb, const Trial &trial) : verb_(verb), trial_(trial) {}

	/* @arm and @disarm are around the call; @disarm returns whether a fault was met.
	 * @is_thorough: it must work afterwards, too. */
	Outcome run(const std::string &faults, const std::function<void()> &arm,
		    const std::function<bool()> &disarm, bool is_thorough)
	{
		SCOPED_TRACE(verb_ + ", " + faults);
		perform(trial_.prepare);
		const Inventory prepared;
		const Outcome outcome = call(arm, disarm);

		if (outcome.error)
			expect_refusal(outcome, prepared);
		if (outcome.error && !is_thorough)
			return outcome;
		if (outcome.error && call([] {}, [] { return false; }).error) {
			ADD_FAILURE() << "it does not work after a failure";
			return outcome;
		}
		if (is_thorough)
			perform(trial_.check);
		perform(trial_.undo);
		EXPECT_TRUE(before_.is_back()) << before_.describe_difference();
		return outcome;
	}

private:
	Outcome call(const std::function<void()> &arm, const std::function<bool()> &disarm) const
	{
		arm();
		const int error = trial_.call();
		const bool hit = disarm();

		return { trial_.settle ? trial_.settle(error, hit) : error, hit };
	}

	void expect_refusal(const Outcome &outcome, const Inventory &prepared) const
	{
		EXPECT_TRUE(outcome.hit)
			<< "fails without a fault: " << std::strerror(outcome.error);
		EXPECT_TRUE(is_sensible(outcome.error)) << std::strerror(outcome.error);
		EXPECT_TRUE(prepared.is_back()) << prepared.describe_difference();
		perform(trial_.refused);
	}

	static void perform(const std::function<void()> &step)
	{
		if (step)
			step();
	}

	/* What a program can understand: there is no memory, or none at this address. */
	bool is_sensible(int error) const
	{
		return error == ENOMEM || error == EFAULT || error == EAGAIN || error == ENOBUFS ||
		       error == trial_.also;
	}

	std::string verb_;
	const Trial &trial_;
	const Inventory before_;
};

} // namespace vm

#endif
