// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// program.hpp: processes that run traffic until they are told to stop, killed, or disturbed.
#ifndef BELLHOP_VM_PROGRAM_HPP
#define BELLHOP_VM_PROGRAM_HPP

#include <filesystem>
#include <memory>
#include <sched.h>
#include <sys/resource.h>
#include "calls.hpp"
#include "child.hpp"
#include "connection.hpp"
#include "frame_traffic.hpp"
#include "meminfo.hpp"

namespace vm
{

/** What a program does. */
enum class Trade {
	steady, /* one transfer after another */
	watcher, /* the same at leisure, while a thread sleeps until an asynchronous event comes */
	newcomer, /* makes everything anew for a few transfers, as often as it can */
	caller, /* connects by rdma_cm for a few transfers, as often as it can */
	idler, /* waits for the end of its device */
	sleeper, /* does not mind that either */
	keyless, /* an idler that has closed what keeps the module */
};

/** Between which devices, in which network namespace ("" is ours), at which IPv4 address, and by
 * what. */
struct Route {
	std::string from, to;
	std::string netns = "";
	const char *address = nullptr; /* for a caller */
	Means means = Means::plain; /* for all others; frames stay on one device */
};

/** Throws when a device refuses something. */
inline std::unique_ptr<Traffic> make_traffic(const Route &route, Report &report, uint32_t seed)
{
	if (route.means == Means::frames)
		return std::make_unique<FrameTraffic>(route.from, report, seed);
	return std::make_unique<Connection>(route.means, route.from, route.to, report, seed);
}

class Program
{
public:
	/** @report: zeroed, and shared with children. */
	Program(Trade trade, const Route &route, Report &report, uint32_t seed)
	    : trade_(trade), route_(route), report_(report),
	      child_([&] { return live(trade, route, report, seed); })
	{
	}

	Trade trade() const
	{
		return trade_;
	}

	const Route &route() const
	{
		return route_;
	}

	const Report &report() const
	{
		return report_;
	}

	pid_t pid() const
	{
		return child_.pid();
	}

	Child &child()
	{
		return child_;
	}

	void stop()
	{
		report_.stop = true;
	}

	std::string describe() const
	{
		static constexpr const char *names[] = { "steady", "watcher", "newcomer", "caller",
							 "idler",  "sleeper", "keyless" };

		return std::string(names[static_cast<int>(trade_)]) + ", " + name_of(route_.means) +
		       ", " + route_.from + " to " + route_.to +
		       (route_.netns.empty() ? "" : " in " + route_.netns) + ": " +
		       report_.describe();
	}

private:
	static int live(Trade trade, const Route &route, Report &report, uint32_t seed)
	{
		/* Or whoever looks after them would seldom have a turn. */
		setpriority(PRIO_PROCESS, 0, 10);
		if (!route.netns.empty())
			enter(route.netns);
		while (trade == Trade::newcomer && !report.stop) {
			visit(route, report, seed++);
			if (report.ending == Ending::wrong || report.ending == Ending::silent)
				break;
		}
		if (trade != Trade::newcomer)
			work(trade, route, report, seed);
		else if (report.stop)
			report.ending = Ending::stopped;
		/* Whatever became of the device: all is given back, but what rdma_cm's library
		 * keeps open for the next caller. */
		if (trade != Trade::caller && pinned_by_self()) {
			note("%ld KiB are still pinned", pinned_by_self());
			report.ending = Ending::wrong;
		}
		return testing::Test::HasFailure() || report.ending == Ending::wrong;
	}

	static void enter(const std::string &netns)
	{
		const int file = open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC);

		require_errno(file >= 0 && !setns(file, CLONE_NEWNET), "setns");
		close(file);
	}

	static void work(Trade trade, const Route &route, Report &report, uint32_t seed)
	{
		try {
			if (trade == Trade::caller)
				return Calls(route.address, report, seed).run();
			const auto traffic = make_traffic(route, report, seed);

			if (trade == Trade::keyless)
				close_kick_file();
			if (trade >= Trade::idler)
				wait(trade, *traffic, report);
			else if (trade == Trade::watcher)
				watch(*traffic, report);
			else
				run(*traffic, report, 0);
		} catch (const std::exception &error) {
			report.refuse(error.what());
			report.ending = Ending::refused;
		}
	}

	/* A newcomer's failures are no end. */
	static void visit(const Route &route, Report &report, uint32_t seed)
	{
		report.ending = Ending::none;
		try {
			const auto traffic = make_traffic(route, report, seed);

			for (int i = 0; i < 4 && traffic->transfer(); i++)
				;
		} catch (const std::exception &error) {
			report.refuse(error.what());
			usleep(1000);
		}
	}

	static void run(Traffic &traffic, Report &report, useconds_t pause)
	{
		while (!report.stop) {
			if (!traffic.transfer())
				return;
			if (!traffic.look()) {
				report.ending = Ending::unplugged;
				return;
			}
			usleep(pause);
		}
		report.ending = Ending::stopped;
	}

	/* The thread is woken by events only, or by the signal that ends it. */
	static void watch(Traffic &traffic, Report &report)
	{
		const int file = traffic.a.get()->async_fd;
		std::atomic<bool> over = false;
		struct sigaction nothing = {};

		nothing.sa_handler = [](int) {};
		sigaction(SIGUSR1, &nothing, nullptr);
		traffic.is_watched = true;
		fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
		std::thread watcher([&] {
			ibv_async_event event;

			while (!ibv_get_async_event(traffic.a.get(), &event)) {
				report.events |= 1u << event.event_type;
				ibv_ack_async_event(&event);
			}
			over = true;
		});
		run_beside(traffic, report);
		while (!over) {
			pthread_kill(watcher.native_handle(), SIGUSR1);
			usleep(1000);
		}
		watcher.join();
	}

	/* A failed completion ends the traffic, and not the watch. */
	static void run_beside(Traffic &traffic, Report &report)
	{
		while (!report.stop && !report.has_event(IBV_EVENT_DEVICE_FATAL)) {
			if (report.ending == Ending::none)
				traffic.transfer();
			else if (report.ending != Ending::broken)
				return;
			usleep(2000);
		}
		if (report.has_event(IBV_EVENT_DEVICE_FATAL))
			report.ending = Ending::unplugged;
		else if (report.ending == Ending::none)
			report.ending = Ending::stopped;
	}

	/* Of all files it is the only one that belongs to the module. */
	static void close_kick_file()
	{
		for (const auto &file : std::filesystem::directory_iterator("/proc/self/fd")) {
			std::error_code unused;
			const auto target = std::filesystem::read_symlink(file.path(), unused);

			if (target.string().find("bellhop_kick") != std::string::npos)
				close(std::stoi(file.path().filename()));
		}
	}

	static void wait(Trade trade, Traffic &traffic, Report &report)
	{
		while (!report.stop && (traffic.look() || trade == Trade::sleeper))
			usleep(20000);
		report.ending = report.stop ? Ending::stopped : Ending::unplugged;
	}

	Trade trade_;
	Route route_;
	Report &report_;
	Child child_;
};

} // namespace vm

#endif
