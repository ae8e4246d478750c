// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// frame_traffic.hpp: traffic of frames between two raw packet QPs of one device, of which the
// second has a flow. Frames are lost while nothing can carry them, and sent again.
#ifndef BELLHOP_VM_FRAME_TRAFFIC_HPP
#define BELLHOP_VM_FRAME_TRAFFIC_HPP

#include "frames.hpp"
#include "traffic.hpp"

namespace vm
{

class FrameTraffic : public Traffic
{
public:
	FrameTraffic(const std::string &device, Report &report, uint32_t seed)
	    : Traffic(device, device, report, seed), seed_(random_()), to_(some_address()),
	      is_sniffer_(random_() % 2), from_(a), at_(b)
	{
		require_errno(!(errno = open_raw(from_.qp.get())) &&
				      !(errno = open_raw(at_.qp.get())),
			      "to RTS");
		for (uint32_t slot = 1; slot < slots; slot++)
			require(!receive(slot), "ibv_post_recv");
		flow_.emplace(want());
		begin();
	}

	/* Flows come and go as well. */
	bool transfer() override
	{
		const std::vector<uint8_t> frame = make(++number_);
		const Deadline deadline(patience);

		if (random_() % 16 == 0 && !renew_flow())
			return false;
		std::ranges::copy(frame, from_.place(0));
		do {
			if (post(from_.qp, { .sges = { from_.sge(0, frame.size()) } }))
				return await_the_end("a frame cannot be posted");
			if (!complete(from_.cq))
				return false;
			switch (await(frame)) {
			case Arrival::right:
				return finish_transfer(true);
			case Arrival::ended:
				return false;
			case Arrival::none:
				break;
			}
		} while (!deadline.passed());
		return end(Ending::silent);
	}

private:
	/* Of a region: the first is sent from, and the others are for receives. */
	static constexpr uint32_t slots = 16, room = 2048;
	static constexpr size_t number_at = ETH_HLEN, shortest = 60, longest = ETH_FRAME_LEN;

	enum class Arrival {
		none,
		right,
		ended
	};

	struct Station {
		explicit Station(const Device &device)
		    : pd(device), cq(device, 2 * slots),
		      qp(device, pd.get(), cq, cq,
			 { .cap = { slots, slots, 1, 1, 0 }, .type = IBV_QPT_RAW_PACKET }),
		      region(pd, slots * room)
		{
		}

		uint8_t *place(uint64_t slot) const
		{
			return region.memory.data() + slot * room;
		}

		ibv_sge sge(uint64_t slot, size_t length) const
		{
			return region.sge(slot * room, static_cast<uint32_t>(length));
		}

		Pd pd;
		Cq cq;
		Qp qp;
		Region region;
	};

	/* So that the frames of others, of which there may be many, are no one's but theirs. */
	Mac some_address()
	{
		Mac address = { 2 };

		for (size_t i = 1; i < address.size(); i++)
			address[i] = static_cast<uint8_t>(random_());
		return address;
	}

	/* The same whenever it is made. */
	std::vector<uint8_t> make(uint32_t number) const
	{
		std::mt19937 random(seed_ + number);
		const size_t length = shortest + random() % (longest - shortest + 1);
		const Packet packet = Packet(0x88b5, to_).pad(length);
		std::vector<uint8_t> frame(packet.bytes().begin(), packet.bytes().end());

		fill(std::span(frame).subspan(number_at), random());
		std::memcpy(&frame[number_at], &number, sizeof(number));
		return frame;
	}

	/* A sniffer's frames take the way through the interface, and all of them come. */
	ibv_flow *want() const
	{
		return is_sniffer_
			       ? create_flow(at_.qp.get(), {}, { .type = IBV_FLOW_ATTR_SNIFFER })
			       : create_flow(at_.qp.get(), Wants().to(to_));
	}

	bool renew_flow()
	{
		flow_.reset();
		ibv_flow *flow = want();

		if (!flow)
			return await_the_end("a flow cannot be made");
		flow_.emplace(flow);
		return true;
	}

	int receive(uint64_t slot) const
	{
		return post_recv(at_.qp, { at_.sge(slot, room) }, slot);
	}

	/* For as long as it takes when it takes long; on a busy machine it is sent once more. */
	Arrival await(const std::vector<uint8_t> &frame)
	{
		const Deadline deadline(0.05 * slowness());

		do {
			const std::optional<ibv_wc> wc = at_.cq.poll();

			if (wc) {
				const Arrival arrival = take(*wc, frame);

				if (arrival != Arrival::none)
					return arrival;
				continue;
			}
			if (!look()) {
				end(Ending::unplugged);
				return Arrival::ended;
			}
			usleep(100);
		} while (!deadline.passed());
		return Arrival::none;
	}

	/* Others' frames are passed over, and those that come late: they must be right, too. */
	Arrival take(const ibv_wc &wc, const std::vector<uint8_t> &frame)
	{
		if (!expect_success(wc))
			return Arrival::ended;
		const std::span<const uint8_t> got(at_.place(wc.wr_id), wc.byte_len);
		const bool is_ours =
			got.size() >= shortest && std::ranges::equal(got.first(6), to_);
		const bool is_right = std::ranges::equal(got, frame);
		uint32_t number = 0;

		if (is_ours)
			std::memcpy(&number, &got[number_at], sizeof(number));
		if ((is_ours && (number > number_ || !std::ranges::equal(got, make(number)))) ||
		    (!is_ours && !is_sniffer_)) {
			end(Ending::wrong);
			return Arrival::ended;
		}
		if (receive(wc.wr_id)) {
			await_the_end("a receive cannot be posted");
			return Arrival::ended;
		}
		return is_right ? Arrival::right : Arrival::none;
	}

	const uint32_t seed_;
	const Mac to_;
	const bool is_sniffer_;
	uint32_t number_ = 0;
	Station from_, at_;
	std::optional<Flow> flow_;
};

} // namespace vm

#endif
