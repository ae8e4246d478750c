// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// frame_test.cpp: frame.c: frames built of libc's headers.
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "../packet.hpp"

extern "C" {
#include "frame.h"
}

namespace
{

/* The first bytes of it, from memory of just that size, so that a byte too many is found. */
bellhop_frame decode(const Packet &packet, size_t length)
{
	const auto exact = std::make_unique<u8[]>(length);
	bellhop_frame frame;

	std::memset(&frame, 0xee, sizeof(frame));
	std::memcpy(exact.get(), packet.bytes().data(), length);
	EXPECT_EQ(bellhop_frame_decode(&frame, exact.get(), u32(length)), length >= 14);
	return frame;
}

bellhop_frame decode(const Packet &packet)
{
	return decode(packet, packet.size());
}

} // namespace

TEST(frame, decode__ethernet)
{
	const bellhop_frame frame = decode(Packet(0x1234));

	EXPECT_EQ(std::memcmp(frame.destination_mac, Packet::to_nobody.data(), 6), 0);
	EXPECT_EQ(std::memcmp(frame.source_mac, Packet::from_nobody.data(), 6), 0);
	EXPECT_EQ(ntohs(frame.ethertype), 0x1234);
	EXPECT_EQ(frame.layers, 0u);
	EXPECT_EQ(frame.vlan, 0);
}

TEST(frame, decode__udp_over_ipv4)
{
	const bellhop_frame frame = decode(Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP).udp());
	const in_addr_t source = inet_addr("10.1.2.3"), destination = inet_addr("10.4.5.6");

	EXPECT_EQ(frame.layers, u32(BELLHOP_LAYER_IPV4 | BELLHOP_LAYER_UDP));
	EXPECT_EQ(std::memcmp(frame.source, &source, 4), 0);
	EXPECT_EQ(std::memcmp(frame.destination, &destination, 4), 0);
	EXPECT_EQ(frame.source[4], 0);
	EXPECT_EQ(frame.protocol, IPPROTO_UDP);
	EXPECT_EQ(frame.traffic_class, 0x12);
	EXPECT_EQ(frame.hop_limit, 63);
	EXPECT_EQ(frame.ipv4_flags, BELLHOP_IPV4_DONT_FRAGMENT);
	EXPECT_EQ(ntohs(frame.source_port), Packet::source_port);
	EXPECT_EQ(ntohs(frame.destination_port), Packet::destination_port);
}

TEST(frame, decode__tcp_over_ipv6)
{
	const bellhop_frame frame = decode(Packet(ETHERTYPE_IPV6).ipv6(IPPROTO_TCP).tcp());
	in6_addr source, destination;

	inet_pton(AF_INET6, "fd00::1", &source);
	inet_pton(AF_INET6, "fd00::2", &destination);
	EXPECT_EQ(frame.layers, u32(BELLHOP_LAYER_IPV6 | BELLHOP_LAYER_TCP));
	EXPECT_EQ(std::memcmp(frame.source, &source, 16), 0);
	EXPECT_EQ(std::memcmp(frame.destination, &destination, 16), 0);
	EXPECT_EQ(ntohl(frame.flow_label), 0xabcdeu);
	EXPECT_EQ(frame.traffic_class, 0x5a);
	EXPECT_EQ(frame.hop_limit, 17);
	EXPECT_EQ(ntohs(frame.source_port), Packet::source_port);
	EXPECT_EQ(ntohs(frame.destination_port), Packet::destination_port);
}

TEST(frame, decode__options_are_skipped)
{
	for (unsigned options = 0; options <= 10; options++) {
		const bellhop_frame frame =
			decode(Packet(ETHERTYPE_IP).ipv4(IPPROTO_TCP, options).tcp());

		EXPECT_EQ(ntohs(frame.destination_port), Packet::destination_port) << options;
	}
}

TEST(frame, decode__tags)
{
	for (u16 type : { 0x8100, 0x88a8 }) {
		const bellhop_frame one =
			decode(Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP).udp().vlan(0x6005, type));
		const bellhop_frame two =
			decode(Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP).udp().vlan(8).vlan(7, type));

		EXPECT_EQ(ntohs(one.vlan), 0x6005);
		EXPECT_EQ(ntohs(one.ethertype), ETHERTYPE_IP);
		EXPECT_EQ(ntohs(one.destination_port), Packet::destination_port);
		EXPECT_EQ(ntohs(two.vlan), 7) << "the outer one";
		EXPECT_EQ(ntohs(two.destination_port), Packet::destination_port);
		EXPECT_TRUE(two.layers & BELLHOP_LAYER_VLAN);
	}
	/* A third one is what the frame holds. */
	const bellhop_frame three =
		decode(Packet(ETHERTYPE_IP).ipv4(17).udp().vlan(9).vlan(8).vlan(7));
	EXPECT_EQ(ntohs(three.ethertype), 0x8100);
	EXPECT_EQ(three.layers, u32(BELLHOP_LAYER_VLAN));
}

TEST(frame, decode__fragments_behind_the_first_have_no_ports)
{
	const bellhop_frame first = decode(Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP, 0, IP_MF).udp());
	const bellhop_frame later =
		decode(Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP, 0, IP_MF | 1).udp());

	EXPECT_EQ(first.ipv4_flags, BELLHOP_IPV4_MORE_FRAGMENTS);
	EXPECT_EQ(ntohs(first.destination_port), Packet::destination_port);
	EXPECT_EQ(later.layers, u32(BELLHOP_LAYER_IPV4));
	EXPECT_EQ(later.destination_port, 0);
}

TEST(frame, decode__other_protocols_have_no_ports)
{
	const bellhop_frame frame = decode(Packet(ETHERTYPE_IP).ipv4(IPPROTO_ICMP).udp());

	EXPECT_EQ(frame.layers, u32(BELLHOP_LAYER_IPV4));
	EXPECT_EQ(frame.protocol, IPPROTO_ICMP);
	EXPECT_EQ(frame.source_port, 0);
}

TEST(frame, decode__wrong_versions_are_none)
{
	EXPECT_EQ(decode(Packet(ETHERTYPE_IPV6).ipv4(17).pad(100)).layers, 0u);
	EXPECT_EQ(decode(Packet(ETHERTYPE_IP).ipv6(17).udp()).layers, 0u);
	/* A header that is shorter than it can be. */
	EXPECT_EQ(decode(Packet(ETHERTYPE_IP).ipv4(17, 0xf).udp()).layers, 0u);
}

TEST(frame, decode__what_is_cut_off_is_not_there)
{
	const Packet packets[] = {
		Packet(ETHERTYPE_IP).ipv4(IPPROTO_UDP, 3).udp(),
		Packet(ETHERTYPE_IP).ipv4(IPPROTO_TCP).tcp().vlan(2).vlan(1),
		Packet(ETHERTYPE_IPV6).ipv6(IPPROTO_UDP).udp().vlan(1),
	};

	for (const Packet &packet : packets) {
		u32 layers = 0;

		for (size_t length = 0; length <= packet.size(); length++) {
			const u32 now = decode(packet, length).layers;

			EXPECT_EQ(now & layers, layers) << "a longer one has all of a shorter one";
			layers = now;
		}
		EXPECT_EQ(layers, decode(packet).layers);
	}
}

TEST(frame, tag__is_as_if_it_had_been_there)
{
	bellhop_frame frame = decode(Packet(ETHERTYPE_IP).ipv4(17).udp());
	const bellhop_frame tagged = decode(Packet(ETHERTYPE_IP).ipv4(17).udp().vlan(5));

	bellhop_frame_tag(&frame, htons(5));
	EXPECT_EQ(std::memcmp(&frame, &tagged, sizeof(frame)), 0);
}
