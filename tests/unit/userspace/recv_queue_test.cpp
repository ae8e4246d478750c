// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// recv_queue_test.cpp: ibv_post_recv() down to the ring, with and without locks.
#include <array>
#include <gtest/gtest.h>
#include "endpoint.hpp"

namespace
{

constexpr std::uint32_t QPN = 0x456;

class RecvQueueTest : public testing::TestWithParam<bool>
{
protected:
	RecvQueueTest() : around_(GetParam()), end_(around_, QPN)
	{
		for (std::uint32_t i = 0; i < wrs_.size(); i++)
			wrs_[i].wr_id = 200 + i;
	}

	// Posts a list of count requests, the first of them number first.
	int post(std::uint32_t first, std::uint32_t count)
	{
		for (std::uint32_t i = first; i < first + count; i++)
			wrs_[i].next = i + 1 < first + count ? &wrs_[i + 1] : nullptr;
		bad_ = nullptr;
		return bellhop::post_recv(&end_.qp.qp, &wrs_[first], &bad_);
	}

	Surroundings around_;
	Endpoint end_;
	std::array<ibv_recv_wr, 8> wrs_{};
	ibv_recv_wr *bad_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Locked, RecvQueueTest, testing::Bool());

TEST_P(RecvQueueTest, IsKickedOnlyWhenSomebodyWaits)
{
	EXPECT_EQ(post(0, 2), 0);
	EXPECT_EQ(end_.rq.pending(), 2);
	EXPECT_TRUE(kick_record().empty()) << "need_kick is not asked";

	bellhop_ring_want(&end_.rq.ring, true);
	EXPECT_EQ(post(2, 2), 0);
	EXPECT_EQ(end_.rq.pending(), 4);
	EXPECT_EQ(kick_record(), std::vector<std::uint32_t>{ QPN });
}

TEST_P(RecvQueueTest, ElementsArrive)
{
	ibv_sge sge = { .addr = 0x1000, .length = 17, .lkey = 3 };

	wrs_[0].sg_list = &sge;
	wrs_[0].num_sge = 1;
	ASSERT_EQ(post(0, 1), 0);
	bellhop_recv_wqe wqe = end_.take_recv();

	EXPECT_EQ(end_.rq.reason, BELLHOP_REASON_NONE);
	EXPECT_EQ(wqe.num_sge, 1U);
	EXPECT_EQ(wqe.length, 17U);
}

TEST_P(RecvQueueTest, WhatStandsBeforeABadRequestIsPosted)
{
	bellhop_ring_want(&end_.rq.ring, true);
	wrs_[1].num_sge = 5;
	EXPECT_EQ(post(0, 3), EINVAL);
	EXPECT_EQ(bad_, &wrs_[1]);
	EXPECT_EQ(end_.rq.pending(), 1);
	EXPECT_EQ(kick_record().size(), 1U);
}

TEST_P(RecvQueueTest, HoldsAllOfItsSlotsUntilTheyArePolled)
{
	ibv_wc wc;

	EXPECT_EQ(post(0, 5), ENOMEM);
	EXPECT_EQ(bad_, &wrs_[4]);
	end_.take_recv();
	ASSERT_EQ(around_.cq_end.push_recv(QPN, 0), 0);
	EXPECT_EQ(post(4, 1), ENOMEM);
	ASSERT_EQ(bellhop::poll_cq(&around_.cq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 200U);
	EXPECT_EQ(post(4, 1), 0);
	EXPECT_EQ(post(5, 1), ENOMEM);
}

TEST_P(RecvQueueTest, OnlyResetRefuses)
{
	end_.qp.enter(IBV_QPS_RESET);
	EXPECT_EQ(post(0, 1), EINVAL);
	EXPECT_EQ(bad_, &wrs_[0]);
	for (ibv_qp_state state : { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR }) {
		end_.qp.enter(state);
		EXPECT_EQ(post(0, 1), 0) << state;
	}
}

TEST_P(RecvQueueTest, ResetEmptiesIt)
{
	ASSERT_EQ(post(0, 4), 0);
	end_.qp.enter(IBV_QPS_RESET);
	end_.qp.enter(IBV_QPS_INIT);
	EXPECT_EQ(end_.rq.pending(), 0);
	EXPECT_EQ(post(4, 4), 0);
	EXPECT_EQ(end_.rq.pending(), 4);
}

} // namespace
