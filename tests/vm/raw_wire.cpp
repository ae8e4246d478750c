// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// raw_wire.cpp: raw packet QPs and an interface's wire: what they send goes out, and what comes in
// is theirs where their flows want it, and the host's else.
#include <optional>
#include <thread>
#include "counted.hpp"
#include "ktap.hpp"
#include "wire.hpp"

namespace
{

using namespace vm;

class RawWire : public testing::Test
{
protected:
	RawWire()
	{
		over_there([this] {
			peer.emplace(Wire::there);
			remote.emplace("10.8.0.2", "10.8.0.1");
		});
		local.emplace("10.8.0.1", "10.8.0.2");
		fill(data, 3);
		/* Both hosts know where the other is. */
		remote->send({ data, 10 });
		require(local->gets_any(), "nothing comes over the wire");
	}

	/* A short time, in which what is not to come would come. */
	static constexpr double moment = 0.2;
	Wire wire;
	std::optional<FrameSocket> peer;
	std::optional<UdpSocket> remote, local;
	uint8_t data[3000];
};

const Wants to_port = Wants().port(IBV_FLOW_SPEC_UDP, UdpSocket::port);

TEST_F(RawWire, carries_what_is_sent)
{
	RawStation station(Wire::device);
	const Packet packets[] = { Packet(0x88b5).pad(60),
				   Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP).udp().pad(1514),
				   Packet(0x88b5).vlan(0x2007).pad(100) };

	/* A packet socket is shown a tag beside the frame. */
	for (const Packet &packet : std::span(packets).first(2)) {
		station.send(packet);
		EXPECT_TRUE(peer->gets(packet));
	}
	station.send(packets[2]);
	EXPECT_TRUE(peer->gets(Packet(0x88b5).pad(96)));
	/* Not what is for the interface itself, which needs no wire. */
	const Packet own = Packet(0x88b5, mac_of(Wire::here)).pad(61);
	station.send(own);
	EXPECT_FALSE(peer->gets(own, moment));
}

TEST_F(RawWire, brings_what_flows_want)
{
	RawStation station(Wire::device);
	const Mac mine = mac_of(Wire::here);
	const Packet wanted = Packet(0x88b5, mine).pad(60), other = Packet(0x88b6, mine).pad(60),
		     tagged = Packet(0x88b5, mine).vlan(0x6009).pad(100),
		     twice = Packet(0x88b5, mine).vlan(3).vlan(9, 0x88a8).pad(100);

	Flow flow(station.qp, Wants().ethertype(0x88b5));
	station.receive(10);
	for (const Packet *packet : { &other, &wanted, &tagged, &other, &twice })
		peer->send(*packet);
	for (const Packet *packet : { &wanted, &tagged, &twice })
		station.expect_frame(*packet);
	station.expect_nothing();
	ASSERT_EQ(flow.end(), 0);
	peer->send(wanted);
	station.expect_nothing();
	Flow by_tag(station.qp, Wants().vlan(9));
	for (const Packet *packet : { &wanted, &tagged, &twice })
		peer->send(*packet);
	station.expect_frame(tagged);
	station.expect_frame(twice);
	station.expect_nothing();
}

TEST_F(RawWire, keeps_from_the_host_what_a_flow_takes)
{
	RawStation station(Wire::device);

	station.receive(10);
	{
		Flow flow(station.qp, to_port);
		remote->send({ data, 100 });
		const auto frame = station.next();
		ASSERT_TRUE(frame);
		EXPECT_TRUE(std::ranges::equal(payload_of(*frame), std::span(data, 100)));
		EXPECT_FALSE(local->gets_any(moment));
	}
	remote->send({ data, 100 });
	EXPECT_TRUE(local->gets_any());
	{
		Flow copies(station.qp, to_port, { .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP });
		remote->send({ data, 100 });
		EXPECT_TRUE(local->gets_any());
		EXPECT_TRUE(station.next());
	}
	Flow drops(station.qp, Wants(to_port).drop());
	remote->send({ data, 100 });
	EXPECT_FALSE(local->gets_any(moment));
	station.expect_nothing();
}

TEST_F(RawWire, brings_each_packet_of_many)
{
	RawStation station(Wire::device);
	Flow flow(station.qp, to_port);

	station.receive(10);
	remote->send(data, 1000);
	for (size_t at = 0; at < sizeof(data); at += 1000) {
		const auto frame = station.next();

		ASSERT_TRUE(frame);
		EXPECT_EQ(frame->size(), 1042u);
		EXPECT_TRUE(std::ranges::equal(payload_of(*frame), std::span(data + at, 1000)));
	}
	station.expect_nothing();
}

TEST_F(RawWire, is_sniffed_both_ways)
{
	RawStation station(Wire::device);
	Flow sniffer(station.qp, {}, { .type = IBV_FLOW_ATTR_SNIFFER });
	const auto sees = [&station](size_t length) {
		const Deadline deadline(patience);

		while (!deadline.passed()) {
			const auto frame = station.next(0.1);

			if (frame && frame->size() == 42 + length)
				return true;
		}
		return false;
	};

	station.receive(100);
	remote->send({ data, 123 });
	EXPECT_TRUE(local->gets_any()) << "it is the host's all the same";
	EXPECT_TRUE(sees(123));
	local->send({ data, 234 });
	EXPECT_TRUE(remote->gets_any());
	EXPECT_TRUE(sees(234));
	const Packet own = Packet(0x88b5).pad(345 + 42);
	station.send(own);
	EXPECT_TRUE(sees(345)) << "its own";
}

/* More than anybody can take: the host lives, and what is lost is counted. */
TEST_F(RawWire, may_be_flooded)
{
	RawStation station(Wire::device);
	const Packet packet = Packet(0x88b5, mac_of(Wire::here)).pad(1000);
	std::jthread flood([&](const std::stop_token &end) {
		while (!end.stop_requested())
			peer->send(packet);
	});
	const Deadline deadline(2 * slowness());
	int flows = 0;

	while (!deadline.passed()) {
		Flow flow(station.qp, Wants().ethertype(0x88b5));

		station.receive(50);
		for (int i = 0; i < 50; i++) {
			const auto frame = station.next();

			ASSERT_TRUE(frame);
			ASSERT_TRUE(std::ranges::equal(*frame, packet.bytes()));
		}
		flows++;
	}
	flood.request_stop();
	flood.join();
	EXPECT_GT(flows, 1);
	remote->send({ data, 10 });
	EXPECT_TRUE(local->gets_any());
}

/* The interface goes while frames come: so does the device, and what is left of it can be closed.
 */
TEST_F(RawWire, goes_with_its_interface)
{
	for (const char *end :
	     { "ip link delete wire0", "ip link set wire0 netns wire", "rdma link delete bell1" }) {
		std::optional<Wire> fresh;
		SCOPED_TRACE(end);

		if (!is_there(Wire::device))
			fresh.emplace();
		std::optional<FrameSocket> source;
		over_there([&source] { source.emplace(Wire::there); });
		RawStation station(Wire::device);
		Flow flow(station.qp, {}),
			sniffer(station.qp, {}, { .type = IBV_FLOW_ATTR_SNIFFER });
		const Packet packet = Packet(0x88b5, mac_of(Wire::here)).pad(500);

		station.receive(100);
		for (int i = 0; i < 50; i++)
			source->send(packet);
		EXPECT_TRUE(station.next());
		expect_command(end);
		EXPECT_TRUE(comes_true([] { return !is_there(Wire::device); }));
	}
}

TEST_F(RawWire, is_left_by_who_is_killed)
{
	const Packet packet = Packet(0x88b5, mac_of(Wire::here)).pad(500);

	for (int round = 0; round < 3; round++) {
		int ready[2];

		ASSERT_EQ(pipe(ready), 0);
		Child child([&] {
			RawStation station(Wire::device);
			Flow flow(station.qp, {});

			station.receive(200);
			require_errno(write(ready[1], "", 1) == 1, "write");
			for (;;)
				station.next();
			return 0;
		});
		char byte;
		ASSERT_EQ(read(ready[0], &byte, 1), 1);
		for (int i = 0; i < 500; i++) {
			peer->send(packet);
			if (i == 300)
				child.kill();
		}
		EXPECT_TRUE(child.wait()) << "does not end";
		close(ready[0]);
		close(ready[1]);
	}
	remote->send({ data, 10 });
	EXPECT_TRUE(local->gets_any());
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
