// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// opcode_test.cpp: opcode.c: every opcode there can be.
#include <algorithm>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

extern "C" {
#include "key.h"
#include "opcode.h"
}

namespace
{

constexpr u8 kFlags =
	BELLHOP_SQE_FENCE | BELLHOP_SQE_SIGNALED | BELLHOP_SQE_SOLICITED | BELLHOP_SQE_INLINE;

constexpr u8 kLocalFlags = BELLHOP_SQE_FENCE | BELLHOP_SQE_SIGNALED;
constexpr u8 kReliable = BELLHOP_SERVICE_RC | BELLHOP_SERVICE_XRC;
constexpr u8 kConnected = kReliable | BELLHOP_SERVICE_UC;
constexpr u8 kMessages = kConnected | BELLHOP_SERVICE_UD;
constexpr u8 kAll = kMessages | BELLHOP_SERVICE_RAW;

struct Row {
	u8 opcode;
	ibv_wr_opcode verbs;
	u8 services;
	u16 traits;
	u8 flags;
	ibv_wc_opcode wc;
	int recv_wc;
	u32 access;
} const kRows[] = {
	{ BELLHOP_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE, kConnected, BELLHOP_OP_REMOTE, kFlags,
	  IBV_WC_RDMA_WRITE, 0, IBV_ACCESS_REMOTE_WRITE },
	{ BELLHOP_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, kConnected,
	  BELLHOP_OP_REMOTE | BELLHOP_OP_RECV | BELLHOP_OP_IMM, kFlags, IBV_WC_RDMA_WRITE,
	  IBV_WC_RECV_RDMA_WITH_IMM, IBV_ACCESS_REMOTE_WRITE },
	{ BELLHOP_WR_SEND, IBV_WR_SEND, kAll, BELLHOP_OP_RECV | BELLHOP_OP_SCATTER, kFlags,
	  IBV_WC_SEND, IBV_WC_RECV, 0 },
	{ BELLHOP_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM, kMessages,
	  BELLHOP_OP_RECV | BELLHOP_OP_SCATTER | BELLHOP_OP_IMM, kFlags, IBV_WC_SEND, IBV_WC_RECV,
	  0 },
	{ BELLHOP_WR_RDMA_READ, IBV_WR_RDMA_READ, kReliable, BELLHOP_OP_REMOTE | BELLHOP_OP_READ,
	  kFlags & ~BELLHOP_SQE_INLINE, IBV_WC_RDMA_READ, 0, IBV_ACCESS_REMOTE_READ },
	{ BELLHOP_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP, kReliable,
	  BELLHOP_OP_REMOTE | BELLHOP_OP_READ | BELLHOP_OP_ATOMIC, kFlags & ~BELLHOP_SQE_INLINE,
	  IBV_WC_COMP_SWAP, 0, IBV_ACCESS_REMOTE_ATOMIC },
	{ BELLHOP_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD, kReliable,
	  BELLHOP_OP_REMOTE | BELLHOP_OP_READ | BELLHOP_OP_ATOMIC, kFlags & ~BELLHOP_SQE_INLINE,
	  IBV_WC_FETCH_ADD, 0, IBV_ACCESS_REMOTE_ATOMIC },
	{ BELLHOP_WR_LOCAL_INV, IBV_WR_LOCAL_INV, kConnected,
	  BELLHOP_OP_LOCAL | BELLHOP_OP_INVALIDATE, kLocalFlags, IBV_WC_LOCAL_INV, 0, 0 },
	{ BELLHOP_WR_BIND_MW, IBV_WR_BIND_MW, kConnected, BELLHOP_OP_LOCAL, kLocalFlags,
	  IBV_WC_BIND_MW, 0, 0 },
	{ BELLHOP_WR_SEND_WITH_INV, IBV_WR_SEND_WITH_INV, kReliable,
	  BELLHOP_OP_RECV | BELLHOP_OP_SCATTER | BELLHOP_OP_INVALIDATE, kFlags, IBV_WC_SEND,
	  IBV_WC_RECV, 0 },
	{ BELLHOP_WR_ATOMIC_WRITE, IBV_WR_ATOMIC_WRITE, kReliable,
	  BELLHOP_OP_REMOTE | BELLHOP_OP_WORD, kFlags, IBV_WC_ATOMIC_WRITE, 0,
	  IBV_ACCESS_REMOTE_WRITE },
};

} // namespace

TEST(opcode, row__says_what_verbs_says)
{
	for (const Row &row : kRows) {
		const bellhop_opcode *op = bellhop_opcode_row(row.opcode);

		SCOPED_TRACE(int(row.opcode));
		EXPECT_EQ(int(row.opcode), int(row.verbs));
		EXPECT_EQ(op->services, row.services);
		EXPECT_EQ(op->traits, row.traits);
		EXPECT_EQ(op->flags, row.flags);
		EXPECT_EQ(int(op->wc), int(row.wc));
		EXPECT_EQ(int(op->recv_wc), row.recv_wc);
		EXPECT_EQ(op->access, row.access);
	}
}

TEST(opcode, row__everything_else_is_not_valid_and_takes_no_flag)
{
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const bellhop_opcode *op = bellhop_opcode_row(u8(opcode));

		if (std::ranges::any_of(kRows,
					[&](const Row &row) { return row.opcode == opcode; }))
			continue;
		EXPECT_EQ(op->services, 0) << opcode;
		EXPECT_EQ(op->traits, 0) << opcode;
		EXPECT_EQ(op->flags, 0) << opcode;
		EXPECT_EQ(op->access, 0u) << opcode;
	}
}

TEST(opcode, access__bits_are_those_of_verbs)
{
	EXPECT_EQ(int(BELLHOP_ACCESS_LOCAL_WRITE), int(IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(int(BELLHOP_ACCESS_REMOTE_WRITE), int(IBV_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(int(BELLHOP_ACCESS_REMOTE_READ), int(IBV_ACCESS_REMOTE_READ));
	EXPECT_EQ(int(BELLHOP_ACCESS_REMOTE_ATOMIC), int(IBV_ACCESS_REMOTE_ATOMIC));
	EXPECT_EQ(int(BELLHOP_ACCESS_MW_BIND), int(IBV_ACCESS_MW_BIND));
}
