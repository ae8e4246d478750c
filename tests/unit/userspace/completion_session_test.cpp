// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// completion_session_test.cpp: ibv_start_poll() to ibv_end_poll(), with and without locks.
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include "completion_session.hpp"
#include "endpoint.hpp"

namespace
{

constexpr std::uint32_t QPN = 0x100;

class CompletionSession
{
protected:
	explicit CompletionSession(bool has_lock)
	    : around_(has_lock, 8), end_(around_, QPN), calls_(&around_.cq.cq_ex)
	{
		bellhop::offer_completion_session(around_.cq, bellhop::COMPLETION_FIELDS);
		for (std::uint64_t i = 0; i < Endpoint::SLOTS; i++) {
			ibv_send_wr wr{};
			ibv_send_wr *bad;

			wr.wr_id = 10 + i;
			wr.opcode = IBV_WR_SEND;
			EXPECT_EQ(bellhop::post_send(&end_.qp.qp, &wr, &bad), 0);
		}
	}

	std::uint32_t published()
	{
		return around_.cq_end.memory.hdr()->consumer;
	}

	// Whether nobody else can poll now; if so, ends the session.
	bool is_locked()
	{
		auto other = std::async(std::launch::async, [this] {
			ibv_wc wc;

			return bellhop::poll_cq(&around_.cq.cq, 0, &wc);
		});
		bool waits =
			other.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready;

		if (waits)
			ibv_end_poll(calls_);
		other.get();
		return waits;
	}

	Surroundings around_;
	Endpoint end_;
	ibv_cq_ex *calls_;
	ibv_poll_cq_attr attr_{};
};

class CompletionSessionTest : public CompletionSession, public testing::TestWithParam<bool>
{
protected:
	CompletionSessionTest() : CompletionSession(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Locked, CompletionSessionTest, testing::Bool());

class CompletionSessionLockTest : public CompletionSession, public testing::Test
{
protected:
	CompletionSessionLockTest() : CompletionSession(true) {}
};

TEST_P(CompletionSessionTest, EveryFieldIsRead)
{
	bellhop_completion completion{};

	completion.qpn = QPN;
	completion.wqe_index = 2;
	completion.byte_len = 0x11111111;
	completion.ex = 0x22222222;
	completion.src_qp = 0x333333;
	completion.vendor_err = BELLHOP_REASON_FLUSHED;
	completion.opcode = BELLHOP_WC_RDMA_READ;
	completion.status = BELLHOP_WC_WR_FLUSH_ERR;
	completion.wc_flags = BELLHOP_WC_WITH_IMM;
	ASSERT_EQ(around_.cq_end.push(completion, 0x4444444444444444, 0x5555555555555555), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_EQ(calls_->wr_id, 12U);
	EXPECT_EQ(calls_->status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(ibv_wc_read_opcode(calls_), IBV_WC_RDMA_READ);
	EXPECT_EQ(ibv_wc_read_vendor_err(calls_), std::uint32_t{ BELLHOP_REASON_FLUSHED });
	EXPECT_EQ(ibv_wc_read_byte_len(calls_), 0x11111111U);
	EXPECT_EQ(ibv_wc_read_imm_data(calls_), 0x22222222U);
	EXPECT_EQ(ibv_wc_read_qp_num(calls_), QPN);
	EXPECT_EQ(ibv_wc_read_src_qp(calls_), 0x333333U);
	EXPECT_EQ(ibv_wc_read_wc_flags(calls_), static_cast<unsigned int>(IBV_WC_WITH_IMM));
	EXPECT_EQ(ibv_wc_read_slid(calls_), 0U);
	EXPECT_EQ(ibv_wc_read_sl(calls_), 0);
	EXPECT_EQ(ibv_wc_read_dlid_path_bits(calls_), 0);
	EXPECT_EQ(ibv_wc_read_completion_ts(calls_), 0x4444444444444444U);
	EXPECT_EQ(ibv_wc_read_completion_wallclock_ns(calls_), 0x5555555555555555U);
	ibv_end_poll(calls_);
}

TEST_P(CompletionSessionTest, GivesSlotsBackOnceAtItsEnd)
{
	for (std::uint32_t i = 0; i < 3; i++)
		ASSERT_EQ(around_.cq_end.push_send(QPN, i), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_EQ(calls_->wr_id, 10U);
	ASSERT_EQ(ibv_next_poll(calls_), 0);
	EXPECT_EQ(calls_->wr_id, 11U);
	EXPECT_EQ(published(), 0U);
	ibv_end_poll(calls_);
	EXPECT_EQ(published(), 2U);

	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_EQ(calls_->wr_id, 12U);
	EXPECT_EQ(ibv_next_poll(calls_), ENOENT);
	EXPECT_EQ(ibv_next_poll(calls_), ENOENT);
	ibv_end_poll(calls_);
	EXPECT_EQ(published(), 3U) << "ENOENT takes nothing";
}

TEST_P(CompletionSessionTest, TakesTurnsWithPoll)
{
	ibv_wc wc;

	for (std::uint32_t i = 0; i < 3; i++)
		ASSERT_EQ(around_.cq_end.push_send(QPN, i), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	ibv_end_poll(calls_);
	ASSERT_EQ(bellhop::poll_cq(&around_.cq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 11U);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_EQ(calls_->wr_id, 12U);
	ibv_end_poll(calls_);
}

TEST_P(CompletionSessionTest, AnEmptyQueueIsLeftUnlocked)
{
	EXPECT_EQ(ibv_start_poll(calls_, &attr_), ENOENT);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	ibv_end_poll(calls_);
}

TEST_P(CompletionSessionTest, RefusesAttributesThatItDoesNotKnow)
{
	attr_.comp_mask = 1;
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	EXPECT_EQ(ibv_start_poll(calls_, &attr_), EINVAL);
}

TEST_F(CompletionSessionLockTest, StaysLockedFromStartToEnd)
{
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_TRUE(is_locked());
}

TEST_F(CompletionSessionLockTest, StaysLockedAfterTheLastCompletion)
{
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_EQ(ibv_next_poll(calls_), ENOENT);
	EXPECT_TRUE(is_locked()) << "end_poll is still to come";
	EXPECT_FALSE(is_locked());
}

TEST_P(CompletionSessionTest, PassesOverCompletionsOfNobody)
{
	ASSERT_EQ(around_.cq_end.push_send(0xabcdef, 0), 0);
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	ASSERT_EQ(around_.cq_end.push_send(0xabcdef, 1), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_EQ(calls_->wr_id, 10U);
	EXPECT_EQ(ibv_next_poll(calls_), ENOENT);
	ibv_end_poll(calls_);
	EXPECT_EQ(published(), 3U);

	ASSERT_EQ(around_.cq_end.push_send(0xabcdef, 2), 0);
	EXPECT_EQ(ibv_start_poll(calls_, &attr_), ENOENT);
	EXPECT_EQ(published(), 4U) << "its slot is free although there was nothing to give";
}

TEST_P(CompletionSessionTest, AnXrcSrqsCompletionsNeedNoQp)
{
	bellhop_completion completion{};

	completion.qpn = 0xabcdef | BELLHOP_CQE_SRQ;
	completion.wqe_index = 77;
	completion.opcode = BELLHOP_WC_RECV;
	completion.wr_id = 0xfedcba9876543210ULL;
	ASSERT_EQ(around_.cq_end.push(completion), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_EQ(calls_->wr_id, 0xfedcba9876543210ULL);
	EXPECT_EQ(ibv_wc_read_qp_num(calls_), 0xabcdefU);
	EXPECT_EQ(ibv_wc_read_opcode(calls_), IBV_WC_RECV);
	EXPECT_EQ(ibv_next_poll(calls_), ENOENT);
	ibv_end_poll(calls_);
}

TEST_P(CompletionSessionTest, TellsOfTagsThatWereMatched)
{
	bellhop_completion completion{};
	ibv_wc_tm_info info = { .tag = 1, .priv = 2 };

	completion.qpn = QPN | BELLHOP_CQE_SRQ;
	completion.opcode = BELLHOP_WC_TM_RECV;
	completion.wc_flags = BELLHOP_WC_TM_MATCH;
	ASSERT_EQ(around_.cq_end.push_tagged(completion, 0x1234567890abcdefULL, 0x87654321), 0);
	completion.wc_flags = BELLHOP_WC_TM_DATA_VALID;
	ASSERT_EQ(around_.cq_end.push_tagged(completion, 5, 6), 0);
	ASSERT_EQ(ibv_start_poll(calls_, &attr_), 0);
	EXPECT_EQ(ibv_wc_read_wc_flags(calls_), unsigned{ IBV_WC_TM_MATCH });
	ibv_wc_read_tm_info(calls_, &info);
	EXPECT_EQ(info.tag, 0x1234567890abcdefULL);
	EXPECT_EQ(info.priv, 0x87654321U);
	ASSERT_EQ(ibv_next_poll(calls_), 0);
	ibv_wc_read_tm_info(calls_, &info);
	EXPECT_EQ(info.tag, 0U) << "it was told before";
	EXPECT_EQ(info.priv, 0U);
	ibv_end_poll(calls_);
}

TEST_F(CompletionSessionLockTest, IsNotLockedWhenStartHasFailed)
{
	EXPECT_EQ(ibv_start_poll(calls_, &attr_), ENOENT);
	EXPECT_FALSE(is_locked());
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	attr_.comp_mask = 1;
	EXPECT_EQ(ibv_start_poll(calls_, &attr_), EINVAL);
	EXPECT_FALSE(is_locked());
}

TEST(CompletionSessionCalls, AreThoseThatWereAskedFor)
{
	Surroundings around;

	bellhop::offer_completion_session(around.cq, IBV_WC_EX_WITH_QP_NUM);
	EXPECT_NE(around.cq.cq_ex.read_qp_num, nullptr);
	EXPECT_NE(around.cq.cq_ex.read_opcode, nullptr);
	EXPECT_EQ(around.cq.cq_ex.read_byte_len, nullptr);
	EXPECT_EQ(around.cq.cq_ex.read_completion_ts, nullptr);
	EXPECT_EQ(around.cq.cq_ex.read_completion_wallclock_ns, nullptr);
}

} // namespace
