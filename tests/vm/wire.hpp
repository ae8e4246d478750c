// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wire.hpp: a device whose interface is one end of a wire, and a host at the other end.
//
//	bell1 on wire0, 10.8.0.1  ----  wire1, 10.8.0.2, in the namespace "wire"
#ifndef BELLHOP_VM_WIRE_HPP
#define BELLHOP_VM_WIRE_HPP

#include <netinet/udp.h>
#include "command.hpp"
#include "frames.hpp"

namespace vm
{

/** Runs @body in the network namespace at the other end. What it opens stays there. */
inline void over_there(const std::function<void()> &body)
{
	const int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	const int there = open("/run/netns/wire", O_RDONLY | O_CLOEXEC);

	require_errno(here >= 0 && there >= 0 && !setns(there, CLONE_NEWNET), "setns");
	body();
	require_errno(!setns(here, CLONE_NEWNET), "setns");
	close(here);
	close(there);
}

class Wire
{
public:
	static constexpr const char *device = "bell1", *here = "wire0", *there = "wire1";

	Wire()
	{
		run_command("modprobe veth", false);
		clear();
		expect_command("ip netns add wire && ip link add wire0 type veth peer name wire1");
		expect_command("ip link set wire1 netns wire && "
			       "ip address add 10.8.0.1/24 dev wire0 && ip link set wire0 up && "
			       "ip -n wire address add 10.8.0.2/24 dev wire1 && "
			       "ip -n wire link set wire1 up");
		expect_command("rdma link add bell1 type bellhop netdev wire0");
		require(comes_true([] { return is_complete(device); }), "bell1 is not there");
	}

	~Wire()
	{
		clear();
	}

	Wire(const Wire &) = delete;
	Wire &operator=(const Wire &) = delete;

private:
	static void clear()
	{
		run_command("ip link delete wire0", false);
		run_command("ip netns delete wire", false);
		comes_true([] { return !is_there(device); });
	}
};

/** A UDP socket of one of the two hosts, which sends to and receives from the other. */
class UdpSocket
{
public:
	static constexpr uint16_t port = 5000;

	UdpSocket(const char *own, const char *other) : fd_(socket(AF_INET, SOCK_DGRAM, 0))
	{
		const sockaddr_in from = address(own), to = address(other);

		require_errno(
			fd_ >= 0 &&
				!bind(fd_, reinterpret_cast<const sockaddr *>(&from),
				      sizeof(from)) &&
				!connect(fd_, reinterpret_cast<const sockaddr *>(&to), sizeof(to)),
			"a UDP socket");
		limit_waiting(fd_, SO_SNDTIMEO);
	}

	~UdpSocket()
	{
		close(fd_);
	}

	UdpSocket(const UdpSocket &) = delete;
	UdpSocket &operator=(const UdpSocket &) = delete;

	/** In packets of @segment bytes, which the network makes as late as it can. */
	void send(std::span<const uint8_t> bytes, int segment = 0) const
	{
		ASSERT_EQ(setsockopt(fd_, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
		ASSERT_EQ(::send(fd_, bytes.data(), bytes.size(), 0),
			  static_cast<ssize_t>(bytes.size()));
	}

	/** Whether a datagram comes within @seconds; it is taken. */
	bool gets_any(double seconds = patience) const
	{
		pollfd waiter = { fd_, POLLIN, 0 };
		uint8_t bytes[65536];

		return poll(&waiter, 1, Deadline(seconds).left_ms()) > 0 &&
		       recv(fd_, bytes, sizeof(bytes), MSG_DONTWAIT) >= 0;
	}

private:
	static sockaddr_in address(const char *ip)
	{
		sockaddr_in address = {};

		address.sin_family = AF_INET;
		address.sin_port = htons(port);
		address.sin_addr.s_addr = inet_addr(ip);
		return address;
	}

	int fd_;
};

/** The payload of a frame of UDP over IPv4, whose checksums are as they must be. */
inline std::span<const uint8_t> payload_of(const std::vector<uint8_t> &frame)
{
	constexpr size_t ip_at = 14, udp_at = ip_at + 20, data_at = udp_at + 8;
	const auto sum = [&frame](size_t begin, size_t end) {
		uint32_t sum = 0;

		for (size_t i = begin; i < end; i++)
			sum += frame[i] << (i % 2 ? 0 : 8);
		return sum;
	};
	const auto fold = [](uint32_t sum) {
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		return sum;
	};

	require(frame.size() >= data_at, "too short");
	EXPECT_EQ(fold(sum(ip_at, udp_at)), 0xffffu) << "the checksum of IPv4";
	const uint32_t length = frame[udp_at + 4] << 8 | frame[udp_at + 5];
	require(length >= 8 && udp_at + length <= frame.size(), "no length of UDP");
	EXPECT_EQ(
		fold(sum(udp_at, udp_at + length) + sum(ip_at + 12, udp_at) + IPPROTO_UDP + length),
		0xffffu)
		<< "the checksum of UDP";
	return std::span(frame).subspan(data_at, length - 8);
}

} // namespace vm

#endif
