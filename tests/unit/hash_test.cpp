// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hash_test.cpp: hash.c: the examples that Microsoft gives for RSS, and what goes into a hash.
#include <arpa/inet.h>
#include <cstring>

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "../hash_examples.hpp"

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

static_assert(sizeof(hash_example_key) == BELLHOP_HASH_KEY_BYTES);

bellhop_hash hash(u32 fields)
{
	bellhop_hash hash{};

	hash.fields = fields;
	std::memcpy(hash.key, hash_example_key, sizeof(hash.key));
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
	for (const HashExample &e : hash_examples_ipv4) {
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
	for (const HashExample &e : hash_examples_ipv6) {
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
	for (size_t i = 0; i < sizeof(hash_example_key); i++) {
		bellhop_hash changed = how;

		/* The very last bit is beyond the last window. */
		changed.key[i] ^= 2;
		EXPECT_NE(bellhop_hash_bytes(&changed, bytes, sizeof(bytes)), all) << i;
	}
	EXPECT_EQ(bellhop_hash_bytes(&how, bytes, 0), 0u);
}
