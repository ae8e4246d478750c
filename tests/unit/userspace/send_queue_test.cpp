// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// send_queue_test.cpp: ibv_post_send() down to the ring, with and without locks.
#include <array>
#include <gtest/gtest.h>
#include "endpoint.hpp"

namespace
{

constexpr std::uint32_t QPN = 0x123;

class SendQueueTest : public testing::TestWithParam<bool>
{
protected:
	SendQueueTest() : around_(GetParam()), end_(around_, QPN)
	{
		for (std::uint32_t i = 0; i < wrs_.size(); i++) {
			wrs_[i].wr_id = 100 + i;
			wrs_[i].opcode = IBV_WR_SEND;
		}
	}

	// Posts a list of count requests, the first of them number first.
	int post(std::uint32_t first, std::uint32_t count)
	{
		for (std::uint32_t i = first; i < first + count; i++)
			wrs_[i].next = i + 1 < first + count ? &wrs_[i + 1] : nullptr;
		bad_ = nullptr;
		return bellhop::post_send(&end_.qp.qp, &wrs_[first], &bad_);
	}

	Surroundings around_;
	Endpoint end_;
	std::array<ibv_send_wr, 8> wrs_{};
	ibv_send_wr *bad_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Locked, SendQueueTest, testing::Bool());

TEST_P(SendQueueTest, AListIsPublishedAsAWholeAndKickedOnce)
{
	EXPECT_EQ(post(0, 3), 0);
	EXPECT_EQ(end_.sq.pending(), 3);
	EXPECT_EQ(kick_record(), std::vector<std::uint32_t>{ QPN });
	for (std::uint32_t i = 0; i < 3; i++) {
		end_.take_send();
		EXPECT_EQ(end_.sq.reason, BELLHOP_REASON_NONE);
		EXPECT_EQ(end_.sq.index, i);
	}
}

TEST_P(SendQueueTest, IsNotKickedWhenTheKernelIsAwake)
{
	around_.status.need_kick = 0;
	EXPECT_EQ(post(0, 1), 0);
	EXPECT_EQ(end_.sq.pending(), 1);
	EXPECT_TRUE(kick_record().empty());
}

TEST_P(SendQueueTest, AnEmptyListDoesNothing)
{
	EXPECT_EQ(bellhop::post_send(&end_.qp.qp, nullptr, &bad_), 0);
	EXPECT_EQ(end_.sq.pending(), 0);
	EXPECT_TRUE(kick_record().empty());
}

TEST_P(SendQueueTest, WhatStandsBeforeABadRequestIsPosted)
{
	wrs_[2].num_sge = 5;
	EXPECT_EQ(post(0, 4), EINVAL);
	EXPECT_EQ(bad_, &wrs_[2]);
	EXPECT_EQ(end_.sq.pending(), 2);
	EXPECT_EQ(kick_record().size(), 1U);
}

TEST_P(SendQueueTest, ABadFirstRequestPostsNothing)
{
	wrs_[0].num_sge = 5;
	EXPECT_EQ(post(0, 2), EINVAL);
	EXPECT_EQ(bad_, &wrs_[0]);
	EXPECT_EQ(end_.sq.pending(), 0);
	EXPECT_TRUE(kick_record().empty());
}

TEST_P(SendQueueTest, HoldsAllOfItsSlotsAndNoMore)
{
	EXPECT_EQ(post(0, 6), ENOMEM);
	EXPECT_EQ(bad_, &wrs_[4]);
	EXPECT_EQ(end_.sq.pending(), 4);
	EXPECT_EQ(post(4, 1), ENOMEM);
}

TEST_P(SendQueueTest, ASlotIsFreeWhenItsCompletionIsPolledNotBefore)
{
	ibv_wc wc;

	ASSERT_EQ(post(0, 4), 0);
	end_.take_send();
	ASSERT_EQ(around_.cq_end.push_send(QPN, 0), 0);
	EXPECT_EQ(post(4, 1), ENOMEM) << "executed, not polled";
	ASSERT_EQ(bellhop::poll_cq(&around_.cq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 100U);
	EXPECT_EQ(post(4, 1), 0);
	EXPECT_EQ(post(5, 1), ENOMEM);
}

TEST_P(SendQueueTest, UnsignalledSlotsAreFreedByALaterCompletion)
{
	ibv_wc wc;

	ASSERT_EQ(post(0, 4), 0);
	for (int i = 0; i < 3; i++)
		end_.take_send();
	ASSERT_EQ(around_.cq_end.push_send(QPN, 2), 0);
	ASSERT_EQ(bellhop::poll_cq(&around_.cq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 102U);
	EXPECT_EQ(post(4, 4), ENOMEM);
	EXPECT_EQ(bad_, &wrs_[7]) << "three slots were free";
}

TEST_P(SendQueueTest, TheStateDecidesWhetherRequestsAreTaken)
{
	for (ibv_qp_state state : { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR }) {
		end_.qp.enter(state);
		EXPECT_EQ(post(0, 1), EINVAL) << state;
		EXPECT_EQ(bad_, &wrs_[0]);
		EXPECT_EQ(end_.sq.pending(), 0);
	}
	for (ibv_qp_state state : { IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR }) {
		end_.qp.enter(state);
		EXPECT_EQ(post(0, 1), 0) << state;
	}
}

TEST_P(SendQueueTest, ResetEmptiesIt)
{
	ASSERT_EQ(post(0, 4), 0);
	end_.qp.enter(IBV_QPS_RESET);
	end_.qp.enter(IBV_QPS_RTS);
	EXPECT_EQ(end_.sq.pending(), 0) << "the kernel begins at 0 again, and so does the library";
	EXPECT_EQ(post(4, 4), 0);
	EXPECT_EQ(end_.sq.pending(), 4);
}

TEST(SendQueue, WithoutSlotsIsFull)
{
	bellhop_status status{};
	bellhop::Kick kick;
	bellhop::SendQueue queue;
	ibv_send_wr wr{};
	ibv_send_wr *bad = nullptr;

	kick.watch(&status);
	wr.opcode = IBV_WR_SEND;
	ASSERT_TRUE(queue.attach(nullptr, {}, { 1, 0 }, kick, QPN));
	queue.set_open<true>(true);
	EXPECT_EQ(queue.post<true>(&wr, &bad), ENOMEM);
	EXPECT_EQ(bad, &wr);
	queue.reset<true>();
}

} // namespace
