// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// cq.hpp: completion channels and queues that are never waited for without a limit.
#ifndef BELLHOP_VM_CQ_HPP
#define BELLHOP_VM_CQ_HPP

#include <optional>
#include <thread>
#include <unistd.h>
#include "device.hpp"

namespace vm
{

/** A completion channel. */
class Channel
{
public:
	explicit Channel(const Device &device) : channel_(ibv_create_comp_channel(device.get()))
	{
		require_errno(channel_, "ibv_create_comp_channel");
		fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
	}

	~Channel()
	{
		ibv_destroy_comp_channel(channel_);
	}

	Channel(const Channel &) = delete;
	Channel &operator=(const Channel &) = delete;

	ibv_comp_channel *get() const
	{
		return channel_;
	}

	/** The CQ of the next event, not acknowledged; NULL when none comes within @seconds. */
	ibv_cq *next_event(double seconds = patience) const
	{
		const Deadline deadline(seconds);
		pollfd waiter = { channel_->fd, POLLIN, 0 };
		ibv_cq *cq = nullptr;
		void *cookie;

		if (poll(&waiter, 1, deadline.left_ms()) <= 0 ||
		    ibv_get_cq_event(channel_, &cq, &cookie))
			return nullptr;
		return cq;
	}

private:
	ibv_comp_channel *channel_;
};

/** A completion queue of @entries or more. */
class Cq
{
public:
	Cq(const Device &device, int entries, const Channel *channel = nullptr)
	    : cq_(ibv_create_cq(device.get(), entries, nullptr, channel ? channel->get() : nullptr,
				0))
	{
		require_errno(cq_, "ibv_create_cq");
	}

	/** One that is there already, and is destroyed here. */
	explicit Cq(ibv_cq *cq) : cq_(cq) {}

	~Cq()
	{
		if (cq_)
			ibv_destroy_cq(cq_);
	}

	Cq(const Cq &) = delete;
	Cq &operator=(const Cq &) = delete;

	ibv_cq *get() const
	{
		return cq_;
	}

	/** Destroys it now. Returns 0 or an errno. */
	int destroy()
	{
		return ibv_destroy_cq(std::exchange(cq_, nullptr));
	}

	/** A completion, if there is one. */
	std::optional<ibv_wc> poll() const
	{
		ibv_wc wc = {};
		int count = ibv_poll_cq(cq_, 1, &wc);

		require(count >= 0, "ibv_poll_cq failed");
		return count ? std::optional(wc) : std::nullopt;
	}

	/** The next completion within @seconds, if it comes. Sleeps between looks. */
	std::optional<ibv_wc> wait(double seconds = patience) const
	{
		const Deadline deadline(seconds);
		std::optional<ibv_wc> wc;

		for (int spin = 0; !(wc = poll()); spin++) {
			if (deadline.passed())
				break;
			if (spin < 100)
				std::this_thread::yield();
			else
				usleep(100);
		}
		return wc;
	}

	/** The next completion, which must come within @seconds. */
	ibv_wc next(double seconds = patience,
		    std::source_location where = std::source_location::current()) const
	{
		std::optional<ibv_wc> wc = wait(seconds);

		require(wc.has_value(), "no completion in time", where);
		return *wc;
	}

private:
	ibv_cq *cq_;
};

} // namespace vm

#endif
