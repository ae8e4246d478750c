// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// grh_test.cpp: grh.c: the headers of datagrams that never were packets, read by libc's structs.
#include <cstring>
#include <netinet/ip.h>
#include <netinet/ip6.h>

#include <gtest/gtest.h>

#include "gid.hpp"

extern "C" {
#include "grh.h"
}

namespace
{

class Grh : public testing::Test
{
protected:
	bellhop_sl build(const char *sgid, const char *dgid, u32 payload, bool has_imm)
	{
		sgid_ = gid_of(sgid);
		dgid_ = gid_of(dgid);
		const bellhop_route route = { sgid_.raw, dgid_.raw, 0xabcde, 63, 0x5a };

		std::memset(bytes_, 0xee, sizeof(bytes_));
		return bellhop_grh_build(bytes_, &route, payload, has_imm);
	}

	Gid sgid_, dgid_;
	u8 bytes_[BELLHOP_GRH_BYTES];
};

u32 sum_of_words(const void *header, size_t words)
{
	const u8 *bytes = static_cast<const u8 *>(header);
	u32 sum = 0;

	for (size_t i = 0; i < words; i++)
		sum += bytes[2 * i] * 256u + bytes[2 * i + 1];
	return (sum & 0xffff) + (sum >> 16);
}

} // namespace

TEST_F(Grh, is_ipv4__of_mapped_addresses_only)
{
	EXPECT_TRUE(bellhop_grh_is_ipv4(gid_of("::ffff:10.0.0.1").raw));
	EXPECT_TRUE(bellhop_grh_is_ipv4(gid_of("::ffff:0.0.0.0").raw));
	for (const char *address : { "::", "::1", "::10.0.0.1", "::fffe:10.0.0.1", "fe80::ffff:1:1",
				     "100::ffff:10.0.0.1" })
		EXPECT_FALSE(bellhop_grh_is_ipv4(gid_of(address).raw)) << address;
}

TEST_F(Grh, build__ipv4_lies_at_the_end)
{
	static const u8 zeros[20] = {};
	ip header;

	EXPECT_EQ(build("::ffff:10.8.0.1", "::ffff:192.168.255.254", 100, false), BELLHOP_SL_IPV4);
	EXPECT_EQ(std::memcmp(bytes_, zeros, sizeof(zeros)), 0);
	std::memcpy(&header, bytes_ + 20, sizeof(header));
	EXPECT_EQ(header.ip_v, 4u);
	EXPECT_EQ(header.ip_hl, 5u);
	EXPECT_EQ(header.ip_tos, 0x5a);
	EXPECT_EQ(ntohs(header.ip_len), 20 + 8 + 12 + 8 + 100 + 4);
	EXPECT_EQ(ntohs(header.ip_off), IP_DF);
	EXPECT_EQ(header.ip_ttl, 63);
	EXPECT_EQ(header.ip_p, IPPROTO_UDP);
	EXPECT_EQ(header.ip_src.s_addr, inet_addr("10.8.0.1"));
	EXPECT_EQ(header.ip_dst.s_addr, inet_addr("192.168.255.254"));
	EXPECT_EQ(sum_of_words(&header, 10), 0xffffu);
}

TEST_F(Grh, build__ipv6_fills_it)
{
	ip6_hdr header;

	EXPECT_EQ(build("fe80::1", "fe80::2", 0, false), BELLHOP_SL_IPV6);
	std::memcpy(&header, bytes_, sizeof(header));
	EXPECT_EQ(ntohl(header.ip6_flow), 0x65aabcdeu);
	EXPECT_EQ(ntohs(header.ip6_plen), 8 + 12 + 8 + 4);
	EXPECT_EQ(header.ip6_nxt, IPPROTO_UDP);
	EXPECT_EQ(header.ip6_hlim, 63);
	EXPECT_EQ(std::memcmp(&header.ip6_src, sgid_.raw, 16), 0);
	EXPECT_EQ(std::memcmp(&header.ip6_dst, dgid_.raw, 16), 0);
}

TEST_F(Grh, build__the_length_counts_padding_and_immediate_data)
{
	for (u32 payload : { 0u, 1u, 2u, 3u, 4u, 4095u, 4096u }) {
		for (bool has_imm : { false, true }) {
			ip6_hdr header;

			build("fe80::1", "fe80::2", payload, has_imm);
			std::memcpy(&header, bytes_, sizeof(header));
			EXPECT_EQ(ntohs(header.ip6_plen),
				  8 + 12 + 8 + (has_imm ? 4 : 0) + (payload + 3) / 4 * 4 + 4)
				<< payload;
		}
	}
}

/* Many addresses: among them sums with two carries. */
TEST_F(Grh, build__every_checksum_is_right)
{
	for (u32 i = 0; i < 70000; i++) {
		Gid gid = gid_of("::ffff:255.255.255.255");
		const bellhop_route route = { gid.raw, gid.raw, 0, u8(i >> 8), u8(i) };

		gid.raw[14] = u8(i >> 8);
		gid.raw[15] = u8(i);
		bellhop_grh_build(bytes_, &route, i % 4096, false);
		ASSERT_EQ(sum_of_words(bytes_ + 20, 10), 0xffffu) << i;
	}
}
