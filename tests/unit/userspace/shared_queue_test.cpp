// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shared_queue_test.cpp: ibv_post_srq_recv() down to the ring, with and without locks, and what the
// completions of its entries bring back.
#include <array>
#include <gtest/gtest.h>
#include "endpoint.hpp"
#include "shared_queue.hpp"

namespace
{

constexpr std::uint32_t QPN = 0x456;
constexpr std::uint32_t SLOTS = 4;
constexpr bellhop_wqe_limits LIMITS = { 2, 0, BELLHOP_SERVICE_RC };

class SharedQueueTest : public testing::TestWithParam<bool>
{
protected:
	SharedQueueTest() : queue_(GetParam()), end_(SLOTS, bellhop_wqe_recv_stride(&LIMITS))
	{
		queue_.attach(end_.memory.bytes(), end_.map, LIMITS.max_sge);
		for (std::uint32_t i = 0; i < wrs_.size(); i++)
			wrs_[i].wr_id = 0x1'0000'0000ULL + i;
	}

	// Posts a list of count requests, the first of them number first.
	int post(std::uint32_t first, std::uint32_t count)
	{
		for (std::uint32_t i = first; i < first + count; i++)
			wrs_[i].next = i + 1 < first + count ? &wrs_[i + 1] : nullptr;
		bad_ = nullptr;
		return bellhop::post_srq_recv(&queue_.srq, &wrs_[first], &bad_);
	}

	bellhop_recv_wqe take()
	{
		bellhop_recv_wqe wqe = end_.take_recv(LIMITS);

		EXPECT_EQ(end_.reason, BELLHOP_REASON_NONE);
		return wqe;
	}

	bellhop::SharedQueue queue_;
	WorkEnd end_;
	std::array<ibv_recv_wr, 8> wrs_{};
	ibv_recv_wr *bad_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Locked, SharedQueueTest, testing::Bool());

TEST_P(SharedQueueTest, EntriesArriveWithTheirWrIds)
{
	ibv_sge sge = { .addr = 0x1000, .length = 17, .lkey = 3 };

	wrs_[1].sg_list = &sge;
	wrs_[1].num_sge = 1;
	ASSERT_EQ(post(0, 2), 0);
	EXPECT_EQ(end_.pending(), 2);
	EXPECT_EQ(take().wr_id, wrs_[0].wr_id);
	bellhop_recv_wqe wqe = take();
	EXPECT_EQ(wqe.wr_id, wrs_[1].wr_id);
	EXPECT_EQ(wqe.num_sge, 1U);
	EXPECT_EQ(wqe.length, 17U);
}

TEST_P(SharedQueueTest, WhatStandsBeforeABadRequestIsPosted)
{
	wrs_[1].num_sge = 3;
	EXPECT_EQ(post(0, 3), EINVAL);
	EXPECT_EQ(bad_, &wrs_[1]);
	EXPECT_EQ(end_.pending(), 1);
}

TEST_P(SharedQueueTest, HoldsAllOfItsSlotsUntilTheyAreTaken)
{
	EXPECT_EQ(post(0, 5), ENOMEM);
	EXPECT_EQ(bad_, &wrs_[4]);
	take();
	EXPECT_EQ(post(4, 1), ENOMEM) << "the kernel has not said that it was copied";
	bellhop_ring_free(&end_.ring);
	EXPECT_EQ(post(4, 1), 0);
	EXPECT_EQ(post(5, 1), ENOMEM);
	EXPECT_EQ(end_.pending(), int{ SLOTS });
}

TEST_P(SharedQueueTest, IndicesWrap)
{
	for (std::uint32_t i = 0; i < 3 * SLOTS; i++) {
		ASSERT_EQ(post(i % 8, 1), 0) << i;
		EXPECT_EQ(take().wr_id, wrs_[i % 8].wr_id);
		bellhop_ring_free(&end_.ring);
	}
	EXPECT_EQ(end_.pending(), 0);
}

TEST_P(SharedQueueTest, GoesOnInAnotherRing)
{
	WorkEnd other(2 * SLOTS, bellhop_wqe_recv_stride(&LIMITS));
	std::uint32_t end;

	ASSERT_EQ(post(0, 3), 0);
	EXPECT_EQ(take().wr_id, wrs_[0].wr_id);
	bellhop_ring_free(&end_.ring);
	end = end_.memory.hdr()->producer;
	bellhop_shared_ring_copy(&end_.ring, &other.ring, 1, 2);
	ASSERT_EQ(bellhop_shared_ring_move(&end_.ring, &other.ring, end), 0);
	queue_.move(other.memory.bytes(), other.map);
	EXPECT_EQ(post(3, 5), 0);
	for (std::uint32_t i = 1; i < 8; i++)
		EXPECT_EQ(take().wr_id, wrs_[i].wr_id);
	EXPECT_EQ(end_.pending(), 0);
	bellhop_ring_free(&end_.ring);
	ASSERT_EQ(post(0, 8), 0);
	EXPECT_EQ(post(0, 1), ENOMEM);
}

TEST_P(SharedQueueTest, CompletionsComeInAnyOrder)
{
	Surroundings around(GetParam());
	Endpoint end(around, QPN);
	bellhop_completion completion{};
	ibv_wc wc[2];

	end.qp.qp.srq = &queue_.srq;
	completion.qpn = QPN;
	completion.opcode = BELLHOP_WC_RECV;
	for (std::uint64_t wr_id : { 0xfedcba9876543210ULL, 7ULL }) {
		completion.wr_id = wr_id;
		ASSERT_EQ(around.cq_end.push(completion), 0);
	}
	ASSERT_EQ(bellhop::poll_cq(&around.cq.cq, 2, wc), 2);
	EXPECT_EQ(wc[0].wr_id, 0xfedcba9876543210ULL);
	EXPECT_EQ(wc[1].wr_id, 7U);
	end.qp.qp.srq = nullptr;
}

} // namespace
