// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_frames.cpp: raw packet QPs that send nonsense, and flows, queues and tables that come and
// go while it arrives.
#include <sys/resource.h>
#include "command.hpp"
#include "seed.hpp"
#include "tally.hpp"
#include "victim.hpp"
#include "wq.hpp"

using namespace vm;

namespace
{

enum Kind {
	frames_sent,
	frames_refused,
	frames_received,
	frames_spread,
	frames_put,
	flows_made,
	flows_of_noise,
	states_changed,
	queues_changed,
	queues_replaced,
	kinds
};

Tally<kinds> &tally()
{
	static Tally<kinds> tally({ "frames sent", "frames that no interface could send",
				    "frames received", "frames received by a queue of many",
				    "frames put on the interface", "flows", "flows of noise",
				    "changes of a QP's state", "changes of a queue's state",
				    "queues, tables and QPs replaced" });
	return tally;
}

/* A frame that makes some sense, and then some less. */
std::vector<uint8_t> some_frame(std::mt19937 &random)
{
	Packet packet(random() % 4 ? random() % 2 ? ETHERTYPE_IP : ETHERTYPE_IPV6
				   : static_cast<uint16_t>(random()));

	if (random() % 8) {
		if (random() % 2)
			packet.ipv4(random() % 2 ? IPPROTO_UDP : IPPROTO_TCP, random() % 12,
				    static_cast<uint16_t>(random()));
		else
			packet.ipv6(random() % 2 ? IPPROTO_UDP : IPPROTO_TCP);
	}
	packet.udp();
	for (unsigned tags = random() % 4; tags; tags--)
		packet.vlan(static_cast<uint16_t>(random()),
			    random() % 2 ? ETHERTYPE_VLAN : 0x88a8);
	packet.pad(random() % 4 ? packet.size() + random() % 1500 : random() % 120);
	std::vector<uint8_t> bytes(packet.bytes().begin(), packet.bytes().end());
	for (unsigned changes = random() % 4; changes && !bytes.empty(); changes--)
		bytes[random() % std::min<size_t>(bytes.size(), 80)] =
			static_cast<uint8_t>(random());
	return bytes;
}

class Attacker
{
public:
	explicit Attacker(uint32_t seed) : random_(seed), socket_(device_name())
	{
		replace();
	}

	void attack(double seconds)
	{
		const Deadline end(seconds);
		std::vector<std::jthread> threads;

		for (int i = 0; i < 2; i++)
			threads.emplace_back([this, &end, seed = random_()] { send(end, seed); });
		threads.emplace_back([this, &end, seed = random_()] { put(end, seed); });
		while (!end.passed()) {
			change();
			reap();
		}
		threads.clear();
		flows_.clear();
		spread_.reset();
	}

private:
	/* A QP that spreads its frames, with all that it needs. */
	struct Spread {
		Spread(const RawStation &station, const Cq &cq)
		{
			for (int i = 0; i < 4; i++) {
				queues.emplace_back(station.pd, cq);
				queues[i].modify(IBV_WQS_RDY);
			}
			table.emplace(station.device, queues, 3);
			qp.emplace(station.pd, *table, BELLHOP_HASH_FIELDS);
			flow.emplace(qp->get(), Wants(),
				     FlowShape{ .type = IBV_FLOW_ATTR_ALL_DEFAULT });
		}

		std::vector<Wq> queues;
		std::optional<Table> table;
		std::optional<SpreadQp> qp;
		std::optional<Flow> flow;
	};

	/* From memory that others write at the same time. */
	void send(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		RawStation station;

		setpriority(PRIO_PROCESS, 0, 10);
		while (!end.passed()) {
			const std::vector<uint8_t> frame = some_frame(random);
			Send send = station.request(frame);

			if (random() % 32 == 0)
				send.sges[0].length = random() % (1 << 18);
			else if (random() % 32 == 0)
				send.sges[0].lkey ^= 1u << random() % 32;
			else if (random() % 8 == 0)
				send.sges[0] = receivers_[0].region.sge(random() % 4096,
									send.sges[0].length);
			const bool legal = send.sges[0].lkey == station.region.mr.lkey() &&
					   frame.size() >= 14 && frame.size() < 4000 &&
					   send.sges[0].length == frame.size();
			post(station.qp, send);
			const std::optional<ibv_wc> wc = station.send_cq.wait();
			if (!wc)
				_exit(2);
			/* What is right in itself must go. */
			if (legal && wc->status != IBV_WC_SUCCESS)
				_exit(3);
			if (wc->status == IBV_WC_SUCCESS) {
				tally().count(frames_sent, true);
				continue;
			}
			tally().count(frames_refused, true);
			station.qp.modify(to_state(IBV_QPS_RESET));
			station.open();
		}
	}

	/* What the host's own programs send, sniffers see. */
	void put(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);

		setpriority(PRIO_PROCESS, 0, 10);
		while (!end.passed()) {
			const std::vector<uint8_t> frame = some_frame(random);

			tally().count(frames_put, socket_.put(frame));
			usleep(200);
		}
	}

	Wants some_wants()
	{
		Wants wants;

		for (unsigned n = random_() % 4; n; n--) {
			switch (random_() % 6) {
			case 0:
				wants.to(Packet::to_nobody);
				break;
			case 1:
				wants.ethertype(ETHERTYPE_IP);
				break;
			case 2:
				wants.vlan(random_() % 16);
				break;
			case 3:
				wants.port(random_() % 2 ? IBV_FLOW_SPEC_UDP : IBV_FLOW_SPEC_TCP,
					   Packet::destination_port);
				break;
			case 4:
				wants.ipv4("10.1.2.3", "10.4.5.6", "255.255.0.0");
				break;
			default:
				wants.drop();
			}
		}
		return wants;
	}

	void make_flow()
	{
		FlowShape shape = { .priority = static_cast<uint16_t>(random_() % 8),
				    .type = static_cast<ibv_flow_attr_type>(random_() % 4) };
		Wants wants;

		/* The others can have nothing of these. */
		if (shape.type == IBV_FLOW_ATTR_NORMAL) {
			wants = some_wants();
			shape.flags = random_() % 4 ? 0 : uint32_t{ IBV_FLOW_ATTR_FLAGS_DONT_TRAP };
		}
		if (flows_.size() > 20)
			flows_.erase(flows_.begin() + random_() % flows_.size());
		flows_.emplace_back(receivers_[random_() % 2].qp, wants, shape);
		tally().count(flows_made, true);
	}

	/* Specifications that are none. */
	void make_flow_of_noise()
	{
		alignas(8) uint8_t bytes[256];
		const ibv_flow_attr head = { .comp_mask = 0,
					     .type = static_cast<ibv_flow_attr_type>(random_() % 5),
					     .size = static_cast<uint16_t>(
						     random_() % 4 ? sizeof(bytes) : random_()),
					     .priority = static_cast<uint16_t>(random_()),
					     .num_of_specs = static_cast<uint8_t>(random_() % 4),
					     .port = static_cast<uint8_t>(random_() % 3),
					     .flags = static_cast<uint32_t>(random_() % 8) };

		for (uint8_t &byte : bytes)
			byte = static_cast<uint8_t>(random_());
		std::memcpy(bytes, &head, sizeof(head));
		/* The library copies as many bytes as each says that it has. */
		for (size_t at = sizeof(head); at < sizeof(bytes); at += 40) {
			const uint32_t type = 0x20 + (random_() % 4) * 0x10;
			const uint16_t size = 40;

			std::memcpy(bytes + at, &type, sizeof(type));
			if (at + sizeof(type) + sizeof(size) <= sizeof(bytes))
				std::memcpy(bytes + at + sizeof(type), &size, sizeof(size));
		}
		ibv_flow *flow = ibv_create_flow(receivers_[random_() % 2].qp.get(),
						 reinterpret_cast<ibv_flow_attr *>(bytes));
		tally().count(flows_of_noise, flow);
		if (flow)
			ibv_destroy_flow(flow);
	}

	void replace()
	{
		spread_.emplace(receivers_[0], spread_cq_);
		tally().count(queues_replaced, true);
	}

	void change()
	{
		switch (random_() % 16) {
		case 0:
			make_flow_of_noise();
			break;
		case 1: {
			const RawStation &station = receivers_[random_() % 2];

			tally().count(states_changed,
				      !station.qp.modify(to_state(random_() % 2 ? IBV_QPS_RESET
										: IBV_QPS_ERR)));
			if (station.qp.state() == IBV_QPS_ERR)
				station.qp.modify(to_state(IBV_QPS_RESET));
			station.open();
			break;
		}
		case 2:
			tally().count(queues_changed,
				      !spread_->queues[random_() % 4].modify(
					      static_cast<ibv_wq_state>(random_() % 3)));
			break;
		case 3:
			replace();
			break;
		case 4:
		case 5:
			make_flow();
			break;
		case 6:
			if (!flows_.empty())
				flows_.erase(flows_.begin() + random_() % flows_.size());
			break;
		default:
			for (int i = 0; i < 4; i++) {
				const uint32_t length = random_() % 2048;

				post_recv(receivers_[i % 2].qp,
					  { receivers_[i % 2].region.sge(8192, length) });
				spread_->queues[i].post(receivers_[0].region.sge(16384, length), i);
			}
			usleep(500);
		}
	}

	void reap()
	{
		for (const RawStation &station : receivers_)
			while (const std::optional<ibv_wc> wc = station.recv_cq.poll())
				tally().count(frames_received, wc->status == IBV_WC_SUCCESS);
		while (const std::optional<ibv_wc> wc = spread_cq_.poll())
			tally().count(frames_spread, wc->status == IBV_WC_SUCCESS);
	}

	std::mt19937 random_;
	FrameSocket socket_;
	RawStation receivers_[2];
	Cq spread_cq_{ receivers_[0].device, 1024 };
	std::vector<Flow> flows_;
	std::optional<Spread> spread_;
};

int be_attacker(uint32_t seed)
{
	Attacker attacker(seed);

	attacker.attack(patience / 5);
	/* Half of them leave it all to the kernel. */
	if (seed % 2)
		_exit(harmless);
	return harmless;
}

TEST(HostileFrames, hurt_nobody_else)
{
	std::mt19937 random(seed());
	tally();
	Victim victim;
	const Toll toll = besiege(attack_time(2 * patience), random, be_attacker);

	tally().print();
	EXPECT_EQ(toll.crashed + toll.killed, 0u) << "this attack does not harm its own program";
	for (Kind kind : { frames_sent, frames_refused, frames_received, frames_spread, frames_put,
			   flows_made, states_changed, queues_changed, queues_replaced })
		EXPECT_GT(tally().done(kind), 0u) << "kind " << kind;
	EXPECT_GT(tally().tried(flows_of_noise), tally().done(flows_of_noise));
	victim.expect_unharmed();
}

TEST(HostileFrames, leave_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

} // namespace

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
