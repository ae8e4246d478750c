// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// line.hpp: how two processes tell each other what they must know to connect.
#ifndef BELLHOP_VM_LINE_HPP
#define BELLHOP_VM_LINE_HPP

#include <sys/socket.h>
#include <sys/time.h>
#include "limit.hpp"
#include "qp.hpp"

namespace vm
{

/** A socket pair: the parent's end and the child's, reads bounded. */
class Line
{
public:
	Line()
	{
		require_errno(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), "socketpair");
		for (int end : ends_)
			limit_waiting(end, SO_RCVTIMEO);
	}

	~Line()
	{
		for (int end : ends_)
			if (end >= 0)
				close(end);
	}

	Line(const Line &) = delete;
	Line &operator=(const Line &) = delete;

	/** Keeps one end only: 0 is the parent's. */
	void take(int end)
	{
		close(ends_[!end]);
		ends_[!end] = -1;
		own_ = ends_[end];
	}

	/** Sends @value. False when the other end is gone. */
	template <typename T>
	bool tell(const T &value) const
	{
		return send(own_, &value, sizeof(value), MSG_NOSIGNAL) == sizeof(value);
	}

	/** Waits for a value, which comes whole. */
	template <typename T>
	std::optional<T> hear() const
	{
		T value;

		if (recv(own_, &value, sizeof(value), MSG_WAITALL) != sizeof(value))
			return std::nullopt;
		return value;
	}

	/** Whether the other end has said something, or is gone. */
	bool has_news() const
	{
		pollfd waiter = { own_, POLLIN, 0 };

		return poll(&waiter, 1, 0) > 0;
	}

private:
	int ends_[2];
	int own_ = -1;
};

/** What one end must know of the other: its QP and a region. */
struct Introduction {
	Address address;
	uint64_t start;
	uint32_t rkey;
};

} // namespace vm

#endif
