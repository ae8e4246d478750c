// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// witness.hpp: a program to whose device something happens, and what must have become of it.
#ifndef BELLHOP_VM_WITNESS_HPP
#define BELLHOP_VM_WITNESS_HPP

#include <map>
#include "command.hpp"
#include "program.hpp"

namespace vm
{

/** What happens to a device, and so to the programs on it. */
enum class Effect {
	none, /* they go on */
	paths, /* they go on; a connection that is being made may fail */
	down, /* they go on, or give up when their peer does not answer */
	gone, /* they are told that it is gone */
};

/** By the device's name; who is not named feels nothing. */
using Effects = std::map<std::string, Effect>;

class Witness
{
public:
	Witness(Trade trade, const Route &route, Report &report, uint32_t seed)
	    : program_(trade, route, report, seed)
	{
	}

	const Program &program() const
	{
		return program_;
	}

	const Report &report() const
	{
		return program_.report();
	}

	/** Remembers how far it is: from now on things happen to it. */
	void mark()
	{
		had_begun_ = report().begun;
	}

	/** Whether its traffic was flowing then, and does not begin and end by itself. */
	bool is_settled() const
	{
		return had_begun_ && program_.trade() != Trade::newcomer &&
		       program_.trade() != Trade::caller;
	}

	/** Whether it ends when its peer does not answer for a while. Frames are not answered. */
	bool gives_up() const
	{
		return program_.trade() == Trade::steady && is_settled() &&
		       program_.route().means != Means::frames;
	}

	Effect effect(const Effects &effects) const
	{
		Effect worst = Effect::none;

		for (const std::string &device : { program_.route().from, program_.route().to })
			if (effects.contains(device))
				worst = std::max(worst, effects.at(device));
		return worst;
	}

	void kill()
	{
		program_.child().kill();
		was_killed_ = true;
	}

	void expect_begun() const
	{
		expect_soon([&] { return bool(report().begun); }, "does not begin");
	}

	/** A transfer that begins now is well. */
	void expect_flow(Effect how = Effect::none) const
	{
		const uint32_t now = report().transfers;

		if (program_.trade() >= Trade::idler)
			return;
		/* One may be under way. */
		expect_soon([&] { return report().transfers > now + 1; }, "does not go on");
		if (how == Effect::none || program_.trade() != Trade::caller)
			EXPECT_EQ(report().refusals, 0u) << program_.describe();
		EXPECT_EQ(report().ending, Ending::none) << program_.describe();
	}

	void expect_broken() const
	{
		expect_soon([&] { return report().ending != Ending::none; }, "does not give up");
		EXPECT_EQ(report().ending, Ending::broken) << program_.describe();
	}

	/** Ends it, unless it has ended, and expects that all it has seen belongs to @effects. */
	void judge(const Effects &effects)
	{
		const Effect how = effect(effects);

		if (!program_.child().pid())
			return;
		if (was_killed_)
			return expect_killed();
		if (how <= Effect::paths)
			expect_flow(how);
		else if (how == Effect::down)
			expect_down();
		else if (is_settled() && program_.trade() == Trade::watcher)
			expect_event(IBV_EVENT_DEVICE_FATAL);
		if (how != Effect::gone || program_.trade() == Trade::newcomer)
			program_.stop();
		expect_end(how);
	}

private:
	void expect_soon(const std::function<bool()> &holds, const char *otherwise) const
	{
		if (comes_true(holds))
			return;
		ADD_FAILURE() << otherwise << ": " << program_.describe();
		note_threads(program_.pid());
	}

	void expect_event(ibv_event_type type) const
	{
		expect_soon([&] { return report().has_event(type); },
			    (std::string("was not told of ") + ibv_event_type_str(type)).c_str());
	}

	void expect_down() const
	{
		const uint32_t now = report().transfers;

		expect_soon(
			[&] {
				return report().transfers > now + 1 ||
				       report().ending != Ending::none;
			},
			"neither goes on nor gives up");
		if (!is_settled() || program_.trade() != Trade::watcher)
			return;
		expect_event(IBV_EVENT_PORT_ERR);
		expect_event(IBV_EVENT_PORT_ACTIVE);
		EXPECT_FALSE(report().has_event(IBV_EVENT_DEVICE_FATAL));
	}

	void expect_killed()
	{
		const std::optional<int> status = program_.child().wait();

		if (!status)
			note_threads(program_.child().pid());
		ASSERT_TRUE(status) << "cannot be killed: " << program_.describe();
		EXPECT_TRUE(WIFSIGNALED(*status)) << "ended by itself: " << program_.describe();
	}

	void expect_end(Effect how)
	{
		const std::optional<int> status = program_.child().wait(2 * patience);

		if (!status)
			note_threads(program_.child().pid());
		ASSERT_TRUE(status) << "does not end: " << program_.describe();
		EXPECT_EQ(*status, 0) << "exit status, " << program_.describe();
		EXPECT_TRUE(is_fitting_end(how)) << program_.describe();
	}

	bool is_fitting_end(Effect how) const
	{
		switch (report().ending) {
		case Ending::stopped:
			return how != Effect::gone || program_.trade() == Trade::newcomer;
		case Ending::refused:
			return how > Effect::paths && !had_begun_;
		case Ending::broken:
			return how == Effect::gone
				       ? is_loss_of_peer(report().status)
				       : how == Effect::down &&
						 report().status == IBV_WC_RETRY_EXC_ERR;
		case Ending::unplugged:
			return how == Effect::gone;
		default:
			return false;
		}
	}

	/* The kernel takes the things of a context away one by one: a region or a window may go
	 * before the QP whose requests or receives name it.
	 */
	static bool is_loss_of_peer(uint32_t status)
	{
		return status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_REM_ACCESS_ERR ||
		       status == IBV_WC_REM_OP_ERR || status == IBV_WC_LOC_PROT_ERR ||
		       status == IBV_WC_MW_BIND_ERR || status == IBV_WC_WR_FLUSH_ERR;
	}

	Program program_;
	bool had_begun_ = false;
	bool was_killed_ = false;
};

} // namespace vm

#endif
