// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// icrc_test.cpp: icrc.c: packets whose CRC others have computed, and what it does not depend on.
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "bth.h"
#include "icrc.h"
}

namespace
{

using Bytes = std::vector<u8>;

/* A packet from its IP header on, with its ICRC. */
struct Sample {
	const char *name;
	Bytes bytes;

	bool ipv6() const
	{
		return bytes[0] >> 4 == 6;
	}
	size_t udp() const
	{
		return ipv6() ? 40 : 20;
	}
	size_t bth() const
	{
		return udp() + 8;
	}
};

/* From scapy's test/contrib/roce.uts: the first was captured from a ConnectX-4 Lx. */
const Sample kSamples[] = {
	{ "congestion notification, IPv4",
	  { 0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61,
	    0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7,
	    0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18,
	    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a } },
	{ "UC send, IPv4",
	  { 0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5, 0xc0,
	    0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c,
	    0xac, 0xa2, 0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17,
	    0x10, 0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a, 0x95, 0x50,
	    0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00, 0x78, 0xf3, 0x53, 0xf3 } },
	{ "UC send, IPv6",
	  { 0x6e, 0x21, 0xfa, 0xce, 0x00, 0x2c, 0x11, 0xff, 0x20, 0x22, 0x00, 0x00, 0x00, 0x00,
	    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x23, 0x20, 0x23, 0x00, 0x00,
	    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x24, 0xc0, 0x00,
	    0x12, 0xb7, 0x00, 0x2c, 0xe7, 0xc5, 0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3,
	    0x00, 0xcf, 0x17, 0x10, 0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a,
	    0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00, 0x3e, 0x5b, 0x74, 0x3b } },
};

/* Of all but the last four bytes; the headers from memory of just their size. */
Bytes icrc_of(const Sample &sample)
{
	const size_t headers = sample.bth() + BELLHOP_BTH_BYTES;
	const auto exact = std::make_unique<u8[]>(headers);
	Bytes icrc(BELLHOP_ICRC_BYTES);

	std::memcpy(exact.get(), sample.bytes.data(), headers);
	const u32 begun = bellhop_icrc_begin(exact.get(), sample.ipv6());
	bellhop_icrc_end(bellhop_icrc_add(begun, &sample.bytes[headers],
					  sample.bytes.size() - BELLHOP_ICRC_BYTES - headers),
			 icrc.data());
	return icrc;
}

Bytes icrc_in(const Sample &sample)
{
	return { sample.bytes.end() - BELLHOP_ICRC_BYTES, sample.bytes.end() };
}

/* The bits that routers, or the host's offloads, may change. */
Bytes variant_bits(const Sample &sample)
{
	Bytes mask(sample.bytes.size());

	if (sample.ipv6()) {
		mask[0] = 0x0f;
		mask[1] = mask[2] = mask[3] = 0xff;
		mask[7] = 0xff;
	} else {
		mask[1] = 0xff;
		mask[8] = mask[10] = mask[11] = 0xff;
	}
	mask[sample.udp() + 6] = mask[sample.udp() + 7] = 0xff;
	mask[sample.bth() + 4] = 0xff;
	return mask;
}

} // namespace

TEST(icrc, begin__packets_of_others)
{
	for (const Sample &sample : kSamples)
		EXPECT_EQ(icrc_of(sample), icrc_in(sample)) << sample.name;
}

TEST(icrc, begin__every_bit_counts_that_nobody_may_change)
{
	for (const Sample &sample : kSamples) {
		const Bytes variant = variant_bits(sample);

		for (size_t bit = 0; bit < 8 * (sample.bytes.size() - BELLHOP_ICRC_BYTES); bit++) {
			const u8 flip = u8(1 << bit % 8);
			/* That bit is how the sample tells what it is. */
			const bool ipv6 = sample.ipv6();
			Sample changed = sample;

			changed.bytes[bit / 8] ^= flip;
			if (changed.ipv6() != ipv6)
				continue;
			EXPECT_EQ(icrc_of(changed) == icrc_in(sample),
				  (variant[bit / 8] & flip) != 0)
				<< sample.name << ", bit " << bit;
		}
	}
}

TEST(icrc, add__in_any_pieces)
{
	const Bytes &bytes = kSamples[1].bytes;
	const u32 whole = bellhop_icrc_add(7, bytes.data(), bytes.size());

	for (size_t one = 0; one <= bytes.size(); one++) {
		for (size_t two = one; two <= bytes.size(); two++) {
			u32 icrc = bellhop_icrc_add(7, bytes.data(), one);

			icrc = bellhop_icrc_add(icrc, bytes.data() + one, two - one);
			icrc = bellhop_icrc_add(icrc, bytes.data() + two, bytes.size() - two);
			ASSERT_EQ(icrc, whole) << one << ", " << two;
		}
	}
	EXPECT_EQ(bellhop_icrc_add(7, nullptr, 0), 7u);
}

TEST(icrc, end__inverts_and_begins_with_the_low_byte)
{
	u8 bytes[BELLHOP_ICRC_BYTES];

	bellhop_icrc_end(~0x04030201u, bytes);
	for (u32 i = 0; i < sizeof(bytes); i++)
		EXPECT_EQ(bytes[i], i + 1);
}
