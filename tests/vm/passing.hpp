// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// passing.hpp: a socket over which one process hands files to another (SCM_RIGHTS).
#ifndef BELLHOP_VM_PASSING_HPP
#define BELLHOP_VM_PASSING_HPP

#include <array>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "require.hpp"

namespace vm
{

/** A socket pair, made before the two processes. End 0 sends, end 1 receives. */
class Passing
{
public:
	Passing()
	{
		require_errno(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_), "socketpair");
	}

	~Passing()
	{
		close_both();
	}

	Passing(const Passing &) = delete;
	Passing &operator=(const Passing &) = delete;

	/** Keeps one end only. */
	void take(int end)
	{
		close(ends_[!end]);
		ends_[!end] = -1;
	}

	void close_both()
	{
		for (int &end : ends_) {
			if (end >= 0)
				close(end);
			end = -1;
		}
	}

	/** Whether the process at the other end has gone, seen from end 1. */
	bool is_alone() const
	{
		pollfd waiter = { ends_[1], 0, 0 };

		return poll(&waiter, 1, 0) > 0 && (waiter.revents & POLLHUP);
	}

	template <typename T, size_t Count>
	void send(const T &value, const std::array<int, Count> &files) const
	{
		T copy = value;
		Control<Count> control = {};
		iovec part = { &copy, sizeof(copy) };
		msghdr message = make(part, control);
		cmsghdr *head = CMSG_FIRSTHDR(&message);

		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(files));
		std::memcpy(CMSG_DATA(head), files.data(), sizeof(files));
		sendmsg(ends_[0], &message, MSG_NOSIGNAL);
	}

	/** Returns whether all came, within the time that a healthy sender needs. */
	template <typename T, size_t Count>
	bool receive(T &value, std::array<int, Count> &files) const
	{
		Control<Count> control = {};
		iovec part = { &value, sizeof(value) };
		msghdr message = make(part, control);
		pollfd waiter = { ends_[1], POLLIN, 0 };

		if (poll(&waiter, 1, static_cast<int>(patience * 1000)) <= 0 ||
		    recvmsg(ends_[1], &message, 0) != sizeof(value))
			return false;
		cmsghdr *head = CMSG_FIRSTHDR(&message);
		if (!head || head->cmsg_len != CMSG_LEN(sizeof(files)))
			return false;
		std::memcpy(files.data(), CMSG_DATA(head), sizeof(files));
		return true;
	}

private:
	template <size_t Count>
	struct alignas(cmsghdr) Control {
		char bytes[CMSG_SPACE(sizeof(int) * Count)];
	};

	template <size_t Count>
	static msghdr make(iovec &part, Control<Count> &control)
	{
		msghdr message = {};

		message.msg_iov = &part;
		message.msg_iovlen = 1;
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		return message;
	}

	int ends_[2];
};

} // namespace vm

#endif
