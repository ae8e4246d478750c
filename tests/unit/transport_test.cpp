// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// transport_test.cpp: transport.c: packets that hardware has sent, all opcodes there and back, and
// what is no packet.
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "syndrome.h"
#include "transport.h"
}

namespace
{

using Bytes = std::vector<u8>;

/* From memory of just that size, so that a byte too many is found. */
u32 decode(bellhop_transport *transport, const Bytes &bytes, size_t length)
{
	const auto exact = std::make_unique<u8[]>(length);

	std::memset(transport, 0xee, sizeof(*transport));
	std::memcpy(exact.get(), bytes.data(), length);
	return bellhop_transport_decode(transport, exact.get(), u32(length));
}

u32 decode(bellhop_transport *transport, const Bytes &bytes)
{
	return decode(transport, bytes, bytes.size());
}

Bytes encode(const bellhop_transport &transport)
{
	const u32 length = bellhop_bth_row(transport.opcode)->bytes;
	const auto exact = std::make_unique<u8[]>(length);

	std::memset(exact.get(), 0xee, length);
	EXPECT_EQ(bellhop_transport_encode(&transport, exact.get()), length);
	return { exact.get(), exact.get() + length };
}

/* All its bytes are zero. */
bool is_empty(const bellhop_transport &transport)
{
	const auto *bytes = reinterpret_cast<const u8 *>(&transport);

	return std::all_of(bytes, bytes + sizeof(transport), [](u8 byte) { return !byte; });
}

/* Each field is unlike the others, and has its highest and its lowest bit. */
bellhop_transport everything(u8 opcode)
{
	bellhop_transport transport{};

	transport.address = 0x8102030405060709;
	transport.swap_add = 0x9112131415161719;
	transport.compare = 0xa122232425262729;
	transport.original = 0xb132333435363739;
	transport.rkey = 0xc1424345;
	transport.length = 0xd1525355;
	transport.qpn = 0x810001;
	transport.psn = 0x920003;
	transport.srqn = 0xa30005;
	transport.qkey = 0xe1626365;
	transport.source_qpn = 0xb40007;
	transport.invalidate_rkey = 0xf1727375;
	transport.msn = 0xc50009;
	transport.imm = htonl(0x87654321);
	transport.pkey = 0x8ffd;
	transport.opcode = opcode;
	transport.syndrome = 0x9f;
	transport.flush_placement = 9;
	transport.flush_selectivity = 3;
	transport.solicited = transport.migrated = transport.ack_request = true;
	transport.fecn = transport.becn = transport.repairs = true;
	return transport;
}

/* The headers, with so many bytes of payload and what fills it up. */
Bytes with_payload(bellhop_transport transport, u32 payload)
{
	transport.payload = payload;
	Bytes bytes = encode(transport);
	bytes.resize(bytes.size() + payload + bellhop_transport_pad(payload));
	return bytes;
}

/* BTH, RETH, five bytes and three that fill them up. */
const Bytes kWrite = {
	0x0a, 0x70, 0xff, 0xff, 0x00, 0x00, 0x01, 0x0a, 0x80, 0xa7, 0x88, 0xbc,
	0x00, 0x00, 0x55, 0xd4, 0xc0, 0x72, 0x60, 0x00, 0x00, 0x00, 0x47, 0xb3,
	0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
};

} // namespace

TEST(transport, pad__fills_up_to_words)
{
	for (u32 payload = 0; payload < 10; payload++) {
		EXPECT_LT(bellhop_transport_pad(payload), 4u);
		EXPECT_EQ((payload + bellhop_transport_pad(payload)) % 4, 0u);
	}
}

/* This and the next two were captured from Mellanox cards: scapy's test/contrib/roce.uts. */
TEST(transport, decode__a_write_of_hardware)
{
	bellhop_transport transport;

	ASSERT_EQ(decode(&transport, kWrite), 28u);
	EXPECT_EQ(transport.opcode, BELLHOP_BTH_RC | BELLHOP_BTH_WRITE_ONLY);
	EXPECT_TRUE(transport.migrated);
	EXPECT_FALSE(transport.solicited);
	EXPECT_EQ(transport.pkey, 0xffff);
	EXPECT_EQ(transport.qpn, 0x10au);
	EXPECT_TRUE(transport.ack_request);
	EXPECT_EQ(transport.psn, 0xa788bcu);
	EXPECT_EQ(transport.address, 0x55d4c0726000u);
	EXPECT_EQ(transport.rkey, 0x47b3u);
	EXPECT_EQ(transport.length, 5u);
	EXPECT_EQ(transport.payload, 5u);
	EXPECT_EQ(encode(transport), Bytes(kWrite.begin(), kWrite.begin() + 28));
}

TEST(transport, decode__an_acknowledgement_of_hardware)
{
	const Bytes bytes = { 0x11, 0x40, 0xff, 0xff, 0x00, 0x00, 0x01, 0x09,
			      0x00, 0xa7, 0x88, 0xc0, 0x00, 0x00, 0x00, 0x05 };
	bellhop_transport transport;

	ASSERT_EQ(decode(&transport, bytes), 16u);
	EXPECT_EQ(transport.opcode, BELLHOP_BTH_ACKNOWLEDGE);
	EXPECT_EQ(transport.qpn, 0x109u);
	EXPECT_FALSE(transport.ack_request);
	EXPECT_EQ(transport.psn, 0xa788c0u);
	EXPECT_EQ(bellhop_syndrome_kind(transport.syndrome), BELLHOP_SYNDROME_ACK);
	EXPECT_EQ(transport.msn, 5u);
	EXPECT_EQ(transport.payload, 0u);
	EXPECT_EQ(encode(transport), bytes);
}

TEST(transport, decode__a_congestion_notification_of_hardware)
{
	Bytes bytes = { 0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00 };
	bellhop_transport transport;

	bytes.resize(28);
	ASSERT_EQ(decode(&transport, bytes), 28u);
	EXPECT_EQ(transport.opcode, BELLHOP_BTH_CNP);
	EXPECT_TRUE(transport.becn);
	EXPECT_FALSE(transport.fecn);
	EXPECT_EQ(transport.qpn, 0x118u);
	EXPECT_EQ(encode(transport), bytes);
}

TEST(transport, decode__what_was_encoded)
{
	for (u32 opcode = 0; opcode < BELLHOP_BTH_OPCODES; opcode++) {
		const bellhop_bth *row = bellhop_bth_row(u8(opcode));
		const u32 has = row->headers;
		const bellhop_transport in = everything(u8(opcode));
		bellhop_transport out;

		if (!row->bytes)
			continue;
		ASSERT_EQ(decode(&out, encode(in)), row->bytes) << opcode;
		EXPECT_EQ(out.opcode, opcode);
		EXPECT_EQ(out.qpn, in.qpn);
		EXPECT_EQ(out.psn, in.psn);
		EXPECT_EQ(out.pkey, in.pkey);
		EXPECT_TRUE(out.solicited && out.migrated && out.ack_request && out.fecn &&
			    out.becn && out.repairs);
		EXPECT_EQ(out.srqn, has & BELLHOP_HAS_XRCETH ? in.srqn : 0);
		EXPECT_EQ(out.qkey, has & BELLHOP_HAS_DETH ? in.qkey : 0);
		EXPECT_EQ(out.source_qpn, has & BELLHOP_HAS_DETH ? in.source_qpn : 0);
		EXPECT_EQ(out.flush_placement, has & BELLHOP_HAS_FETH ? 9 : 0);
		EXPECT_EQ(out.flush_selectivity, has & BELLHOP_HAS_FETH ? 3 : 0);
		EXPECT_EQ(out.length, has & BELLHOP_HAS_RETH ? in.length : 0);
		EXPECT_EQ(out.swap_add, has & BELLHOP_HAS_ATOMICETH ? in.swap_add : 0);
		EXPECT_EQ(out.compare, has & BELLHOP_HAS_ATOMICETH ? in.compare : 0);
		const bool remote = has & (BELLHOP_HAS_RETH | BELLHOP_HAS_ATOMICETH);
		EXPECT_EQ(out.address, remote ? in.address : 0);
		EXPECT_EQ(out.rkey, remote ? in.rkey : 0);
		EXPECT_EQ(out.syndrome, has & BELLHOP_HAS_AETH ? in.syndrome : 0);
		EXPECT_EQ(out.msn, has & BELLHOP_HAS_AETH ? in.msn : 0);
		EXPECT_EQ(out.original, has & BELLHOP_HAS_ATOMICACKETH ? in.original : 0);
		EXPECT_EQ(out.imm, has & BELLHOP_HAS_IMMDT ? in.imm : 0);
		EXPECT_EQ(out.invalidate_rkey, has & BELLHOP_HAS_IETH ? in.invalidate_rkey : 0);
	}
}

TEST(transport, decode__one_flag_at_a_time)
{
	using Flag = bool bellhop_transport::*;
	const Flag flags[] = { &bellhop_transport::solicited,	&bellhop_transport::migrated,
			       &bellhop_transport::ack_request, &bellhop_transport::fecn,
			       &bellhop_transport::becn,	&bellhop_transport::repairs };

	for (const Flag set : flags) {
		bellhop_transport in{}, out;

		in.*set = true;
		decode(&out, encode(in));
		for (const Flag flag : flags)
			EXPECT_EQ(out.*flag, flag == set);
	}
}

TEST(transport, decode__payloads)
{
	const bellhop_transport in = everything(BELLHOP_BTH_SEND_ONLY);

	for (u32 payload = 0; payload < 70; payload++) {
		bellhop_transport out;

		ASSERT_EQ(decode(&out, with_payload(in, payload)), 12u);
		EXPECT_EQ(out.payload, payload);
	}
}

TEST(transport, decode__payloads_are_filled_up_to_words)
{
	Bytes bytes(12 + 8);
	bellhop_transport out;

	bytes[0] = BELLHOP_BTH_SEND_ONLY;
	for (size_t extra = 0; extra < 8; extra++)
		EXPECT_EQ(decode(&out, bytes, 12 + extra), extra % 4 ? 0u : 12u);
	bytes[1] = 3 << 4;
	EXPECT_EQ(decode(&out, bytes, 12), 0u) << "three bytes of none";
	EXPECT_EQ(decode(&out, bytes, 16), 12u);
	EXPECT_EQ(out.payload, 1u);
}

TEST(transport, decode__only_what_moves_bytes_has_payload)
{
	for (u32 opcode = 0; opcode < BELLHOP_BTH_OPCODES; opcode++) {
		const bellhop_bth *row = bellhop_bth_row(u8(opcode));
		bellhop_transport out;

		if (!row->bytes)
			continue;
		EXPECT_EQ(decode(&out, with_payload(everything(u8(opcode)), 4)),
			  row->traits & BELLHOP_BTH_HAS_PAYLOAD ? row->bytes : 0u)
			<< opcode;
	}
}

TEST(transport, decode__other_versions_are_none)
{
	Bytes bytes = kWrite;
	bellhop_transport out;

	for (u8 version = 1; version < 16; version++) {
		bytes[1] = 0x70 | version;
		EXPECT_EQ(decode(&out, bytes), 0u) << int(version);
	}
}

TEST(transport, decode__opcodes_that_there_are_not)
{
	Bytes bytes(64);
	bellhop_transport out;

	for (u32 opcode = 0; opcode < BELLHOP_BTH_OPCODES; opcode++) {
		bytes[0] = u8(opcode);
		if (bellhop_bth_row(u8(opcode))->bytes)
			continue;
		EXPECT_EQ(decode(&out, bytes), 0u) << opcode;
	}
}

TEST(transport, decode__what_is_cut_off_is_not_there)
{
	for (u32 opcode = 0; opcode < BELLHOP_BTH_OPCODES; opcode++) {
		const u32 length = bellhop_bth_row(u8(opcode))->bytes;
		bellhop_transport out;

		if (!length)
			continue;
		const Bytes bytes = encode(everything(u8(opcode)));
		for (u32 cut = 0; cut < length; cut++) {
			EXPECT_EQ(decode(&out, bytes, cut), 0u) << opcode;
			EXPECT_TRUE(is_empty(out)) << opcode;
		}
	}
}

TEST(transport, decode__what_is_reserved_is_not_looked_at)
{
	struct {
		u8 opcode;
		u32 at;
		u8 bits;
	} const reserved[] = {
		{ BELLHOP_BTH_SEND_ONLY, 4, 0x3e },
		{ BELLHOP_BTH_SEND_ONLY, 8, 0x7f },
		{ BELLHOP_BTH_XRC | BELLHOP_BTH_SEND_ONLY, 12, 0xff },
		{ BELLHOP_BTH_UD | BELLHOP_BTH_SEND_ONLY, 16, 0xff },
		{ BELLHOP_BTH_FLUSH, 12, 0xff },
		{ BELLHOP_BTH_FLUSH, 14, 0xff },
		{ BELLHOP_BTH_FLUSH, 15, 0xc0 },
		{ BELLHOP_BTH_CNP, 12, 0xff },
		{ BELLHOP_BTH_CNP, 27, 0xff },
	};

	for (const auto &[opcode, at, bits] : reserved) {
		const Bytes clean = encode(everything(opcode));
		Bytes dirty = clean;
		bellhop_transport out;

		EXPECT_EQ(clean[at] & bits, 0);
		dirty[at] |= bits;
		ASSERT_EQ(decode(&out, dirty), clean.size());
		EXPECT_EQ(encode(out), clean);
	}
}

TEST(transport, encode__headers_in_their_order)
{
	const Bytes write = {
		0xab, 0xc0, 0x8f, 0xfd, 0xc1, 0x81, 0x00, 0x01, 0x80, 0x92, 0x00, 0x03, /* BTH */
		0x00, 0xa3, 0x00, 0x05, /* XRCETH */
		0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, /* RETH */
		0xc1, 0x42, 0x43, 0x45, 0xd1, 0x52, 0x53, 0x55, 0x87, 0x65, 0x43, 0x21, /* ImmDt */
	};
	const Bytes swap = {
		0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, 0xc1, 0x42, 0x43, 0x45, 0x91, 0x12,
		0x13, 0x14, 0x15, 0x16, 0x17, 0x19, 0xa1, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x29,
	};
	const Bytes answer = { 0x9f, 0xc5, 0x00, 0x09, 0xb1, 0x32,
			       0x33, 0x34, 0x35, 0x36, 0x37, 0x39 };
	const Bytes datagram = { 0xe1, 0x62, 0x63, 0x65, 0x00, 0xb4,
				 0x00, 0x07, 0x87, 0x65, 0x43, 0x21 };
	const Bytes flush = { 0x00, 0x00, 0x00, 0x39, 0x81, 0x02, 0x03, 0x04, 0x05, 0x06,
			      0x07, 0x09, 0xc1, 0x42, 0x43, 0x45, 0xd1, 0x52, 0x53, 0x55 };
	const Bytes invalidate = { 0xf1, 0x72, 0x73, 0x75 };
	const auto extended = [](u8 opcode) {
		const Bytes bytes = encode(everything(opcode));

		return Bytes(bytes.begin() + BELLHOP_BTH_BYTES, bytes.end());
	};

	EXPECT_EQ(encode(everything(BELLHOP_BTH_XRC | BELLHOP_BTH_WRITE_ONLY_IMM)), write);
	EXPECT_EQ(extended(BELLHOP_BTH_COMPARE_SWAP), swap);
	EXPECT_EQ(extended(BELLHOP_BTH_ATOMIC_ACKNOWLEDGE), answer);
	EXPECT_EQ(extended(BELLHOP_BTH_UD | BELLHOP_BTH_SEND_ONLY_IMM), datagram);
	EXPECT_EQ(extended(BELLHOP_BTH_FLUSH), flush);
	EXPECT_EQ(extended(BELLHOP_BTH_SEND_ONLY_INV), invalidate);
}

TEST(transport, encode__no_number_reaches_its_neighbour)
{
	bellhop_transport transport = everything(BELLHOP_BTH_XRC | BELLHOP_BTH_FLUSH);
	const Bytes bytes = encode(transport);

	transport.qpn |= 0xff000000;
	transport.psn |= 0xff000000;
	transport.srqn |= 0xff000000;
	transport.flush_placement |= 0xf0;
	transport.flush_selectivity |= 0xfc;
	EXPECT_EQ(encode(transport), bytes);
}

TEST(transport, encode__no_opcode_no_bytes)
{
	const bellhop_transport transport = everything(0x40);

	EXPECT_EQ(encode(transport).size(), 0u);
}
