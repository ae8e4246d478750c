// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// traffic.hpp: transfers between two contexts of this process for which an end is always found: the
// bytes are right, a completion failed, or the device is gone.
#ifndef BELLHOP_VM_TRAFFIC_HPP
#define BELLHOP_VM_TRAFFIC_HPP

#include <random>
#include "cq.hpp"
#include "ktap.hpp"
#include "memory.hpp"
#include "report.hpp"

namespace vm
{

/** What it goes by: a reliable connection, which may have something special about it, or frames. */
enum class Means {
	plain,
	shared_queue,
	xrc,
	windows,
	demand,
	frames
};

inline constexpr Means all_means[] = { Means::plain,   Means::shared_queue, Means::xrc,
				       Means::windows, Means::demand,	    Means::frames };

inline const char *name_of(Means means)
{
	static constexpr const char *names[] = { "plain",   "shared queue", "XRC",
						 "windows", "on demand",    "frames" };

	return names[static_cast<int>(means)];
}

/** From a to b, which may be of two devices. How they are joined is up to those who inherit this.
 */
class Traffic
{
public:
	/** Throws when a device refuses something. */
	Traffic(const std::string &from, const std::string &to, Report &report, uint32_t seed)
	    : a(from), b(to), random_(seed), report_(report)
	{
	}

	virtual ~Traffic() = default;

	/** One transfer of a random kind and length. False: it was the last, and the report says
	 * why. */
	virtual bool transfer() = 0;

	/** Looks what has happened to the devices. False when one of them is gone. */
	bool look()
	{
		for (const Device *side : { &a, &b }) {
			if (side == &a && is_watched)
				continue;
			pollfd waiter = { side->get()->async_fd, POLLIN, 0 };
			ibv_async_event event;

			while (poll(&waiter, 1, 0) > 0 &&
			       !ibv_get_async_event(side->get(), &event)) {
				report_.events |= 1u << event.event_type;
				ibv_ack_async_event(&event);
			}
		}
		return !report_.has_event(IBV_EVENT_DEVICE_FATAL);
	}

	Device a;
	Device b;
	bool is_watched = false; /* somebody else takes a's events */

protected:
	/* To be called when transfers can be made. */
	void begin()
	{
		report_.begun = true;
	}

	bool end(Ending how)
	{
		report_.ending = how;
		return false;
	}

	bool finish_transfer(bool is_right)
	{
		if (!is_right)
			return end(Ending::wrong);
		report_.transfers++;
		return true;
	}

	/* Something that only a device that goes does was seen; the event must follow. */
	bool await_the_end(const char *what)
	{
		const Deadline deadline(patience);

		while (look() && !deadline.passed())
			usleep(1000);
		if (report_.has_event(IBV_EVENT_DEVICE_FATAL))
			return end(Ending::unplugged);
		note("%s", what);
		return end(Ending::wrong);
	}

	bool expect_success(const ibv_wc &wc)
	{
		if (wc.status == IBV_WC_SUCCESS)
			return true;
		report_.status = wc.status;
		return end(Ending::broken);
	}

	bool complete(const Cq &cq)
	{
		const Deadline deadline(patience);
		std::optional<ibv_wc> wc;

		for (uint32_t looks = 1; !(wc = cq.poll()); looks++) {
			if (looks % 16)
				continue;
			if (!look())
				return end(Ending::unplugged);
			if (deadline.passed())
				return end(Ending::silent);
			usleep(100);
		}
		return expect_success(*wc);
	}

	std::mt19937 random_;

private:
	Report &report_;
};

} // namespace vm

#endif
