// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// requester_repair_test.cpp: requester.c: what is sent again by itself.
#include "requester_fixture.hpp"

using namespace fixture;
using requester_repair = Requester;

TEST_F(requester_repair, receive__a_repair_is_of_what_is_missing_and_nothing_else)
{
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 2 * kMtu, 0);
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, 4 * kMtu, 0);
	ASSERT_EQ(sent().size(), 6u);
	EXPECT_EQ(hear(1, bellhop_syndrome_encode(BELLHOP_SYNDROME_REPAIR, 2)).verdict,
		  BELLHOP_REQUESTER_GO_ON);
	const auto packets = sent();

	ASSERT_EQ(packets.size(), 3u);
	for (u32 i = 0; i < 3; i++) {
		EXPECT_EQ(packets[i].psn, bellhop_psn_add(kPsn, 1 + i));
		EXPECT_TRUE(packets[i].again);
		EXPECT_EQ(packets[i].ack_request, i == 2);
	}
	EXPECT_TRUE(packets[0].last && packets[1].first);
	EXPECT_EQ(packets[2].request, 1u);
	EXPECT_EQ(packets[2].offset, kMtu);
	/* All that came meanwhile counts. */
	hear(5, ack);
	EXPECT_EQ(done(), 2u);
	EXPECT_TRUE(sent().empty());
}

TEST_F(requester_repair, receive__a_repair_of_more_than_was_sent)
{
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 3 * kMtu, 0);
	ASSERT_EQ(sent().size(), 3u);
	hear(1, bellhop_syndrome_encode(BELLHOP_SYNDROME_REPAIR, 31));
	EXPECT_EQ(sent().size(), 2u);
	hear(2, bellhop_syndrome_encode(BELLHOP_SYNDROME_REPAIR, 31));
	hear(2, ack);
	EXPECT_TRUE(sent().empty()) << "it has come meanwhile";
	EXPECT_EQ(done(), 1u);
}

TEST_F(requester_repair, receive__a_repair_of_a_read)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 3 * kMtu, 0);
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	ASSERT_EQ(sent().size(), 2u);
	ASSERT_EQ(r.reads, 1u);
	hear(0, bellhop_syndrome_encode(BELLHOP_SYNDROME_REPAIR, 2));
	const auto packets = sent();

	ASSERT_EQ(packets.size(), 1u);
	EXPECT_EQ(packets[0].bytes, 3 * kMtu);
	EXPECT_FALSE(packets[0].ack_request);
	EXPECT_EQ(r.reads, 1u) << "it is the same";
}

TEST_F(requester_repair, receive__whoever_goes_back_repairs_nothing)
{
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 3 * kMtu, 0);
	ASSERT_EQ(sent().size(), 3u);
	hear(0, bellhop_syndrome_encode(BELLHOP_SYNDROME_REPAIR, 1));
	hear(0, bellhop_syndrome_encode(BELLHOP_SYNDROME_RNR_NAK, 1));
	EXPECT_TRUE(sent().empty());
	EXPECT_EQ(sent(kNow + 10000).size(), 3u);
	hear(0, bellhop_syndrome_encode(BELLHOP_SYNDROME_REPAIR, 1));
	EXPECT_EQ(bellhop_requester_expire(&r, kNow + 100000).verdict, BELLHOP_REQUESTER_GO_ON);
	EXPECT_EQ(sent(kNow + 100000).size(), 1u);
}

TEST_F(requester_repair, placed__a_gap_in_the_answers_is_asked_for_by_itself)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 4 * kMtu, 0);
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	EXPECT_EQ(sent().size(), 2u);
	place(0, BELLHOP_BTH_READ_RESPONSE_FIRST, kMtu);
	const bellhop_requester_plan early = place(3, BELLHOP_BTH_READ_RESPONSE_LAST, kMtu);

	ASSERT_EQ(early.verdict, BELLHOP_REQUESTER_PLACE);
	EXPECT_EQ(early.offset, 3 * kMtu);
	EXPECT_EQ(hear(4, ack).verdict, BELLHOP_REQUESTER_DROP) << "it has been asked";
	const auto packets = sent();

	ASSERT_EQ(packets.size(), 1u);
	EXPECT_EQ(packets[0].offset, kMtu);
	EXPECT_EQ(packets[0].bytes, 2 * kMtu);
	EXPECT_EQ(packets[0].psn, bellhop_psn_add(kPsn, 1));
	EXPECT_TRUE(packets[0].again);
	EXPECT_EQ(done(), 0u);
	place(1, BELLHOP_BTH_READ_RESPONSE_FIRST, kMtu);
	EXPECT_EQ(done(), 0u);
	place(2, BELLHOP_BTH_READ_RESPONSE_LAST, kMtu);
	EXPECT_EQ(done(), 2u) << "the acknowledgment has been heard";
	EXPECT_EQ(r.reads, 0u);
	EXPECT_EQ(bellhop_requester_wake_ns(&r), 0u);
}

TEST_F(requester_repair, placed__what_has_no_answer_is_not_asked_for)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 2 * kMtu, 0);
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, 2 * kMtu, 0);
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 2 * kMtu, 0);
	EXPECT_EQ(sent().size(), 4u);
	ASSERT_EQ(place(5, BELLHOP_BTH_READ_RESPONSE_LAST, kMtu).verdict, BELLHOP_REQUESTER_PLACE);
	const auto packets = sent();

	ASSERT_EQ(packets.size(), 2u);
	EXPECT_EQ(packets[0].bytes, 2 * kMtu);
	EXPECT_EQ(packets[1].request, 2u);
	EXPECT_EQ(packets[1].bytes, kMtu) << "the other half is here";
	place(0, BELLHOP_BTH_READ_RESPONSE_FIRST, kMtu);
	place(1, BELLHOP_BTH_READ_RESPONSE_LAST, kMtu);
	EXPECT_EQ(done(), 2u) << "the write was before what was read";
	place(4, read_only, kMtu);
	EXPECT_EQ(done(), 1u);
	EXPECT_EQ(r.reads, 0u);
}

TEST_F(requester_repair, receive__an_acknowledgment_behind_what_is_not_answered)
{
	bellhop_requester_post(&r, BELLHOP_WR_ATOMIC_FETCH_AND_ADD, 8, 0);
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	EXPECT_EQ(sent().size(), 2u);
	EXPECT_EQ(hear(1, ack).verdict, BELLHOP_REQUESTER_GO_ON);
	const auto packets = sent();

	ASSERT_EQ(packets.size(), 1u);
	EXPECT_EQ(packets[0].opcode, BELLHOP_BTH_FETCH_ADD);
	EXPECT_EQ(r.retry.silent, 1u) << "somebody is there";
	place(0, BELLHOP_BTH_ATOMIC_ACKNOWLEDGE, 0);
	EXPECT_EQ(done(), 2u);
}

TEST_F(requester_repair, placed__words_are_not_taken_early)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 1, 0);
	bellhop_requester_post(&r, BELLHOP_WR_ATOMIC_FETCH_AND_ADD, 8, 0);
	EXPECT_EQ(sent().size(), 2u);
	EXPECT_EQ(place(1, BELLHOP_BTH_ATOMIC_ACKNOWLEDGE, 0).verdict, BELLHOP_REQUESTER_GO_ON);
	EXPECT_EQ(sent().size(), 2u);
}

TEST_F(requester_repair, placed__what_comes_twice_changes_nothing)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 3 * kMtu, 0);
	sent();
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(place(2, BELLHOP_BTH_READ_RESPONSE_LAST, kMtu).verdict,
			  BELLHOP_REQUESTER_PLACE);
	EXPECT_EQ(sent().size(), 1u);
	for (u32 ahead : { 0u, 1u, 2u })
		place(ahead, BELLHOP_BTH_READ_RESPONSE_MIDDLE, kMtu);
	EXPECT_EQ(done(), 1u);
	EXPECT_EQ(r.reads, 0u);
}
