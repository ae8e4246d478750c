// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// raw_packet.cpp: what a raw packet QP sends arrives at those QPs of its device whose flows want
// it.
#include <deque>
#include <linux/capability.h>
#include <sys/syscall.h>
#include "command.hpp"
#include "counted.hpp"
#include "frames.hpp"
#include "ktap.hpp"
#include "srq.hpp"

namespace
{

using namespace vm;

const Packet udp4 = Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP).udp().pad(100);
const Packet tcp4 = Packet(ETHERTYPE_IP).ipv4(IPPROTO_TCP).tcp().pad(100);
const Packet udp6 = Packet(ETHERTYPE_IPV6).ipv6(IPPROTO_UDP).udp().pad(200);
const Packet tagged = Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP).udp().pad(100).vlan(0x6005);
const Packet other = Packet(0x88b5).pad(60);
const Packet broadcast = Packet(0x88b5, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }).pad(60);
const Packet *const packets[] = { &udp4, &tcp4, &udp6, &tagged, &other, &broadcast };

class RawPacket : public testing::Test
{
protected:
	/* Of all packets, just these arrive. */
	void expect_only(const std::vector<const Packet *> &wanted,
			 std::source_location where = std::source_location::current())
	{
		SCOPED_TRACE("line " + std::to_string(where.line()));
		for (const Packet *packet : packets) {
			receiver.receive();
			sender.send(*packet);
		}
		for (const Packet *packet : wanted)
			receiver.expect_frame(*packet);
		receiver.expect_nothing();
	}

	RawStation sender, receiver;
};

TEST_F(RawPacket, arrives_where_a_flow_wants_it)
{
	expect_only({});
	{
		Flow all(receiver.qp, {});
		expect_only({ std::begin(packets), std::end(packets) });
	}
	expect_only({});
}

TEST_F(RawPacket, by_ethernet_header)
{
	{
		Flow flow(receiver.qp, Wants().to(Packet::to_nobody));
		expect_only({ &udp4, &tcp4, &udp6, &tagged, &other });
	}
	{
		Flow flow(receiver.qp, Wants().from(Packet::to_nobody));
		expect_only({});
	}
	{
		Flow flow(receiver.qp, Wants().from(Packet::from_nobody).ethertype(0x88b5));
		expect_only({ &other, &broadcast });
	}
	{
		Flow flow(receiver.qp, Wants().vlan(5));
		expect_only({ &tagged });
	}
	Flow flow(receiver.qp, Wants().vlan(4));
	expect_only({});
}

TEST_F(RawPacket, by_ip_header)
{
	{
		Flow flow(receiver.qp, Wants().ipv4("10.1.2.3", "10.4.5.6", "255.255.255.255"));
		expect_only({ &udp4, &tcp4, &tagged });
	}
	{
		Flow flow(receiver.qp, Wants().ipv4("10.1.9.9", "10.4.9.9", "255.255.0.0"));
		expect_only({ &udp4, &tcp4, &tagged });
	}
	{
		Flow flow(receiver.qp, Wants().ipv4("10.1.2.3", "10.4.5.7", "255.255.255.255"));
		expect_only({});
	}
	{
		Flow flow(receiver.qp, Wants().ipv6("fd00::2", 0xabcde));
		expect_only({ &udp6 });
	}
	Flow flow(receiver.qp, Wants().ipv6("fd00::2", 0xabcdf));
	expect_only({});
}

TEST_F(RawPacket, by_port)
{
	{
		Flow flow(receiver.qp, Wants().port(IBV_FLOW_SPEC_UDP, Packet::destination_port));
		expect_only({ &udp4, &udp6, &tagged });
	}
	{
		Flow flow(receiver.qp, Wants().ethertype(ETHERTYPE_IP)
					       .ipv4("0.0.0.0", "10.4.5.6", "0.0.0.255")
					       .port(IBV_FLOW_SPEC_TCP, Packet::destination_port));
		expect_only({});
	}
	{
		Flow flow(receiver.qp, Wants().port(IBV_FLOW_SPEC_TCP, Packet::destination_port));
		expect_only({ &tcp4 });
	}
	Flow flow(receiver.qp, Wants().port(IBV_FLOW_SPEC_UDP, 1));
	expect_only({});
}

TEST_F(RawPacket, goes_to_the_first_priority)
{
	RawStation second;
	Flow late(second.qp, {}, { .priority = 2 });
	Flow early(receiver.qp, Wants().ethertype(ETHERTYPE_IP), { .priority = 1 });

	second.receive(16);
	expect_only({ &udp4, &tcp4, &tagged });
	for (const Packet *packet : { &udp6, &other, &broadcast })
		second.expect_frame(*packet);
	second.expect_nothing();
	/* All of one priority get it, and each QP once. */
	Flow same(second.qp, Wants().to(Packet::to_nobody), { .priority = 1 });
	Flow again(receiver.qp, Wants().to(Packet::to_nobody).ethertype(ETHERTYPE_IP),
		   { .priority = 1 });
	second.receive(16);
	expect_only({ &udp4, &tcp4, &tagged });
	for (const Packet *packet : packets)
		second.expect_frame(*packet);
}

TEST_F(RawPacket, is_left_to_the_defaults)
{
	RawStation multicasts, rest;
	Flow all(rest.qp, {}, { .type = IBV_FLOW_ATTR_ALL_DEFAULT });
	Flow some(multicasts.qp, {}, { .type = IBV_FLOW_ATTR_MC_DEFAULT });
	Flow normal(receiver.qp, Wants().ethertype(ETHERTYPE_IP), { .priority = 0xffff });

	multicasts.receive(16);
	rest.receive(16);
	expect_only({ &udp4, &tcp4, &tagged });
	multicasts.expect_frame(broadcast);
	multicasts.expect_nothing();
	rest.expect_frame(udp6);
	rest.expect_frame(other);
	rest.expect_nothing();
}

TEST_F(RawPacket, is_copied_and_dropped)
{
	RawStation rest;
	Flow all(rest.qp, {}, { .type = IBV_FLOW_ATTR_ALL_DEFAULT });
	Flow copies(receiver.qp, Wants().ethertype(ETHERTYPE_IP),
		    { .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP });
	Flow drops(receiver.qp, Wants().ethertype(0x88b5).drop());

	rest.receive(16);
	expect_only({ &udp4, &tcp4, &tagged });
	for (const Packet *packet : { &udp4, &tcp4, &udp6, &tagged })
		rest.expect_frame(*packet);
	rest.expect_nothing();
}

TEST_F(RawPacket, is_seen_by_sniffers)
{
	RawStation taker;
	Flow sniffer(receiver.qp, {}, { .type = IBV_FLOW_ATTR_SNIFFER });
	Flow normal(taker.qp, Wants().ethertype(ETHERTYPE_IP));
	/* What is for the interface itself does not go there. */
	const Packet own = Packet(0x88b5, mac_of(device_name())).pad(60);

	taker.receive(16);
	expect_only({ std::begin(packets), std::end(packets) });
	receiver.receive();
	sender.send(own);
	receiver.expect_frame(own);
	receiver.expect_nothing();
	for (const Packet *packet : { &udp4, &tcp4, &tagged })
		taker.expect_frame(*packet);
	taker.expect_nothing();
}

TEST_F(RawPacket, comes_from_anywhere_in_memory)
{
	RawStation extended(device_name(), true);
	Flow flow(receiver.qp, {});
	const Packet packet = Packet(0x88b5).pad(1000);
	Send pieces = sender.request(packet.bytes());

	std::copy_n(packet.bytes().data(), 1000, sender.region.memory.data());
	fill({ sender.region.memory.data() + 14, 986 }, 7);
	pieces.sges = { sender.region.sge(0, 3), sender.region.sge(3, 11),
			sender.region.sge(14, 900), sender.region.sge(914, 86) };
	ASSERT_EQ(post_recv(receiver.qp,
			    { receiver.region.sge(4096, 13), receiver.region.sge(8192, 987) }),
		  0);
	ASSERT_EQ(post(sender.qp, pieces), 0);
	expect(sender.send_cq, sender.qp, 1);
	EXPECT_EQ(expect(receiver.recv_cq, receiver.qp, 0).byte_len, 1000u);
	EXPECT_EQ(
		std::memcmp(receiver.region.memory.data() + 4096, sender.region.memory.data(), 13),
		0);
	EXPECT_EQ(std::memcmp(receiver.region.memory.data() + 8192,
			      sender.region.memory.data() + 13, 987),
		  0);

	Send inlined = extended.request(other.bytes());
	inlined.flags |= IBV_SEND_INLINE;
	receiver.receive(2);
	ASSERT_EQ(post(extended.qp, inlined), 0);
	ASSERT_EQ(post_extended(extended.qp, inlined), 0);
	receiver.expect_frame(other);
	receiver.expect_frame(other);
}

TEST_F(RawPacket, has_the_length_of_a_frame)
{
	Flow flow(receiver.qp, {});
	const uint32_t mtu = 4200;

	ASSERT_EQ(post_recv(receiver.qp, { receiver.region.sge(0, 8192) }), 0);
	Send longest = sender.request(other.bytes());
	longest.sges = { sender.region.sge(0, mtu + 18) };
	ASSERT_EQ(post(sender.qp, longest), 0);
	expect(sender.send_cq, sender.qp, 1);
	EXPECT_EQ(expect(receiver.recv_cq, receiver.qp, 0).byte_len, mtu + 18);
	receiver.receive();
	Send shortest = sender.request(std::span(other.bytes()).first(14));
	ASSERT_EQ(post(sender.qp, shortest), 0);
	expect(sender.send_cq, sender.qp, 1);
	EXPECT_EQ(receiver.next()->size(), 14u);

	for (uint32_t length : { 0u, 13u, mtu + 19, 1u << 17 }) {
		Send wrong = sender.request(other.bytes());

		wrong.sges = { sender.region.sge(0, length) };
		ASSERT_EQ(post(sender.qp, wrong), 0);
		expect_reason(expect(sender.send_cq, sender.qp, 1, IBV_WC_LOC_LEN_ERR),
			      BELLHOP_REASON_WR_LENGTH);
		ASSERT_EQ(sender.qp.modify(to_state(IBV_QPS_RESET)), 0);
		ASSERT_EQ(sender.open(), 0);
	}
	receiver.receive();
	receiver.expect_nothing();
	sender.send(other);
	receiver.expect_frame(other);
}

TEST_F(RawPacket, tells_the_sender_of_its_own_faults)
{
	Flow flow(receiver.qp, {});
	Send wrong = sender.request(other.bytes());

	receiver.receive();
	wrong.sges[0].lkey ^= 0x100;
	ASSERT_EQ(post(sender.qp, wrong), 0);
	expect_reason(expect(sender.send_cq, sender.qp, 1, IBV_WC_LOC_PROT_ERR),
		      BELLHOP_REASON_LKEY_UNKNOWN);
	receiver.expect_nothing();
	wrong = sender.request(other.bytes());
	wrong.opcode = IBV_WR_SEND_WITH_IMM;
	EXPECT_EQ(post(sender.qp, wrong), EINVAL);
	wrong.opcode = IBV_WR_RDMA_WRITE;
	EXPECT_EQ(post(sender.qp, wrong), EINVAL);
}

/* Nobody can put a QP in error from outside. */
TEST_F(RawPacket, is_lost_where_it_does_not_fit)
{
	Flow flow(receiver.qp, {});
	const Counted before;

	sender.send(udp4);
	receiver.receive(1, 99);
	sender.send(udp4);
	receiver.expect_nothing();
	sender.send(other);
	receiver.expect_frame(other);
	EXPECT_EQ(receiver.qp.state(), IBV_QPS_RTS);
	EXPECT_EQ(before.grown("hw_counters/dropped_no_receive"), 1);
	EXPECT_EQ(before.grown("hw_counters/dropped_too_long"), 1);
	/* A key that does not open is the receiver's own fault. */
	ibv_sge sge = receiver.region.sge(0, 2048);
	sge.lkey ^= 0x100;
	ASSERT_EQ(post_recv(receiver.qp, { sge }, 9), 0);
	sender.send(other);
	expect(receiver.recv_cq, receiver.qp, 9, IBV_WC_LOC_PROT_ERR);
	EXPECT_EQ(receiver.qp.state(), IBV_QPS_ERR);
}

TEST_F(RawPacket, is_taken_by_none_that_does_not_receive)
{
	Flow flow(receiver.qp, {});

	ASSERT_EQ(receiver.qp.modify(to_state(IBV_QPS_RESET)), 0);
	sender.send(other);
	ASSERT_EQ(receiver.open(), 0);
	receiver.receive(2);
	sender.send(other);
	receiver.expect_frame(other);
	ASSERT_EQ(receiver.qp.modify(to_state(IBV_QPS_ERR)), 0);
	expect(receiver.recv_cq, receiver.qp, 1, IBV_WC_WR_FLUSH_ERR);
	sender.send(other);
	receiver.expect_nothing();
}

TEST_F(RawPacket, fills_shared_entries)
{
	Srq srq(receiver.pd);
	Qp qp(receiver.device, receiver.pd.get(), receiver.send_cq, receiver.recv_cq,
	      { .type = IBV_QPT_RAW_PACKET, .srq = srq.get() });

	ASSERT_EQ(open_raw(qp.get()), 0);
	Flow flow(qp, {});
	ASSERT_EQ(srq.post({ receiver.region.sge(0, 2048) }, 77), 0);
	sender.send(udp6);
	EXPECT_EQ(expect(receiver.recv_cq, qp, 77).byte_len, udp6.size());
	EXPECT_TRUE(std::ranges::equal(std::span(receiver.region.memory.data(), udp6.size()),
				       udp6.bytes()));
}

TEST_F(RawPacket, refuses_other_flows)
{
	const auto refused = [](const Qp &qp, const Wants &wants, const FlowShape &shape = {}) {
		ibv_flow *flow = create_flow(qp.get(), wants, shape);

		EXPECT_FALSE(flow);
		return flow ? 0 : errno;
	};
	Qp datagrams(sender.device, sender.pd.get(), sender.send_cq, sender.recv_cq,
		     { .type = IBV_QPT_UD });

	EXPECT_EQ(refused(datagrams, {}), EOPNOTSUPP);
	EXPECT_EQ(refused(sender.qp, {}, { .port = 2 }), EINVAL);
	EXPECT_EQ(refused(sender.qp, {}, { .flags = IBV_FLOW_ATTR_FLAGS_EGRESS }), EOPNOTSUPP);
	EXPECT_EQ(refused(sender.qp, Wants().mpls()), EOPNOTSUPP);
	EXPECT_EQ(refused(sender.qp, Wants().vlan(1), { .type = IBV_FLOW_ATTR_ALL_DEFAULT }),
		  EINVAL);
	EXPECT_EQ(refused(sender.qp, Wants().vlan(1), { .type = IBV_FLOW_ATTR_SNIFFER }), EINVAL);
}

TEST_F(RawPacket, keeps_the_qp_while_there_is_a_flow)
{
	Flow flow(receiver.qp, {});

	EXPECT_EQ(ibv_destroy_qp(receiver.qp.get()), EBUSY);
	EXPECT_EQ(flow.end(), 0);
	EXPECT_EQ(receiver.qp.destroy(), 0);
	sender.send(other);
}

TEST_F(RawPacket, has_as_many_flows_as_there_can_be)
{
	std::deque<Flow> flows;

	while (ibv_flow *flow = create_flow(receiver.qp.get(), Wants().vlan(flows.size() % 4096))) {
		ASSERT_EQ(ibv_destroy_flow(flow), 0);
		flows.emplace_back(receiver.qp, Wants().vlan(flows.size() % 4096));
		ASSERT_LE(flows.size(), 1024u);
	}
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_EQ(flows.size(), 1024u);
	receiver.receive();
	sender.send(tagged);
	receiver.expect_frame(tagged);
}

TEST(RawPacketRight, is_for_those_who_may)
{
	Child child([] {
		__user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
		__user_cap_data_struct data[2];

		require_errno(!syscall(SYS_capget, &head, data), "capget");
		data[0].effective &= ~(1u << CAP_NET_RAW);
		require_errno(!syscall(SYS_capset, &head, data), "capset");
		try {
			RawStation station;
		} catch (const std::runtime_error &) {
			return errno == EPERM ? 0 : 1;
		}
		return 2;
	});

	EXPECT_EQ(child.wait(), 0);
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
