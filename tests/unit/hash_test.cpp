// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hash_test.cpp: hash.c: the examples that Microsoft gives for RSS, and what goes into a hash.
#include <arpa/inet.h>
#include <cstring>

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

extern "C" {
#include "hash.h"
}

namespace
{

static_assert(int(BELLHOP_HASH_SRC_IPV4) == IBV_RX_HASH_SRC_IPV4);
static_assert(int(BELLHOP_HASH_DST_IPV4) == IBV_RX_HASH_DST_IPV4);
static_assert(int(BELLHOP_HASH_SRC_IPV6) == IBV_RX_HASH_SRC_IPV6);
static_assert(int(BELLHOP_HASH_DST_IPV6) == IBV_RX_HASH_DST_IPV6);
static_assert(int(BELLHOP_HASH_SRC_PORT_TCP) == IBV_RX_HASH_SRC_PORT_TCP);
static_assert(int(BELLHOP_HASH_DST_PORT_TCP) == IBV_RX_HASH_DST_PORT_TCP);
static_assert(int(BELLHOP_HASH_SRC_PORT_UDP) == IBV_RX_HASH_SRC_PORT_UDP);
static_assert(int(BELLHOP_HASH_DST_PORT_UDP) == IBV_RX_HASH_DST_PORT_UDP);

/* The key of the examples. */
constexpr u8 kKey[BELLHOP_HASH_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

bellhop_hash hash(u32 fields)
{
	bellhop_hash hash{};

	hash.fields = fields;
	std::memcpy(hash.key, kKey, sizeof(kKey));
	return hash;
}

bellhop_frame frame(int family, const char *source, u16 source_port, const char *destination,
		    u16 destination_port, bellhop_layer layer = BELLHOP_LAYER_TCP)
{
	bellhop_frame frame{};

	inet_pton(family, source, frame.source);
	inet_pton(family, destination, frame.destination);
	frame.source_port = htons(source_port);
	frame.destination_port = htons(destination_port);
	frame.layers = u32(family == AF_INET ? BELLHOP_LAYER_IPV4 : BELLHOP_LAYER_IPV6) | layer;
	return frame;
}

u32 hash_of(u32 fields, const bellhop_frame &frame)
{
	const bellhop_hash how = hash(fields);

	return bellhop_hash_frame(&how, &frame);
}

constexpr u32 kIpv4 = BELLHOP_HASH_SRC_IPV4 | BELLHOP_HASH_DST_IPV4;
constexpr u32 kIpv6 = BELLHOP_HASH_SRC_IPV6 | BELLHOP_HASH_DST_IPV6;
constexpr u32 kTcp = BELLHOP_HASH_SRC_PORT_TCP | BELLHOP_HASH_DST_PORT_TCP;
constexpr u32 kUdp = BELLHOP_HASH_SRC_PORT_UDP | BELLHOP_HASH_DST_PORT_UDP;

} // namespace

TEST(hash, frame__as_in_the_examples_of_ipv4)
{
	struct {
		const char *destination;
		u16 destination_port;
		const char *source;
		u16 source_port;
		u32 ip, tcp;
	} const examples[] = {
		{ "161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2, 0x51ccc178 },
		{ "65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a, 0xc626b0ea },
		{ "12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de, 0x5c2b394a },
		{ "209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xafc7327f },
		{ "202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5, 0x10e828a2 },
	};

	for (const auto &e : examples) {
		const bellhop_frame tcp =
			frame(AF_INET, e.source, e.source_port, e.destination, e.destination_port);
		const bellhop_frame udp = frame(AF_INET, e.source, e.source_port, e.destination,
						e.destination_port, BELLHOP_LAYER_UDP);

		EXPECT_EQ(hash_of(kIpv4, tcp), e.ip) << e.source;
		EXPECT_EQ(hash_of(kIpv4 | kTcp, tcp), e.tcp) << e.source;
		EXPECT_EQ(hash_of(kIpv4 | kIpv6 | kTcp | kUdp, udp), e.tcp) << e.source;
		EXPECT_EQ(hash_of(kIpv4 | kTcp, udp), e.ip) << "what it does not have";
	}
}

TEST(hash, frame__as_in_the_examples_of_ipv6)
{
	struct {
		const char *source;
		u16 source_port;
		const char *destination;
		u16 destination_port;
		u32 ip, tcp;
	} const examples[] = {
		{ "3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2cc18cd5,
		  0x40207d3d },
		{ "3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0f0c461c,
		  0xdde51bbf },
		{ "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024,
		  0x4b61e985, 0x02d1feef },
	};

	for (const auto &e : examples) {
		const bellhop_frame tcp =
			frame(AF_INET6, e.source, e.source_port, e.destination, e.destination_port);

		EXPECT_EQ(hash_of(kIpv6, tcp), e.ip) << e.source;
		EXPECT_EQ(hash_of(kIpv6 | kTcp, tcp), e.tcp) << e.source;
	}
}

TEST(hash, frame__only_what_is_wanted)
{
	const bellhop_frame one = frame(AF_INET, "10.0.0.1", 1, "10.0.0.2", 2);
	const bellhop_frame other = frame(AF_INET, "10.0.0.1", 3, "10.0.0.9", 4);
	const bellhop_frame none{};

	EXPECT_EQ(hash_of(BELLHOP_HASH_SRC_IPV4, one), hash_of(BELLHOP_HASH_SRC_IPV4, other));
	EXPECT_NE(hash_of(BELLHOP_HASH_DST_IPV4, one), hash_of(BELLHOP_HASH_DST_IPV4, other));
	EXPECT_NE(hash_of(BELLHOP_HASH_SRC_PORT_TCP, one),
		  hash_of(BELLHOP_HASH_SRC_PORT_TCP, other));
	EXPECT_EQ(hash_of(kIpv6 | kUdp, one), 0u);
	EXPECT_EQ(hash_of(BELLHOP_HASH_FIELDS, none), 0u);
}

TEST(hash, bytes__the_whole_key_is_used)
{
	u8 bytes[36];

	std::memset(bytes, 0xff, sizeof(bytes));
	const bellhop_hash how = hash(0);
	const u32 all = bellhop_hash_bytes(&how, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(kKey); i++) {
		bellhop_hash changed = how;

		/* The very last bit is beyond the last window. */
		changed.key[i] ^= 2;
		EXPECT_NE(bellhop_hash_bytes(&changed, bytes, sizeof(bytes)), all) << i;
	}
	EXPECT_EQ(bellhop_hash_bytes(&how, bytes, 0), 0u);
}
