// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// bth_test.cpp: bth.c: every opcode that there can be, against what the IBA's tables say.
#include <cstring>
#include <gtest/gtest.h>
#include <infiniband/opcode.h>

extern "C" {
#include "bth.h"
}

namespace
{

/* Those that libibverbs names, for programs that build packets. */
struct {
	int opcode;
	int verbs;
} const kNamed[] = {
	{ BELLHOP_BTH_RC | BELLHOP_BTH_SEND_FIRST, IBV_OPCODE_RC_SEND_FIRST },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_SEND_MIDDLE, IBV_OPCODE_RC_SEND_MIDDLE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_SEND_LAST, IBV_OPCODE_RC_SEND_LAST },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_SEND_LAST_IMM, IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_SEND_ONLY, IBV_OPCODE_RC_SEND_ONLY },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_SEND_ONLY_IMM, IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_WRITE_FIRST, IBV_OPCODE_RC_RDMA_WRITE_FIRST },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_WRITE_MIDDLE, IBV_OPCODE_RC_RDMA_WRITE_MIDDLE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_WRITE_LAST, IBV_OPCODE_RC_RDMA_WRITE_LAST },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_WRITE_LAST_IMM,
	  IBV_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_WRITE_ONLY, IBV_OPCODE_RC_RDMA_WRITE_ONLY },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_WRITE_ONLY_IMM,
	  IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_READ_REQUEST, IBV_OPCODE_RC_RDMA_READ_REQUEST },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_READ_RESPONSE_FIRST,
	  IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_READ_RESPONSE_MIDDLE,
	  IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_READ_RESPONSE_LAST, IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_READ_RESPONSE_ONLY, IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_ACKNOWLEDGE, IBV_OPCODE_RC_ACKNOWLEDGE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_ATOMIC_ACKNOWLEDGE, IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_COMPARE_SWAP, IBV_OPCODE_RC_COMPARE_SWAP },
	{ BELLHOP_BTH_RC | BELLHOP_BTH_FETCH_ADD, IBV_OPCODE_RC_FETCH_ADD },
	{ BELLHOP_BTH_UC | BELLHOP_BTH_SEND_FIRST, IBV_OPCODE_UC_SEND_FIRST },
	{ BELLHOP_BTH_UC | BELLHOP_BTH_WRITE_ONLY, IBV_OPCODE_UC_RDMA_WRITE_ONLY },
	{ BELLHOP_BTH_UD | BELLHOP_BTH_SEND_ONLY, IBV_OPCODE_UD_SEND_ONLY },
	{ BELLHOP_BTH_UD | BELLHOP_BTH_SEND_ONLY_IMM, IBV_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE },
};

/* Bytes of all headers of the opcodes of RC; 0: there is none. */
constexpr u8 kBytes[32] = {
	12, 12, 12, 16, 12, 16, /* SEND */
	28, 12, 12, 16, 28, 32, /* RDMA WRITE */
	28, 16, 12, 16, 16, /* RDMA READ */
	16, 24, 40, 40, /* acknowledgements, atomic operations */
	0,  16, 16, 0,	0,  0,	0, 32, 28, 0, 0, /* SEND with invalidate, FLUSH, ATOMIC WRITE */
};

bool is(const bellhop_bth *row, u8 trait)
{
	return row->traits & trait;
}

} // namespace

TEST(bth, opcode__as_libibverbs_numbers_them)
{
	for (const auto &named : kNamed)
		EXPECT_EQ(named.opcode, named.verbs);
}

TEST(bth, row__bytes_of_rc)
{
	for (u8 opcode = 0; opcode < 32; opcode++)
		EXPECT_EQ(bellhop_bth_row(opcode)->bytes, kBytes[opcode]) << int(opcode);
}

TEST(bth, row__uc_has_what_needs_no_answer)
{
	for (u8 opcode = 0; opcode < 32; opcode++) {
		const bellhop_bth *rc = bellhop_bth_row(opcode);
		const bellhop_bth *uc = bellhop_bth_row(BELLHOP_BTH_UC | opcode);

		if (opcode > BELLHOP_BTH_WRITE_ONLY_IMM) {
			EXPECT_EQ(uc->bytes, 0) << int(opcode);
			continue;
		}
		EXPECT_EQ(uc->headers, rc->headers) << int(opcode);
		EXPECT_EQ(uc->traits, rc->traits) << int(opcode);
		EXPECT_EQ(uc->operation, rc->operation) << int(opcode);
		EXPECT_EQ(uc->service, BELLHOP_SERVICE_UC);
	}
}

TEST(bth, row__ud_has_sends_of_one_packet)
{
	for (u8 opcode = 0; opcode < 32; opcode++) {
		const bellhop_bth *row = bellhop_bth_row(BELLHOP_BTH_UD | opcode);

		const bool send = opcode == BELLHOP_BTH_SEND_ONLY;
		const bool imm = opcode == BELLHOP_BTH_SEND_ONLY_IMM;

		EXPECT_EQ(row->bytes, send ? 20 : imm ? 24 : 0) << int(opcode);
		EXPECT_EQ(row->service, send || imm ? BELLHOP_SERVICE_UD : 0);
	}
}

TEST(bth, row__requests_of_xrc_name_an_srq)
{
	for (u8 opcode = 0; opcode < 32; opcode++) {
		const bellhop_bth *rc = bellhop_bth_row(opcode);
		const bellhop_bth *xrc = bellhop_bth_row(BELLHOP_BTH_XRC | opcode);
		const bool names = rc->bytes && !is(rc, BELLHOP_BTH_IS_RESPONSE);

		EXPECT_EQ(xrc->headers, rc->headers | (names ? BELLHOP_HAS_XRCETH : 0));
		EXPECT_EQ(xrc->bytes, rc->bytes + (names ? BELLHOP_XRCETH_BYTES : 0));
		EXPECT_EQ(xrc->traits, rc->traits) << int(opcode);
		EXPECT_EQ(xrc->operation, rc->operation) << int(opcode);
		EXPECT_EQ(xrc->service, rc->bytes ? BELLHOP_SERVICE_XRC : 0);
	}
}

TEST(bth, row__the_notification_is_of_no_service)
{
	const bellhop_bth *row = bellhop_bth_row(BELLHOP_BTH_CNP);

	EXPECT_EQ(row->bytes, 28);
	EXPECT_EQ(row->service, 0);
	EXPECT_EQ(row->operation, BELLHOP_OPERATION_NOTIFY);
}

TEST(bth, row__there_are_no_others)
{
	static const bellhop_bth none{};

	for (u32 opcode = 0; opcode < BELLHOP_BTH_OPCODES; opcode++) {
		const bellhop_bth *row = bellhop_bth_row(u8(opcode));
		const u32 service = opcode & 0xe0;
		const bool known = service == BELLHOP_BTH_RC || service == BELLHOP_BTH_UC ||
				   service == BELLHOP_BTH_UD || service == BELLHOP_BTH_XRC ||
				   opcode == BELLHOP_BTH_CNP;

		EXPECT_EQ(row->operation != 0, row->bytes != 0) << opcode;
		if (!known || !row->bytes) {
			EXPECT_EQ(std::memcmp(row, &none, sizeof(none)), 0) << opcode;
		}
		EXPECT_LE(row->bytes, BELLHOP_BTH_MAX_BYTES);
	}
}

TEST(bth, row__messages_have_a_beginning_and_an_end)
{
	constexpr u8 ends = BELLHOP_BTH_IS_FIRST | BELLHOP_BTH_IS_LAST;

	for (u8 opcode :
	     { BELLHOP_BTH_SEND_FIRST, BELLHOP_BTH_WRITE_FIRST, BELLHOP_BTH_READ_RESPONSE_FIRST })
		EXPECT_EQ(bellhop_bth_row(opcode)->traits & ends, BELLHOP_BTH_IS_FIRST);
	for (u8 opcode : { BELLHOP_BTH_SEND_MIDDLE, BELLHOP_BTH_WRITE_MIDDLE,
			   BELLHOP_BTH_READ_RESPONSE_MIDDLE })
		EXPECT_EQ(bellhop_bth_row(opcode)->traits & ends, 0);
	for (u8 opcode :
	     { BELLHOP_BTH_SEND_LAST, BELLHOP_BTH_SEND_LAST_IMM, BELLHOP_BTH_SEND_LAST_INV,
	       BELLHOP_BTH_WRITE_LAST, BELLHOP_BTH_WRITE_LAST_IMM, BELLHOP_BTH_READ_RESPONSE_LAST })
		EXPECT_EQ(bellhop_bth_row(opcode)->traits & ends, BELLHOP_BTH_IS_LAST);
	for (u8 opcode :
	     { BELLHOP_BTH_SEND_ONLY, BELLHOP_BTH_SEND_ONLY_IMM, BELLHOP_BTH_SEND_ONLY_INV,
	       BELLHOP_BTH_WRITE_ONLY, BELLHOP_BTH_WRITE_ONLY_IMM, BELLHOP_BTH_READ_REQUEST,
	       BELLHOP_BTH_READ_RESPONSE_ONLY, BELLHOP_BTH_ACKNOWLEDGE,
	       BELLHOP_BTH_ATOMIC_ACKNOWLEDGE, BELLHOP_BTH_COMPARE_SWAP, BELLHOP_BTH_FETCH_ADD,
	       BELLHOP_BTH_FLUSH, BELLHOP_BTH_ATOMIC_WRITE })
		EXPECT_EQ(bellhop_bth_row(opcode)->traits & ends, ends) << int(opcode);
}

TEST(bth, row__only_what_moves_bytes_has_payload)
{
	for (u8 opcode = 0; opcode < 32; opcode++) {
		const bellhop_bth *row = bellhop_bth_row(opcode);
		const bool moves = row->operation == BELLHOP_OPERATION_SEND ||
				   row->operation == BELLHOP_OPERATION_WRITE ||
				   row->operation == BELLHOP_OPERATION_ATOMIC_WRITE ||
				   (row->operation == BELLHOP_OPERATION_READ &&
				    is(row, BELLHOP_BTH_IS_RESPONSE));

		EXPECT_EQ(is(row, BELLHOP_BTH_HAS_PAYLOAD), moves) << int(opcode);
	}
}

TEST(bth, row__responses)
{
	for (u8 opcode = 0; opcode < 32; opcode++)
		EXPECT_EQ(is(bellhop_bth_row(opcode), BELLHOP_BTH_IS_RESPONSE),
			  opcode >= BELLHOP_BTH_READ_RESPONSE_FIRST &&
				  opcode <= BELLHOP_BTH_ATOMIC_ACKNOWLEDGE)
			<< int(opcode);
}
