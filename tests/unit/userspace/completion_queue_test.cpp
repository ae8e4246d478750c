// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// completion_queue_test.cpp: ibv_poll_cq() and ibv_req_notify_cq(), with and without locks.
#include <array>
#include <gtest/gtest.h>
#include "endpoint.hpp"

namespace
{

constexpr std::uint32_t QPN = 0x100;
constexpr std::uint32_t OTHER = 0x200;

class CompletionQueueTest : public testing::TestWithParam<bool>
{
protected:
	CompletionQueueTest() : around_(GetParam(), 8), end_(around_, QPN), other_(around_, OTHER)
	{
		for (std::uint64_t i = 0; i < Endpoint::SLOTS; i++) {
			post(end_, 10 + i, 20 + i);
			post(other_, 30 + i, 40 + i);
		}
	}

	void post(Endpoint &end, std::uint64_t send_id, std::uint64_t recv_id)
	{
		ibv_send_wr send{};
		ibv_recv_wr recv{};
		ibv_send_wr *bad_send;
		ibv_recv_wr *bad_recv;

		send.wr_id = send_id;
		send.opcode = IBV_WR_SEND;
		recv.wr_id = recv_id;
		ASSERT_EQ(bellhop::post_send(&end.qp.qp, &send, &bad_send), 0);
		ASSERT_EQ(bellhop::post_recv(&end.qp.qp, &recv, &bad_recv), 0);
	}

	int poll(int num_entries)
	{
		return bellhop::poll_cq(&around_.cq.cq, num_entries, wcs_.data());
	}

	std::uint32_t published()
	{
		return around_.cq_end.memory.hdr()->consumer;
	}

	// What ibv_resize_cq() does when the kernel has gone over to another ring.
	void resize(CompletionEnd &to)
	{
		auto next = bellhop::make<bellhop::NextRing>();

		ASSERT_EQ(around_.cq_end.move(to), 0);
		next->ring.attach(to.memory.bytes(), to.map);
		around_.cq.append(std::move(next));
	}

	Surroundings around_;
	Endpoint end_;
	Endpoint other_;
	std::array<ibv_wc, 8> wcs_;
};

INSTANTIATE_TEST_SUITE_P(Locked, CompletionQueueTest, testing::Bool());

TEST_P(CompletionQueueTest, EmptyGivesNothing)
{
	EXPECT_EQ(poll(8), 0);
	EXPECT_EQ(poll(0), 0);
	EXPECT_EQ(poll(-1), 0);
}

TEST_P(CompletionQueueTest, AnEmptyPollWritesNothing)
{
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(poll(8), 1);
	// No index of the library's: whoever polls an empty queue leaves the kernel its cache line.
	around_.cq_end.memory.hdr()->consumer = 0xdead;
	EXPECT_EQ(poll(8), 0);
	EXPECT_EQ(published(), 0xdeadU);
}

TEST_P(CompletionQueueTest, EveryFieldArrives)
{
	bellhop_completion completion{};

	completion.qpn = QPN;
	completion.wqe_index = 1;
	completion.byte_len = 0x11111111;
	completion.ex = 0x22222222;
	completion.src_qp = 0x333333;
	completion.vendor_err = BELLHOP_REASON_RECV_TOO_SHORT;
	completion.opcode = BELLHOP_WC_RECV_RDMA_WITH_IMM;
	completion.status = BELLHOP_WC_LOC_LEN_ERR;
	completion.wc_flags = BELLHOP_WC_WITH_IMM;
	ASSERT_EQ(around_.cq_end.push(completion), 0);
	ASSERT_EQ(poll(8), 1);
	EXPECT_EQ(wcs_[0].wr_id, 21U);
	EXPECT_EQ(wcs_[0].qp_num, QPN);
	EXPECT_EQ(wcs_[0].byte_len, 0x11111111U);
	EXPECT_EQ(wcs_[0].imm_data, 0x22222222U);
	EXPECT_EQ(wcs_[0].src_qp, 0x333333U);
	EXPECT_EQ(wcs_[0].vendor_err, std::uint32_t{ BELLHOP_REASON_RECV_TOO_SHORT });
	EXPECT_EQ(wcs_[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	EXPECT_EQ(wcs_[0].status, IBV_WC_LOC_LEN_ERR);
	EXPECT_EQ(wcs_[0].wc_flags, static_cast<unsigned int>(IBV_WC_WITH_IMM));
	EXPECT_EQ(wcs_[0].pkey_index, 0);
	EXPECT_EQ(wcs_[0].slid, 0);
	EXPECT_EQ(wcs_[0].sl, 0);
	EXPECT_EQ(wcs_[0].dlid_path_bits, 0);
}

TEST_P(CompletionQueueTest, SendsAndReceivesOfTwoQpsKeepTheirWrIds)
{
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(around_.cq_end.push_recv(OTHER, 0), 0);
	ASSERT_EQ(around_.cq_end.push_recv(QPN, 0), 0);
	ASSERT_EQ(around_.cq_end.push_send(OTHER, 0), 0);
	ASSERT_EQ(poll(8), 4);
	EXPECT_EQ(wcs_[0].wr_id, 10U);
	EXPECT_EQ(wcs_[1].wr_id, 40U);
	EXPECT_EQ(wcs_[2].wr_id, 20U);
	EXPECT_EQ(wcs_[3].wr_id, 30U);
}

TEST_P(CompletionQueueTest, GivesNoMoreThanWasAskedForAndPublishesOnce)
{
	for (std::uint32_t i = 0; i < 3; i++)
		ASSERT_EQ(around_.cq_end.push_send(QPN, i), 0);
	EXPECT_EQ(poll(2), 2);
	EXPECT_EQ(published(), 2U);
	EXPECT_EQ(poll(2), 1);
	EXPECT_EQ(wcs_[0].wr_id, 12U);
	EXPECT_EQ(published(), 3U);
}

TEST_P(CompletionQueueTest, CompletionsOfNobodyArePassedOverAndTheirSlotsFreed)
{
	for (std::uint32_t i = 0; i < 7; i++)
		ASSERT_EQ(around_.cq_end.push_send(0xabcdef, i), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	EXPECT_EQ(around_.cq_end.push_send(QPN, 1), -EOVERFLOW);
	EXPECT_EQ(poll(1), 1);
	EXPECT_EQ(wcs_[0].wr_id, 10U);
	EXPECT_EQ(published(), 8U);

	ASSERT_EQ(around_.cq_end.push_send(0xabcdef, 0), 0);
	EXPECT_EQ(poll(1), 0);
	EXPECT_EQ(published(), 9U);
}

TEST_P(CompletionQueueTest, ResetRemovesTheQpsCompletions)
{
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(around_.cq_end.push_send(OTHER, 0), 0);
	ASSERT_EQ(around_.cq_end.push_recv(QPN, 0), 0);
	end_.qp.enter(IBV_QPS_RESET);
	ASSERT_EQ(poll(8), 1);
	EXPECT_EQ(wcs_[0].qp_num, OTHER);
	EXPECT_EQ(published(), 3U);

	// The QP's next life.
	end_.qp.enter(IBV_QPS_RTS);
	post(end_, 50, 60);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(poll(8), 1);
	EXPECT_EQ(wcs_[0].wr_id, 50U);
}

TEST_P(CompletionQueueTest, AnXrcSrqsCompletionsNeedNoQp)
{
	bellhop_completion completion{};

	completion.qpn = 0xabcdef | BELLHOP_CQE_SRQ;
	completion.wqe_index = 77;
	completion.src_qp = 0x123456;
	completion.opcode = BELLHOP_WC_RECV;
	completion.wr_id = 0xfedcba9876543210ULL;
	ASSERT_EQ(around_.cq_end.push(completion), 0);
	// A QP of this context that has the same number, of an earlier one maybe, has no part in
	// it.
	completion.qpn = QPN | BELLHOP_CQE_SRQ;
	completion.wr_id = 8;
	ASSERT_EQ(around_.cq_end.push(completion), 0);
	around_.cq.remove(QPN);
	ASSERT_EQ(poll(8), 2);
	EXPECT_EQ(wcs_[0].wr_id, 0xfedcba9876543210ULL);
	EXPECT_EQ(wcs_[0].qp_num, 0xabcdefU);
	EXPECT_EQ(wcs_[0].src_qp, 0x123456U);
	EXPECT_EQ(wcs_[1].wr_id, 8U);
	EXPECT_EQ(wcs_[1].qp_num, QPN);
}

TEST_P(CompletionQueueTest, AnXrcSrqTakesItsCompletionsAlong)
{
	bellhop_completion completion{};

	completion.opcode = BELLHOP_WC_RECV;
	for (std::uint32_t srqn : { 77U, 78U, 77U }) {
		completion.qpn = 0xabcdef | BELLHOP_CQE_SRQ;
		completion.wqe_index = srqn;
		completion.wr_id = srqn;
		ASSERT_EQ(around_.cq_end.push(completion), 0);
	}
	// An entry of a QP's that has the SRQ's number.
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	around_.cq.remove_shared(77);
	around_.cq.remove_shared(0);
	ASSERT_EQ(poll(8), 2);
	EXPECT_EQ(wcs_[0].wr_id, 78U);
	EXPECT_EQ(wcs_[1].wr_id, 10U);
	EXPECT_EQ(published(), 4U);
}

TEST_P(CompletionQueueTest, ACompletionAfterNotifyRaisesAnEvent)
{
	EXPECT_EQ(bellhop::req_notify_cq(&around_.cq.cq, 0), 0);
	EXPECT_EQ(poll(8), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	EXPECT_TRUE(around_.cq_end.fire(false));

	EXPECT_EQ(bellhop::req_notify_cq(&around_.cq.cq, 1), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 1), 0);
	EXPECT_FALSE(around_.cq_end.fire(false));
	ASSERT_EQ(around_.cq_end.push_send(QPN, 2), 0);
	EXPECT_TRUE(around_.cq_end.fire(true));
}

TEST_P(CompletionQueueTest, AResizedQueueIsReadInOrder)
{
	CompletionEnd larger(16), small(2);

	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 1), 0);
	resize(larger);
	ASSERT_EQ(around_.cq_end.push_recv(OTHER, 0), 0);
	resize(small);
	ASSERT_EQ(around_.cq_end.push_recv(OTHER, 1), 0);
	ASSERT_EQ(poll(1), 1);
	EXPECT_EQ(wcs_[0].wr_id, 10U);
	ASSERT_EQ(poll(8), 3);
	EXPECT_EQ(wcs_[0].wr_id, 11U);
	EXPECT_EQ(wcs_[1].wr_id, 40U);
	EXPECT_EQ(wcs_[2].wr_id, 41U);
	EXPECT_EQ(poll(8), 0);
	EXPECT_EQ(small.memory.hdr()->consumer, 1U);
	ASSERT_EQ(around_.cq_end.push_recv(OTHER, 2), 0);
	ASSERT_EQ(around_.cq_end.push_recv(OTHER, 3), 0);
	ASSERT_EQ(poll(8), 2);
	EXPECT_EQ(wcs_[1].wr_id, 43U);
}

TEST_P(CompletionQueueTest, AnEmptyQueueIsResizedMoreThanOnce)
{
	CompletionEnd first(1), second(4);

	resize(first);
	resize(second);
	EXPECT_EQ(poll(8), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	EXPECT_EQ(poll(8), 1);
}

TEST_P(CompletionQueueTest, ARequestForAnEventOutlivesAResize)
{
	CompletionEnd other(8);

	EXPECT_EQ(bellhop::req_notify_cq(&around_.cq.cq, 0), 0);
	resize(other);
	/* One for less does not replace it. */
	EXPECT_EQ(bellhop::req_notify_cq(&around_.cq.cq, 1), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	EXPECT_TRUE(around_.cq_end.fire(false));
}

TEST_P(CompletionQueueTest, ARequestForAnEventGoesToTheNewestRing)
{
	CompletionEnd first(8), second(8);

	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	resize(first);
	resize(second);
	EXPECT_EQ(bellhop::req_notify_cq(&around_.cq.cq, 0), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 1), 0);
	EXPECT_TRUE(around_.cq_end.fire(false));
	EXPECT_EQ(poll(8), 2);
	EXPECT_EQ(bellhop::req_notify_cq(&around_.cq.cq, 0), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 2), 0);
	EXPECT_TRUE(around_.cq_end.fire(false));
}

TEST_P(CompletionQueueTest, ResetRemovesTheQpsCompletionsFromAllRings)
{
	CompletionEnd other(8);

	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	resize(other);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 1), 0);
	ASSERT_EQ(around_.cq_end.push_send(OTHER, 0), 0);
	end_.qp.enter(IBV_QPS_RESET);
	ASSERT_EQ(poll(8), 1);
	EXPECT_EQ(wcs_[0].qp_num, OTHER);
}

} // namespace
