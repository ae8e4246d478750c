// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// responder_test.cpp: responder.c: who is let in, and what a refusal does to both sides.
#include <map>

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

extern "C" {
#include "key.h"
#include "responder.h"
}

namespace
{

constexpr u32 kPeer = 0x42;
constexpr u32 kAll =
	BELLHOP_ACCESS_REMOTE_READ | BELLHOP_ACCESS_REMOTE_WRITE | BELLHOP_ACCESS_REMOTE_ATOMIC;

constexpr bellhop_responder kReady = { BELLHOP_QPS_RTS, BELLHOP_SERVICE_RC, kPeer, kAll, 1, 0 };

bellhop_reason admit(const bellhop_responder &responder, u8 opcode, u32 source = kPeer,
		     bellhop_service service = BELLHOP_SERVICE_RC)
{
	return bellhop_responder_admit(&responder, source, service, bellhop_opcode_row(opcode));
}

} // namespace

TEST(responder, admit__every_opcode_when_everything_is_allowed)
{
	for (u8 opcode = 0; opcode < BELLHOP_OPCODES; opcode++)
		EXPECT_EQ(admit(kReady, opcode), BELLHOP_REASON_NONE) << int(opcode);
}

TEST(responder, admit__answers_in_the_states_that_respond_only)
{
	for (int state = BELLHOP_QPS_RESET; state <= BELLHOP_QPS_ERR; state++) {
		bellhop_responder responder = kReady;
		bool answers = state == BELLHOP_QPS_RTR || state == BELLHOP_QPS_RTS ||
			       state == BELLHOP_QPS_SQD || state == BELLHOP_QPS_SQE;

		responder.state = static_cast<bellhop_qp_state>(state);
		EXPECT_EQ(admit(responder, BELLHOP_WR_SEND),
			  answers ? BELLHOP_REASON_NONE : BELLHOP_REASON_SILENT)
			<< state;
	}
}

TEST(responder, admit__strangers_hear_nothing)
{
	for (u32 source : { 0u, kPeer - 1, kPeer + 1, kPeer | 1u << 24, ~0u })
		EXPECT_EQ(admit(kReady, BELLHOP_WR_SEND, source), BELLHOP_REASON_SILENT) << source;
}

TEST(responder, admit__another_service_hears_nothing)
{
	constexpr bellhop_service services[] = { BELLHOP_SERVICE_RC, BELLHOP_SERVICE_UC,
						 BELLHOP_SERVICE_UD, BELLHOP_SERVICE_XRC };

	for (bellhop_service own : services) {
		for (bellhop_service other : services) {
			bellhop_responder responder = kReady;

			responder.service = own;
			EXPECT_EQ(admit(responder, BELLHOP_WR_SEND, kPeer, other),
				  own == other ? BELLHOP_REASON_NONE : BELLHOP_REASON_SILENT)
				<< own << " and " << other;
		}
	}
}

TEST(responder, admit__what_only_sends_hears_nobody)
{
	bellhop_responder initiator = kReady;

	initiator.service = {};
	for (bellhop_service other :
	     { BELLHOP_SERVICE_RC, BELLHOP_SERVICE_UC, BELLHOP_SERVICE_UD, BELLHOP_SERVICE_XRC })
		EXPECT_EQ(admit(initiator, BELLHOP_WR_SEND, kPeer, other), BELLHOP_REASON_SILENT)
			<< other;
}

TEST(responder, admit__the_qp_s_access_counts_for_what_it_names)
{
	struct {
		u8 opcode;
		u32 needs;
	} const cases[] = {
		{ BELLHOP_WR_SEND, 0 },
		{ BELLHOP_WR_SEND_WITH_IMM, 0 },
		{ BELLHOP_WR_RDMA_WRITE, BELLHOP_ACCESS_REMOTE_WRITE },
		{ BELLHOP_WR_RDMA_WRITE_WITH_IMM, BELLHOP_ACCESS_REMOTE_WRITE },
		{ BELLHOP_WR_RDMA_READ, BELLHOP_ACCESS_REMOTE_READ },
		{ BELLHOP_WR_ATOMIC_CMP_AND_SWP, BELLHOP_ACCESS_REMOTE_ATOMIC },
		{ BELLHOP_WR_ATOMIC_FETCH_AND_ADD, BELLHOP_ACCESS_REMOTE_ATOMIC },
	};

	for (const auto &c : cases) {
		for (u32 access = 0; access < 16; access++) {
			bellhop_responder responder = kReady;

			responder.access = access;
			EXPECT_EQ(admit(responder, c.opcode), (access & c.needs) == c.needs
								      ? BELLHOP_REASON_NONE
								      : BELLHOP_REASON_QP_ACCESS)
				<< int(c.opcode) << " with access " << access;
		}
	}
}

TEST(responder, admit__no_rd_atomic_stops_reads_and_atomics_only)
{
	bellhop_responder responder = kReady;

	responder.max_rd_atomic = 0;
	for (u8 opcode = 0; opcode < BELLHOP_OPCODES; opcode++)
		EXPECT_EQ(admit(responder, opcode),
			  bellhop_opcode_row(opcode)->traits & BELLHOP_OP_READ
				  ? BELLHOP_REASON_NO_RD_ATOMIC
				  : BELLHOP_REASON_NONE);
}

TEST(responder, admit__silence_comes_before_every_answer)
{
	bellhop_responder closed = { BELLHOP_QPS_INIT, BELLHOP_SERVICE_RC, kPeer, 0, 0, 0 };
	bellhop_responder open = { BELLHOP_QPS_RTS, BELLHOP_SERVICE_RC, kPeer, 0, 0, 0 };

	EXPECT_EQ(admit(closed, BELLHOP_WR_RDMA_READ), BELLHOP_REASON_SILENT);
	EXPECT_EQ(admit(open, BELLHOP_WR_RDMA_READ, kPeer + 1), BELLHOP_REASON_SILENT);
	EXPECT_EQ(admit(open, BELLHOP_WR_RDMA_READ), BELLHOP_REASON_QP_ACCESS);
}

TEST(responder, refuse__every_reason_there_can_be)
{
	using Row = std::tuple<int, int, bool, int>;
	const Row own_memory{ IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, true, BELLHOP_EVENT_NONE };
	const Row access{ IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR, true, BELLHOP_EVENT_ACCESS };
	const Row invalidation{ IBV_WC_REM_ACCESS_ERR, IBV_WC_LOC_ACCESS_ERR, true,
				BELLHOP_EVENT_NONE };
	const Row request{ IBV_WC_REM_INV_REQ_ERR, IBV_WC_WR_FLUSH_ERR, true,
			   BELLHOP_EVENT_REQUEST };
	const Row broken{ IBV_WC_FATAL_ERR, IBV_WC_FATAL_ERR, true, BELLHOP_EVENT_NONE };
	const std::map<u32, Row> expected = {
		{ BELLHOP_REASON_LKEY_UNKNOWN, own_memory },
		{ BELLHOP_REASON_LKEY_PD, own_memory },
		{ BELLHOP_REASON_LKEY_ACCESS, own_memory },
		{ BELLHOP_REASON_LKEY_RANGE, own_memory },
		{ BELLHOP_REASON_LKEY_ABSENT, own_memory },
		{ BELLHOP_REASON_RKEY_UNKNOWN, access },
		{ BELLHOP_REASON_RKEY_PD, access },
		{ BELLHOP_REASON_RKEY_ACCESS, access },
		{ BELLHOP_REASON_RKEY_RANGE, access },
		{ BELLHOP_REASON_RKEY_ABSENT, access },
		{ BELLHOP_REASON_RKEY_QP, access },
		{ BELLHOP_REASON_XRC_SRQ_UNKNOWN, access },
		{ BELLHOP_REASON_XRC_DOMAIN, access },
		{ BELLHOP_REASON_MW_UNKNOWN, invalidation },
		{ BELLHOP_REASON_MW_PD, invalidation },
		{ BELLHOP_REASON_MW_TYPE, invalidation },
		{ BELLHOP_REASON_MW_UNBOUND, invalidation },
		{ BELLHOP_REASON_MW_QP, invalidation },
		{ BELLHOP_REASON_QP_ACCESS, request },
		{ BELLHOP_REASON_NO_RD_ATOMIC, request },
		{ BELLHOP_REASON_ALIGNMENT, request },
		{ BELLHOP_REASON_RECV_TOO_SHORT,
		  { IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR, true, BELLHOP_EVENT_NONE } },
		{ BELLHOP_REASON_RECV_FAULTY,
		  { IBV_WC_REM_OP_ERR, IBV_WC_LOC_QP_OP_ERR, true, BELLHOP_EVENT_NONE } },
		{ BELLHOP_REASON_SEQUENCE,
		  { IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_QP_OP_ERR, true, BELLHOP_EVENT_NONE } },
		{ BELLHOP_REASON_NAK_INVALID_REQUEST,
		  { IBV_WC_REM_INV_REQ_ERR, IBV_WC_SUCCESS, false, BELLHOP_EVENT_NONE } },
		{ BELLHOP_REASON_NAK_ACCESS,
		  { IBV_WC_REM_ACCESS_ERR, IBV_WC_SUCCESS, false, BELLHOP_EVENT_NONE } },
		{ BELLHOP_REASON_NAK_OPERATIONAL,
		  { IBV_WC_REM_OP_ERR, IBV_WC_SUCCESS, false, BELLHOP_EVENT_NONE } },
		{ BELLHOP_REASON_BAD_RESPONSE,
		  { IBV_WC_BAD_RESP_ERR, IBV_WC_SUCCESS, false, BELLHOP_EVENT_NONE } },
		{ BELLHOP_REASON_RNR,
		  { IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_SUCCESS, false, BELLHOP_EVENT_NONE } },
		{ BELLHOP_REASON_SILENT,
		  { IBV_WC_RETRY_EXC_ERR, IBV_WC_SUCCESS, false, BELLHOP_EVENT_NONE } },
	};

	/* up to the greatest value that the C++ type can have: beyond the enum's last, too */
	for (u32 reason = 0; reason < 128; reason++) {
		const bellhop_refusal *row =
			bellhop_responder_refuse(static_cast<bellhop_reason>(reason));
		auto found = expected.find(reason);

		ASSERT_NE(row, nullptr);
		EXPECT_EQ(Row(row->requester, row->responder, row->fatal, row->event),
			  found == expected.end() ? broken : found->second)
			<< "reason " << reason;
	}
}

TEST(responder, refuse__the_responder_s_own_faults)
{
	for (u32 value = 0; value < 128; value++) {
		const auto reason = static_cast<bellhop_reason>(value);
		bool other;

		switch (reason) {
		case BELLHOP_REASON_RKEY_UNKNOWN:
		case BELLHOP_REASON_RKEY_PD:
		case BELLHOP_REASON_RKEY_QP:
		case BELLHOP_REASON_XRC_SRQ_UNKNOWN:
		case BELLHOP_REASON_XRC_DOMAIN:
		case BELLHOP_REASON_MW_UNKNOWN:
		case BELLHOP_REASON_MW_PD:
		case BELLHOP_REASON_MW_TYPE:
		case BELLHOP_REASON_MW_UNBOUND:
		case BELLHOP_REASON_MW_QP:
		case BELLHOP_REASON_RKEY_ACCESS:
		case BELLHOP_REASON_RKEY_RANGE:
		case BELLHOP_REASON_RKEY_ABSENT:
		case BELLHOP_REASON_QP_ACCESS:
		case BELLHOP_REASON_NO_RD_ATOMIC:
		case BELLHOP_REASON_ALIGNMENT:
		case BELLHOP_REASON_RECV_TOO_SHORT:
		case BELLHOP_REASON_SEQUENCE:
		case BELLHOP_REASON_NAK_INVALID_REQUEST:
		case BELLHOP_REASON_NAK_ACCESS:
		case BELLHOP_REASON_NAK_OPERATIONAL:
		case BELLHOP_REASON_BAD_RESPONSE:
		case BELLHOP_REASON_RNR:
		case BELLHOP_REASON_SILENT:
			other = true;
			break;
		default:
			other = false;
		}
		EXPECT_EQ(bellhop_responder_refuse(reason)->own, !other) << "reason " << value;
	}
}

TEST(responder, statuses__are_those_of_verbs)
{
	EXPECT_EQ(int(BELLHOP_WC_SUCCESS), int(IBV_WC_SUCCESS));
	EXPECT_EQ(int(BELLHOP_WC_LOC_LEN_ERR), int(IBV_WC_LOC_LEN_ERR));
	EXPECT_EQ(int(BELLHOP_WC_LOC_QP_OP_ERR), int(IBV_WC_LOC_QP_OP_ERR));
	EXPECT_EQ(int(BELLHOP_WC_LOC_PROT_ERR), int(IBV_WC_LOC_PROT_ERR));
	EXPECT_EQ(int(BELLHOP_WC_WR_FLUSH_ERR), int(IBV_WC_WR_FLUSH_ERR));
	EXPECT_EQ(int(BELLHOP_WC_BAD_RESP_ERR), int(IBV_WC_BAD_RESP_ERR));
	EXPECT_EQ(int(BELLHOP_WC_REM_INV_REQ_ERR), int(IBV_WC_REM_INV_REQ_ERR));
	EXPECT_EQ(int(BELLHOP_WC_REM_ACCESS_ERR), int(IBV_WC_REM_ACCESS_ERR));
	EXPECT_EQ(int(BELLHOP_WC_REM_OP_ERR), int(IBV_WC_REM_OP_ERR));
	EXPECT_EQ(int(BELLHOP_WC_RETRY_EXC_ERR), int(IBV_WC_RETRY_EXC_ERR));
	EXPECT_EQ(int(BELLHOP_WC_RNR_RETRY_EXC_ERR), int(IBV_WC_RNR_RETRY_EXC_ERR));
	EXPECT_EQ(int(BELLHOP_WC_FATAL_ERR), int(IBV_WC_FATAL_ERR));
}

TEST(responder, admit_datagram__by_qkey_and_state)
{
	for (int state = BELLHOP_QPS_RESET; state <= BELLHOP_QPS_ERR; state++) {
		const bellhop_responder responder = {
			.state = static_cast<bellhop_qp_state>(state),
			.service = BELLHOP_SERVICE_UD,
			.source_qpn = 0,
			.access = 0,
			.max_rd_atomic = 0,
			.qkey = 0x1234,
		};

		EXPECT_EQ(bellhop_responder_admit_datagram(&responder, 0x1234),
			  bellhop_state_responds(responder.state))
			<< state;
		for (u32 qkey : { 0u, 0x1235u, 0x80001234u })
			EXPECT_FALSE(bellhop_responder_admit_datagram(&responder, qkey)) << qkey;
	}
}

TEST(responder, effective_qkey__a_privileged_one_is_the_qp_s_own)
{
	EXPECT_EQ(bellhop_responder_effective_qkey(0x1234, 0x80010000), 0x1234u);
	EXPECT_EQ(bellhop_responder_effective_qkey(0x7fffffff, 7), 0x7fffffffu);
	EXPECT_EQ(bellhop_responder_effective_qkey(0x80010000, 0x1234), 0x1234u);
	EXPECT_EQ(bellhop_responder_effective_qkey(0xffffffff, 0x80010000), 0x80010000u);
}
