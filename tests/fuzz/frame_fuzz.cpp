// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// frame_fuzz.cpp: any bytes as a frame: what is read of them does not depend on what lies behind
// them, and rules made of it match it.
#include <algorithm>
#include <cstring>
#include <memory>

extern "C" {
#include "hash.h"
#include "rule.h"
}
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	/* From memory of just that size, so that a byte too many is found. */
	const size_t length = std::min<size_t>(size, BELLHOP_FRAME_HEADERS);
	const auto exact = std::make_unique<u8[]>(length);
	bellhop_frame frame, whole;
	bellhop_rule rule{};
	bellhop_verdict verdict{};

	std::memcpy(exact.get(), data, length);
	std::memset(&frame, 0xee, sizeof(frame));
	if (!bellhop_frame_decode(&frame, exact.get(), static_cast<u32>(length))) {
		REQUIRE(length < 14);
		return 0;
	}
	/* No header that is looked at is longer. */
	REQUIRE(bellhop_frame_decode(&whole, data, static_cast<u32>(size)));
	REQUIRE(!std::memcmp(&frame, &whole, sizeof(frame)));

	const bool ip = frame.layers & (BELLHOP_LAYER_IPV4 | BELLHOP_LAYER_IPV6);
	const bool ports = frame.layers & (BELLHOP_LAYER_TCP | BELLHOP_LAYER_UDP);

	REQUIRE(ip || !ports);
	REQUIRE(ip || !frame.protocol);
	REQUIRE(ports || (!frame.source_port && !frame.destination_port));
	REQUIRE((frame.layers & BELLHOP_LAYER_VLAN) || !frame.vlan);

	rule.kind = BELLHOP_RULE_NORMAL;
	std::memset(&rule.mask, 0xff, sizeof(rule.mask));
	rule.value = frame;
	verdict.steered = true;
	REQUIRE(bellhop_rule_judge(&verdict, &rule, 7, &frame));
	REQUIRE(verdict.taken && verdict.num == 1 && verdict.qpns[0] == 7);

	/* The first bit of what is hashed brings the first word of the key, and so on. */
	bellhop_hash hash{};

	hash.fields = BELLHOP_HASH_FIELDS;
	REQUIRE(!bellhop_hash_frame(&hash, &frame));
	std::memset(hash.key, 0xff, sizeof(hash.key));
	const u32 sum = bellhop_hash_frame(&hash, &frame);
	REQUIRE(sum == 0 || sum == 0xffffffff);
	REQUIRE(ip || !sum);
	return 0;
}
