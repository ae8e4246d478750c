// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// frames.hpp: a raw packet QP that sends and receives frames, and a socket that does.
#ifndef BELLHOP_VM_FRAMES_HPP
#define BELLHOP_VM_FRAMES_HPP

#include <linux/if_packet.h>
#include <net/if.h>
#include "flow.hpp"
#include "limit.hpp"
#include "presence.hpp"
#include "request.hpp"

namespace vm
{

/** The address of an interface. */
inline Mac mac_of(const std::string &interface)
{
	const std::string line = read_line("/sys/class/net/" + interface + "/address");
	Mac mac;

	for (size_t i = 0; i < mac.size(); i++)
		mac[i] = static_cast<uint8_t>(std::stoul(line.substr(3 * i, 2), nullptr, 16));
	return mac;
}

/** A raw packet QP from RESET to RTS. Returns 0 or an errno. */
inline int open_raw(ibv_qp *qp)
{
	Change change = to_state(IBV_QPS_INIT);

	change.attr.port_num = 1;
	change.mask |= IBV_QP_PORT;
	int error = ibv_modify_qp(qp, &change.attr, change.mask);
	for (ibv_qp_state state : { IBV_QPS_RTR, IBV_QPS_RTS }) {
		change = to_state(state);
		error = error ? error : ibv_modify_qp(qp, &change.attr, change.mask);
	}
	return error;
}

/** A raw packet QP that is open, with all that it needs. */
class RawStation
{
public:
	static constexpr uint32_t room = 2048; /* of a receive */

	explicit RawStation(const std::string &name = device_name(), bool extended = false)
	    : device(name), pd(device), send_cq(device, 512), recv_cq(device, 512),
	      qp(device, pd.get(), send_cq, recv_cq,
		 { .cap = { 64, 256, 4, 4, 128 },
		   .extended = extended,
		   .type = IBV_QPT_RAW_PACKET }),
	      region(pd, 256 * room)
	{
		require_errno(!(errno = open()), "to RTS");
	}

	/** RESET to RTS. Returns 0 or an errno. */
	int open() const
	{
		return open_raw(qp.get());
	}

	/** The request that sends @frame, which lies in memory from now on. */
	Send request(std::span<const uint8_t> frame, uint64_t id = 1) const
	{
		std::ranges::copy(frame, region.memory.data());
		return { .sges = { region.sge(0, static_cast<uint32_t>(frame.size())) }, .id = id };
	}

	void send(const Packet &packet) const
	{
		ASSERT_EQ(post(qp, request(packet.bytes())), 0);
		expect(send_cq, qp, 1);
	}

	/** Takes as many frames more. */
	void receive(uint32_t count = 1, uint32_t length = room)
	{
		for (; count; count--, posted_++)
			ASSERT_EQ(post_recv(qp, { region.sge(place(posted_), length) }, posted_),
				  0);
	}

	/** The next frame within @seconds, if it comes. */
	std::optional<std::vector<uint8_t>> next(double seconds = patience) const
	{
		const std::optional<ibv_wc> wc = recv_cq.wait(seconds);

		if (!wc)
			return std::nullopt;
		EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
		EXPECT_EQ(wc->opcode, IBV_WC_RECV);
		EXPECT_EQ(wc->qp_num, qp.get()->qp_num);
		EXPECT_EQ(wc->wc_flags, 0u);
		const uint8_t *start = region.memory.data() + place(wc->wr_id);
		return std::vector<uint8_t>(start, start + wc->byte_len);
	}

	void expect_frame(const Packet &packet,
			  std::source_location where = std::source_location::current()) const
	{
		const auto got = next();

		ASSERT_TRUE(got) << "no frame, line " << where.line();
		EXPECT_TRUE(std::ranges::equal(*got, packet.bytes()))
			<< "another frame, line " << where.line();
	}

	void expect_nothing(std::source_location where = std::source_location::current()) const
	{
		expect_none(recv_cq, 0.05, where);
	}

	Device device;
	Pd pd;
	Cq send_cq;
	Cq recv_cq;
	Qp qp;
	Region region;

private:
	/* Behind what is sent. */
	static size_t place(uint64_t id)
	{
		return (1 + id % 255) * room;
	}

	uint64_t posted_ = 0;
};

/** A packet socket on an interface; frames that others put there are seen as well. */
class FrameSocket
{
public:
	explicit FrameSocket(const std::string &interface)
	    : fd_(socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)))
	{
		sockaddr_ll address = {};

		require_errno(fd_ >= 0, "a packet socket");
		limit_waiting(fd_, SO_SNDTIMEO);
		address.sll_family = AF_PACKET;
		address.sll_protocol = htons(ETH_P_ALL);
		address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
		require_errno(!bind(fd_, reinterpret_cast<sockaddr *>(&address), sizeof(address)),
			      "bind to " + interface);
	}

	~FrameSocket()
	{
		close(fd_);
	}

	FrameSocket(const FrameSocket &) = delete;
	FrameSocket &operator=(const FrameSocket &) = delete;

	/** Waits while those before it are on their way still. */
	void send(const Packet &packet) const
	{
		ASSERT_EQ(::send(fd_, packet.bytes().data(), packet.size(), 0),
			  static_cast<ssize_t>(packet.size()))
			<< strerror(errno);
	}

	/** Whether the kernel takes it at once. */
	bool put(std::span<const uint8_t> frame) const
	{
		return ::send(fd_, frame.data(), frame.size(), MSG_DONTWAIT) ==
		       static_cast<ssize_t>(frame.size());
	}

	/** For frames of @bytes altogether that nobody takes for a while. */
	void make_room(int bytes) const
	{
		require_errno(!setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)),
			      "room for frames");
	}

	/** Takes a frame that is there into @bytes. Returns its length, or -1. */
	ssize_t take(std::span<uint8_t> bytes) const
	{
		return recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
	}

	/** Whether @packet comes within @seconds; others are passed over. */
	bool gets(const Packet &packet, double seconds = patience) const
	{
		const Deadline deadline(seconds);
		uint8_t frame[4096];

		do {
			pollfd waiter = { fd_, POLLIN, 0 };

			if (poll(&waiter, 1, deadline.left_ms()) <= 0)
				continue;
			const ssize_t length = recv(fd_, frame, sizeof(frame), MSG_DONTWAIT);
			if (length == static_cast<ssize_t>(packet.size()) &&
			    std::ranges::equal(std::span(frame, packet.size()), packet.bytes()))
				return true;
		} while (!deadline.passed());
		return false;
	}

private:
	int fd_;
};

} // namespace vm

#endif
