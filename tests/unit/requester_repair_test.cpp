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
	EXPECT_EQ(sent(kNow + 100000).size(), 3u);
}
