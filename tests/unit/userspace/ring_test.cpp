// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ring_test.cpp: ring.hpp against the kernel's end.
#include <gtest/gtest.h>
#include "kernel_end.hpp"
#include "ring.hpp"

namespace
{

using bellhop::CompletionRing;
using bellhop::WorkRing;

constexpr std::uint32_t STRIDE = 64;

TEST(WorkRing, WithoutMemoryHasNoSlots)
{
	WorkRing ring;

	ring.attach(nullptr, WorkEnd(8, STRIDE).map);
	EXPECT_EQ(ring.slots(), 0U);
}

TEST(WorkRing, FindsTheSlotsThatTheKernelReads)
{
	for (std::uint32_t slots : { 1U, 2U, 8U }) {
		WorkEnd end(slots, STRIDE);
		WorkRing ring;

		ring.attach(end.memory.bytes(), end.map);
		EXPECT_EQ(ring.slots(), slots);
		for (std::uint32_t i = 0; i < 3 * slots; i++) {
			EXPECT_EQ(ring.slot(i), bellhop_ring_front(&end.ring));
			bellhop_ring_take(&end.ring);
		}
		EXPECT_EQ(ring.slot(~0U), ring.slot(slots - 1)) << "indices wrap";
	}
}

TEST(WorkRing, ShowsWhatIsPublished)
{
	WorkEnd end(8, STRIDE);
	WorkRing ring;

	ring.attach(end.memory.bytes(), end.map);
	EXPECT_EQ(end.pending(), 0);
	ring.publish(8);
	EXPECT_EQ(end.pending(), 8);
	ring.publish(9);
	EXPECT_EQ(end.pending(), -EINVAL);
}

TEST(WorkRing, SeesThatTheKernelWaits)
{
	WorkEnd end(8, STRIDE);
	WorkRing ring;

	ring.attach(end.memory.bytes(), end.map);
	EXPECT_FALSE(ring.wanted());
	bellhop_ring_want(&end.ring, true);
	EXPECT_TRUE(ring.wanted());
	bellhop_ring_want(&end.ring, false);
	EXPECT_FALSE(ring.wanted());
}

class CompletionRingTest : public testing::Test
{
protected:
	CompletionRingTest() : end_(4)
	{
		ring_.attach(end_.memory.bytes(), end_.map);
	}

	// The number of the QP of the next completion, or 0.
	std::uint32_t take()
	{
		const bellhop_cqe *cqe = ring_.front();
		std::uint32_t qpn = cqe ? cqe->qpn : 0;

		if (cqe)
			ring_.pop();
		return qpn;
	}

	CompletionEnd end_;
	CompletionRing ring_;
};

TEST_F(CompletionRingTest, IsEmptyAtFirst)
{
	EXPECT_EQ(ring_.front(), nullptr);
}

TEST_F(CompletionRingTest, GivesEachCompletionOnceOverManyPasses)
{
	std::uint32_t pushed = 0;
	std::uint32_t taken = 0;

	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < round % 5; i++)
			ASSERT_EQ(end_.push_send(++pushed, 0), 0);
		while (std::uint32_t qpn = take())
			ASSERT_EQ(qpn, ++taken);
		ASSERT_EQ(taken, pushed);
		ring_.publish();
	}
}

TEST_F(CompletionRingTest, HoldsAsManyAsItHasSlots)
{
	for (std::uint32_t i = 1; i <= 4; i++)
		ASSERT_EQ(end_.push_send(i, 0), 0);
	EXPECT_EQ(end_.push_send(5, 0), -EOVERFLOW);
	for (std::uint32_t i = 1; i <= 4; i++)
		EXPECT_EQ(take(), i);
	EXPECT_EQ(take(), 0U);
}

TEST_F(CompletionRingTest, KeepsSlotsUntilTheyArePublished)
{
	for (std::uint32_t i = 1; i <= 4; i++)
		ASSERT_EQ(end_.push_send(i, 0), 0);
	EXPECT_EQ(take(), 1U);
	EXPECT_EQ(end_.push_send(5, 0), -EOVERFLOW);
	ring_.publish();
	EXPECT_EQ(end_.push_send(5, 0), 0);
	EXPECT_EQ(end_.push_send(6, 0), -EOVERFLOW);
}

TEST_F(CompletionRingTest, RemovesTheCompletionsOfOneQpOnly)
{
	// One pass and a half, so that old entries lie behind the new ones.
	for (std::uint32_t i = 0; i < 2; i++) {
		ASSERT_EQ(end_.push_send(7, i), 0);
		EXPECT_EQ(take(), 7U);
	}
	ring_.publish();
	ASSERT_EQ(end_.push_send(7, 2), 0);
	ASSERT_EQ(end_.push_send(8, 0), 0);
	ASSERT_EQ(end_.push_send(7, 3), 0);
	ring_.remove(7);

	std::uint32_t left = 0;

	while (const bellhop_cqe *cqe = ring_.front()) {
		EXPECT_NE(cqe->qpn, 7U);
		left += cqe->qpn;
		ring_.pop();
	}
	EXPECT_EQ(left, 8U);
}

TEST_F(CompletionRingTest, RemovesFromAFullRing)
{
	for (std::uint32_t i = 0; i < 4; i++)
		ASSERT_EQ(end_.push_send(7, i), 0);
	ring_.remove(7);
	for (std::uint32_t i = 0; i < 4; i++) {
		ASSERT_NE(ring_.front(), nullptr);
		EXPECT_EQ(take(), 0U);
	}
	EXPECT_EQ(ring_.front(), nullptr);
}

TEST_F(CompletionRingTest, RaisesOneEventPerRequest)
{
	EXPECT_FALSE(end_.fire(true)) << "nobody asked";
	ring_.arm(false);
	EXPECT_TRUE(end_.fire(false));
	EXPECT_FALSE(end_.fire(false));
	ring_.arm(false);
	EXPECT_TRUE(end_.fire(false)) << "a request like the one before is another one";
}

TEST_F(CompletionRingTest, WaitsForASolicitedCompletion)
{
	ring_.arm(true);
	EXPECT_FALSE(end_.fire(false));
	EXPECT_TRUE(end_.fire(true));
	EXPECT_FALSE(end_.fire(true));
}

TEST_F(CompletionRingTest, KeepsTheWiderOfTwoRequests)
{
	ring_.arm(false);
	ring_.arm(true);
	EXPECT_TRUE(end_.fire(false)) << "any, then solicited: any";
	EXPECT_FALSE(end_.fire(true)) << "and that was one request";

	ring_.arm(true);
	ring_.arm(false);
	EXPECT_TRUE(end_.fire(false)) << "solicited, then any: any";

	ring_.arm(true);
	EXPECT_FALSE(end_.fire(false)) << "an answered request does not widen the next";
	EXPECT_TRUE(end_.fire(true));
}

} // namespace
