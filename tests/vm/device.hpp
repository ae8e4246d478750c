// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// device.hpp: a context of the device under test, its events, and protection domains.
#ifndef BELLHOP_VM_DEVICE_HPP
#define BELLHOP_VM_DEVICE_HPP

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <string>
#include <utility>
#include <infiniband/verbs.h>
#include "require.hpp"

namespace vm
{

/** The device under test: BELLHOP_TEST_DEVICE, or bell0. */
inline std::string device_name()
{
	const char *name = std::getenv("BELLHOP_TEST_DEVICE");

	return name && *name ? name : "bell0";
}

/** Whether it is a bellhop, so that what is bellhop's alone can be checked too. */
inline bool is_bellhop()
{
	return device_name().starts_with("bell");
}

/** An open context. Port 1; the GID is BELLHOP_TEST_GID, or 0. */
class Device
{
public:
	explicit Device(const std::string &name = device_name())
	{
		ibv_device **list = ibv_get_device_list(nullptr);

		require_errno(list, "ibv_get_device_list");
		for (ibv_device **device = list; *device; device++)
			if (name == ibv_get_device_name(*device))
				context_ = ibv_open_device(*device);
		ibv_free_device_list(list);
		require_errno(context_, "cannot open " + name);
		begin();
	}

	/** The context of a file that somebody else has opened; the file is its own from here on.
	 */
	explicit Device(int cmd_fd) : context_(ibv_import_device(cmd_fd))
	{
		require_errno(context_, "ibv_import_device");
		begin();
	}

	~Device()
	{
		if (context_)
			ibv_close_device(context_);
	}

	Device(const Device &) = delete;
	Device &operator=(const Device &) = delete;

	ibv_context *get() const
	{
		return context_;
	}

	const ibv_gid &gid() const
	{
		return gid_;
	}

	/** The index of @gid in the port's table; -1 if it is not there. */
	int find_gid(const ibv_gid &gid) const
	{
		ibv_gid other;

		for (int i = 0; i < 64; i++)
			if (!ibv_query_gid(context_, 1, i, &other) &&
			    !std::memcmp(gid.raw, other.raw, sizeof(gid.raw)))
				return i;
		return -1;
	}

	static uint8_t gid_index()
	{
		const char *index = std::getenv("BELLHOP_TEST_GID");

		return static_cast<uint8_t>(index ? std::atoi(index) : 0);
	}

	/**
	 * Waits for an asynchronous event of a QP or CQ, at most @seconds. It is acknowledged:
	 * its element is only good for comparing. Events of the port, which come when they
	 * like, and the news that a connection is used, are passed over.
	 */
	std::optional<ibv_async_event> next_event(double seconds = patience) const
	{
		const Deadline deadline(seconds);

		do {
			pollfd waiter = { context_->async_fd, POLLIN, 0 };
			ibv_async_event event;

			if (poll(&waiter, 1, deadline.left_ms()) <= 0 ||
			    ibv_get_async_event(context_, &event))
				continue;
			ibv_ack_async_event(&event);
			if (is_of_interest(event.event_type))
				return event;
		} while (!deadline.passed());
		return std::nullopt;
	}

private:
	void begin()
	{
		require_errno(!ibv_query_gid(context_, 1, gid_index(), &gid_), "ibv_query_gid");
		/* Events are waited for with a limit, by poll(). */
		fcntl(context_->async_fd, F_SETFL, fcntl(context_->async_fd, F_GETFL) | O_NONBLOCK);
	}

	static bool is_of_interest(ibv_event_type type)
	{
		return type == IBV_EVENT_CQ_ERR || type == IBV_EVENT_SRQ_ERR ||
		       type == IBV_EVENT_SRQ_LIMIT_REACHED || type == IBV_EVENT_QP_FATAL ||
		       type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR ||
		       type == IBV_EVENT_SQ_DRAINED || type == IBV_EVENT_QP_LAST_WQE_REACHED ||
		       type == IBV_EVENT_DEVICE_FATAL;
	}

	ibv_context *context_ = nullptr;
	ibv_gid gid_ = {};
};

/** A protection domain. */
class Pd
{
public:
	explicit Pd(const Device &device) : pd_(ibv_alloc_pd(device.get()))
	{
		require_errno(pd_, "ibv_alloc_pd");
	}

	~Pd()
	{
		ibv_dealloc_pd(pd_);
	}

	Pd(const Pd &) = delete;
	Pd &operator=(const Pd &) = delete;

	ibv_pd *get() const
	{
		return pd_;
	}

private:
	ibv_pd *pd_;
};

} // namespace vm

#endif
