// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// traffic.hpp: a connection whose two ends are this process's, and transfers over it for which an
// end is always found: the bytes are right, a completion failed, or the device is gone.
#ifndef BELLHOP_VM_TRAFFIC_HPP
#define BELLHOP_VM_TRAFFIC_HPP

#include <optional>
#include "report.hpp"
#include "request.hpp"

namespace vm
{

/** What each end has; receives raise events. */
struct TrafficEnd {
	static constexpr uint32_t room = 256 << 10;

	explicit TrafficEnd(const std::string &name)
	    : device(name), channel(device), pd(device), send_cq(device, 64),
	      recv_cq(device, 64, &channel),
	      qp(device, pd.get(), send_cq, recv_cq, { .cap = { 16, 16, 2, 2, 64 } }),
	      region(pd, room)
	{
	}

	Device device;
	Channel channel;
	Pd pd;
	Cq send_cq;
	Cq recv_cq;
	Qp qp;
	Region region;
};

/** From end a to end b, which may be of two devices. */
class Traffic
{
public:
	/** Throws when a device refuses something. */
	Traffic(const std::string &from, const std::string &to, Report &report, uint32_t seed)
	    : a(from), b(to), report_(report), random_(seed)
	{
		b.qp.connect(a.qp.address());
		a.qp.connect(b.qp.address());
		report_.begun = true;
	}

	/** One transfer of a random kind and length. False: it was the last, and the report says
	 * why. */
	bool transfer()
	{
		static constexpr ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_SEND,
							     IBV_WR_RDMA_READ,
							     IBV_WR_RDMA_WRITE_WITH_IMM };
		const ibv_wr_opcode opcode = opcodes[random_() % std::size(opcodes)];
		const uint32_t length =
			1 + random_() % (random_() % 8 ? 4096 : TrafficEnd::room / 2);
		const size_t from = random_() % (TrafficEnd::room / 2);
		const size_t to = random_() % (TrafficEnd::room / 2);
		const bool is_read = opcode == IBV_WR_RDMA_READ;
		const bool receives = opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
		const std::span<uint8_t> near = a.region.memory.bytes().subspan(from, length);
		const std::span<uint8_t> far = b.region.memory.bytes().subspan(to, length);

		fill(is_read ? far : near, random_());
		if (receives && !receive(opcode, to, length))
			return false;
		if (post(a.qp, { .opcode = opcode,
				 .sges = { a.region.sge(from, length) },
				 .remote = b.region.address(to),
				 .rkey = b.region.mr.rkey() }))
			return await_the_end("a send cannot be posted");
		if (!complete(a.send_cq) || (receives && !notified()))
			return false;
		if (std::memcmp(near.data(), far.data(), length) != 0)
			return end(Ending::wrong);
		report_.transfers++;
		return true;
	}

	/** Looks what has happened to the devices. False when one of them is gone. */
	bool look()
	{
		for (const TrafficEnd *side : { &a, &b }) {
			if (side == &a && is_watched)
				continue;
			pollfd waiter = { side->device.get()->async_fd, POLLIN, 0 };
			ibv_async_event event;

			while (poll(&waiter, 1, 0) > 0 &&
			       !ibv_get_async_event(side->device.get(), &event)) {
				report_.events |= 1u << event.event_type;
				ibv_ack_async_event(&event);
			}
		}
		return !report_.has_event(IBV_EVENT_DEVICE_FATAL);
	}

	TrafficEnd a;
	TrafficEnd b;
	bool is_watched = false; /* somebody else takes a's events */

private:
	bool end(Ending how)
	{
		report_.ending = how;
		return false;
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

	bool receive(ibv_wr_opcode opcode, size_t to, uint32_t length)
	{
		std::vector<ibv_sge> sges;

		if (opcode == IBV_WR_SEND)
			sges.push_back(b.region.sge(to, length));
		if (ibv_req_notify_cq(b.recv_cq.get(), 0) || post_recv(b.qp, sges))
			return await_the_end("a receive cannot be posted");
		return true;
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
		if (wc->status == IBV_WC_SUCCESS)
			return true;
		report_.status = wc->status;
		return end(Ending::broken);
	}

	/* Sleeps until the event, and takes what it announces. */
	bool notified()
	{
		const Deadline deadline(patience);
		ibv_cq *from;

		while (!(from = b.channel.next_event(0.01))) {
			if (!look())
				return end(Ending::unplugged);
			if (deadline.passed())
				return end(Ending::silent);
		}
		ibv_ack_cq_events(from, 1);
		return complete(b.recv_cq);
	}

	Report &report_;
	std::mt19937 random_;
};

} // namespace vm

#endif
