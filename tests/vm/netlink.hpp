// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// netlink.hpp: messages to the kernel that a thread sends itself, so that what they make the kernel
// do is done in that thread.
#ifndef BELLHOP_VM_NETLINK_HPP
#define BELLHOP_VM_NETLINK_HPP

#include <cstdint>
#include <functional>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <vector>
#include "limit.hpp"

namespace vm
{

/** A request: a head of its family's, and attributes. */
class Message
{
public:
	explicit Message(int type, int flags = 0) : bytes_(NLMSG_HDRLEN)
	{
		header()->nlmsg_type = static_cast<uint16_t>(type);
		header()->nlmsg_flags =
			static_cast<uint16_t>(NLM_F_REQUEST | (flags ? flags : NLM_F_ACK));
	}

	/** Appends a family's own head. */
	template <typename T>
	Message &head(const T &head)
	{
		append(&head, sizeof(head));
		return *this;
	}

	Message &put(int type, const void *data, size_t length)
	{
		const nlattr attr = { static_cast<uint16_t>(NLA_HDRLEN + length),
				      static_cast<uint16_t>(type) };

		append(&attr, sizeof(attr));
		append(data, length);
		return *this;
	}

	Message &put(int type, uint32_t value)
	{
		return put(type, &value, sizeof(value));
	}

	Message &put(int type, const std::string &value)
	{
		return put(type, value.c_str(), value.size() + 1);
	}

	const std::vector<uint8_t> &bytes()
	{
		header()->nlmsg_len = static_cast<uint32_t>(bytes_.size());
		return bytes_;
	}

private:
	nlmsghdr *header()
	{
		return reinterpret_cast<nlmsghdr *>(bytes_.data());
	}

	void append(const void *data, size_t length)
	{
		const auto *from = static_cast<const uint8_t *>(data);

		bytes_.insert(bytes_.end(), from, from + length);
		bytes_.resize(NLMSG_ALIGN(bytes_.size()));
	}

	std::vector<uint8_t> bytes_;
};

/** Attributes, read. @length: of all of them. */
inline void for_each_attr(const uint8_t *start, size_t length,
			  const std::function<void(int type, const uint8_t *data, size_t)> &visit)
{
	size_t at = 0;

	while (at + NLA_HDRLEN <= length) {
		const auto *attr = reinterpret_cast<const nlattr *>(start + at);

		if (attr->nla_len < NLA_HDRLEN || at + attr->nla_len > length)
			return;
		visit(attr->nla_type & NLA_TYPE_MASK, start + at + NLA_HDRLEN,
		      attr->nla_len - NLA_HDRLEN);
		at += NLA_ALIGN(attr->nla_len);
	}
}

/** A socket for one exchange: what is left of one that failed does not disturb the next. */
class Netlink
{
public:
	using Visit = std::function<void(const uint8_t *payload, size_t length)>;

	explicit Netlink(int family)
	    : socket_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family))
	{
		require_errno(socket_ >= 0, "a netlink socket");
		limit_waiting(socket_, SO_RCVTIMEO);
	}

	~Netlink()
	{
		close(socket_);
	}

	Netlink(const Netlink &) = delete;
	Netlink &operator=(const Netlink &) = delete;

	/** The kernel has done what is asked when this returns. Returns 0 or an errno. */
	int send(const std::vector<uint8_t> &bytes) const
	{
		return ::send(socket_, bytes.data(), bytes.size(), 0) < 0 ? errno : 0;
	}

	/** Reads the answer up to its end. Returns 0, the errno that it brings, or one of recv()'s.
	 */
	int answer(const Visit &visit = {}) const
	{
		std::vector<uint8_t> buffer(64 << 10);

		for (;;) {
			const ssize_t length = recv(socket_, buffer.data(), buffer.size(), 0);

			if (length < 0)
				return errno;
			const auto *header = reinterpret_cast<const nlmsghdr *>(buffer.data());
			for (auto left = static_cast<uint32_t>(length); NLMSG_OK(header, left);
			     header = NLMSG_NEXT(header, left)) {
				const auto *data = static_cast<const uint8_t *>(NLMSG_DATA(header));

				if (header->nlmsg_type == NLMSG_ERROR)
					return -reinterpret_cast<const nlmsgerr *>(data)->error;
				if (header->nlmsg_type == NLMSG_DONE)
					return -*reinterpret_cast<const int *>(data);
				if (visit)
					visit(data, header->nlmsg_len - NLMSG_HDRLEN);
				if (!(header->nlmsg_flags & NLM_F_MULTI))
					return 0;
			}
		}
	}

private:
	int socket_;
};

/** Both halves of an exchange. */
inline int exchange(int family, Message message, const Netlink::Visit &visit = {})
{
	Netlink netlink(family);
	const int error = netlink.send(message.bytes());

	return error ? error : netlink.answer(visit);
}

} // namespace vm

#endif
