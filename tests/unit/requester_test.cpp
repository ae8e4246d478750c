// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// requester_test.cpp: requester.c: one rule after the other; simulation_test.cpp has them together.
#include "requester_fixture.hpp"

using namespace fixture;
using requester = Requester;

TEST_F(requester, next__numbers_go_round)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, 3 * kMtu + 1, 0);
	const auto packets = sent();

	ASSERT_EQ(packets.size(), 4u);
	EXPECT_EQ(packets[0].psn, 0xfffffeu);
	EXPECT_EQ(packets[2].psn, 0u);
	EXPECT_EQ(packets[3].bytes, 1u);
	EXPECT_EQ(packets[3].offset, 3 * kMtu);
	EXPECT_TRUE(packets[0].first && !packets[0].last && packets[3].last);
}

TEST_F(requester, next__the_last_asks_for_an_acknowledgment)
{
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 2 * kMtu, 0);
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	const auto packets = sent();

	ASSERT_EQ(packets.size(), 3u);
	EXPECT_FALSE(packets[0].ack_request || packets[1].ack_request);
	EXPECT_TRUE(packets[2].ack_request);
}

TEST_F(requester, next__asks_now_and_then_and_at_the_end_of_the_window)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, 100 * kMtu, 0);
	const auto packets = sent();
	u32 unasked = 0;

	ASSERT_EQ(packets.size(), r.window);
	for (const bellhop_request_packet &packet : packets) {
		unasked = packet.ack_request ? 0 : unasked + 1;
		EXPECT_LT(unasked, BELLHOP_REQUESTER_ACK_EVERY);
	}
	EXPECT_TRUE(packets.back().ack_request);
}

TEST_F(requester, next__a_long_read_is_several_requests)
{
	r.window = r.allowed = 1000;
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 200 * kMtu + 5, 0);
	const auto packets = sent();

	/* As many as the peer takes. */
	ASSERT_EQ(packets.size(), 2u);
	EXPECT_EQ(packets[0].bytes, BELLHOP_SEGMENT_READ_PACKETS * kMtu);
	EXPECT_EQ(packets[1].offset, BELLHOP_SEGMENT_READ_PACKETS * kMtu);
	EXPECT_EQ(packets[1].psn, bellhop_psn_add(kPsn, BELLHOP_SEGMENT_READ_PACKETS));
	EXPECT_EQ(r.reads, 2u);
}

TEST_F(requester, next__a_fence_waits_for_reads)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 1, 0);
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, BELLHOP_SQE_FENCE);
	EXPECT_EQ(sent().size(), 1u);
	ASSERT_EQ(place(0, read_only, 1).verdict, BELLHOP_REQUESTER_PLACE);
	EXPECT_EQ(sent().size(), 1u);
}

TEST_F(requester, next__only_the_last_is_solicited)
{
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 2 * kMtu, BELLHOP_SQE_SOLICITED);
	const auto packets = sent();

	EXPECT_FALSE(packets[0].solicited);
	EXPECT_TRUE(packets[1].solicited);
}

TEST_F(requester, receive__an_acknowledgment_is_for_all_before_it)
{
	for (int i = 0; i < 3; i++)
		bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	sent();
	EXPECT_EQ(hear(1, ack).verdict, BELLHOP_REQUESTER_GO_ON);
	EXPECT_EQ(done(), 2u);
	EXPECT_EQ(hear(2, ack).verdict, BELLHOP_REQUESTER_GO_ON);
	EXPECT_EQ(done(), 1u);
	EXPECT_EQ(bellhop_requester_wake_ns(&r), 0u);
}

TEST_F(requester, receive__what_was_not_sent_is_not_acknowledged)
{
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	EXPECT_EQ(hear(0, ack).verdict, BELLHOP_REQUESTER_DROP);
	sent();
	for (u32 ahead : { 1u, 2u, BELLHOP_PSN_HALF, BELLHOP_PSN_MASK })
		EXPECT_EQ(hear(ahead, ack).verdict, BELLHOP_REQUESTER_DROP) << ahead;
	EXPECT_EQ(done(), 0u);
}

TEST_F(requester, receive__answers_that_come_late_count)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, 2 * kMtu, 0);
	sent();
	EXPECT_EQ(bellhop_requester_expire(&r, kNow + 100000).verdict, BELLHOP_REQUESTER_GO_ON);
	for (u32 i = 0; i < 2; i++) {
		ASSERT_EQ(place(i, BELLHOP_BTH_READ_RESPONSE_MIDDLE, kMtu).verdict,
			  BELLHOP_REQUESTER_PLACE);
	}
	EXPECT_EQ(done(), 1u);
	EXPECT_EQ(r.reads, 0u);
	EXPECT_TRUE(sent().empty());
}

TEST_F(requester, receive__an_answer_to_something_else_is_the_end)
{
	const struct {
		u8 wr;
		u8 opcode;
		u32 payload;
	} wrong[] = {
		{ BELLHOP_WR_SEND, read_only, 0 },
		{ BELLHOP_WR_RDMA_READ, read_only, 7 },
		{ BELLHOP_WR_RDMA_READ, BELLHOP_BTH_ATOMIC_ACKNOWLEDGE, 0 },
		{ BELLHOP_WR_ATOMIC_FETCH_AND_ADD, read_only, 8 },
		{ BELLHOP_WR_ATOMIC_WRITE, read_only, 8 },
	};

	for (const auto &with : wrong) {
		bellhop_requester_begin(&r, kPsn);
		bellhop_requester_post(&r, with.wr, 8, 0);
		sent();
		const bellhop_requester_plan plan = answer(0, with.opcode, with.payload);

		EXPECT_EQ(plan.verdict, BELLHOP_REQUESTER_FAIL) << int(with.wr);
		EXPECT_EQ(plan.reason, BELLHOP_REASON_BAD_RESPONSE);
	}
}

TEST_F(requester, receive__words_come_back_in_a_header)
{
	for (u8 wr : { BELLHOP_WR_ATOMIC_CMP_AND_SWP, BELLHOP_WR_ATOMIC_WRITE })
		bellhop_requester_post(&r, wr, 8, 0);
	EXPECT_EQ(sent().size(), 2u);
	EXPECT_EQ(place(0, BELLHOP_BTH_ATOMIC_ACKNOWLEDGE, 0).bytes, 8u);
	EXPECT_EQ(place(1, read_only, 0).bytes, 0u);
	EXPECT_EQ(done(), 2u);
}

TEST_F(requester, receive__a_sequence_error_sends_again_from_there)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, 4 * kMtu, 0);
	sent();
	EXPECT_EQ(hear(2, lost).verdict, BELLHOP_REQUESTER_GO_ON);
	/* The network has doubled it. */
	EXPECT_EQ(hear(2, lost).verdict, BELLHOP_REQUESTER_DROP);
	const auto packets = sent();

	ASSERT_EQ(packets.size(), 2u);
	EXPECT_EQ(packets[0].offset, 2 * kMtu);
	/* Lost once more, and the responder says so again. */
	EXPECT_EQ(hear(2, lost).verdict, BELLHOP_REQUESTER_GO_ON);
	EXPECT_EQ(sent().size(), 2u);
}

TEST_F(requester, receive__refusals_complete_what_was_before)
{
	const struct {
		u32 code;
		bellhop_reason reason;
		bellhop_wc_status status;
	} refusals[] = {
		{ BELLHOP_NAK_INVALID_REQUEST, BELLHOP_REASON_NAK_INVALID_REQUEST,
		  BELLHOP_WC_REM_INV_REQ_ERR },
		{ BELLHOP_NAK_REMOTE_ACCESS_ERROR, BELLHOP_REASON_NAK_ACCESS,
		  BELLHOP_WC_REM_ACCESS_ERR },
		{ BELLHOP_NAK_REMOTE_OPERATIONAL_ERROR, BELLHOP_REASON_NAK_OPERATIONAL,
		  BELLHOP_WC_REM_OP_ERR },
	};

	for (const auto &with : refusals) {
		bellhop_requester_begin(&r, kPsn);
		for (int i = 0; i < 3; i++)
			bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
		sent();
		const bellhop_requester_plan plan =
			hear(1, bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK, with.code));

		EXPECT_EQ(plan.verdict, BELLHOP_REQUESTER_FAIL);
		EXPECT_EQ(plan.reason, with.reason);
		EXPECT_EQ(bellhop_responder_refuse(plan.reason)->requester, with.status);
		EXPECT_FALSE(bellhop_responder_refuse(plan.reason)->fatal);
		EXPECT_EQ(done(), 1u);
	}
}

TEST_F(requester, receive__reserved_codes_say_nothing)
{
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	sent();
	EXPECT_EQ(hear(0, bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK, 9)).verdict,
		  BELLHOP_REQUESTER_DROP);
	EXPECT_EQ(done(), 0u);
}

TEST_F(requester, receive__not_ready_waits_and_then_gives_up)
{
	const u8 not_ready = bellhop_syndrome_encode(BELLHOP_SYNDROME_RNR_NAK, 1); /* 10 us */

	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	sent();
	EXPECT_EQ(hear(0, not_ready).verdict, BELLHOP_REQUESTER_GO_ON);
	EXPECT_TRUE(sent(kNow + 9999).empty());
	EXPECT_EQ(bellhop_requester_wake_ns(&r), kNow + 10000);
	EXPECT_EQ(bellhop_requester_expire(&r, kNow + 10000).verdict, BELLHOP_REQUESTER_DROP);
	EXPECT_EQ(sent(kNow + 10000).size(), 1u);
	const bellhop_requester_plan plan = hear(0, not_ready, kNow + 10000);

	EXPECT_EQ(plan.verdict, BELLHOP_REQUESTER_FAIL);
	EXPECT_EQ(plan.reason, BELLHOP_REASON_RNR);
}

TEST_F(requester, expire__tries_as_often_as_it_may)
{
	u64 now = kNow;
	u32 tries = 1;

	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	EXPECT_EQ(sent().size(), 1u);
	/* Each time longer, and never more than four times as long as it was told. */
	for (u64 wait : { 1u, 2u, 2u }) {
		wait *= 8192;
		EXPECT_EQ(bellhop_requester_wake_ns(&r), now + wait);
		EXPECT_EQ(bellhop_requester_expire(&r, now + wait - 1).verdict,
			  BELLHOP_REQUESTER_DROP);
		now += wait;
		if (bellhop_requester_expire(&r, now).verdict == BELLHOP_REQUESTER_FAIL)
			break;
		tries++;
		EXPECT_EQ(sent(now).size(), 1u);
	}
	/* IBA 9.7.6.1.3: the first, and retry_cnt more. */
	EXPECT_EQ(tries, 3u);
}

TEST_F(requester, expire__sends_again_long_before_patience_is_over)
{
	constexpr u64 kMs = 1000000;
	u64 now = kNow;

	r.retry.timeout = 18; /* a second */
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 3 * kMtu, 0);
	ASSERT_EQ(sent().size(), 3u);
	for (u32 i = 0; i < BELLHOP_PROBES; i++) {
		const u64 wait = 4 * kMs << i;

		ASSERT_EQ(bellhop_requester_wake_ns(&r), now + wait);
		EXPECT_EQ(bellhop_requester_expire(&r, now + wait - 1).verdict,
			  BELLHOP_REQUESTER_DROP);
		now += wait;
		EXPECT_EQ(bellhop_requester_expire(&r, now).verdict, BELLHOP_REQUESTER_GO_ON);
		EXPECT_EQ(sent(now).size(), 1u) << "the others may be there";
		EXPECT_EQ(r.retry.silent, 1u) << "it is no try that failed";
	}
	EXPECT_EQ(bellhop_requester_wake_ns(&r), kNow + 1073741824u);
}

TEST_F(requester, expire__is_as_patient_as_the_responder_is_slow)
{
	constexpr u64 kMs = 1000000;

	r.retry.timeout = 18;
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	sent();
	EXPECT_EQ(hear(0, ack, kNow + 2 * kMs).verdict, BELLHOP_REQUESTER_GO_ON);
	EXPECT_EQ(bellhop_requester_wake_ns(&r), 0u);
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	sent(10 * kMs);
	EXPECT_EQ(bellhop_requester_wake_ns(&r), 16 * kMs);
	EXPECT_EQ(bellhop_requester_expire(&r, 16 * kMs).verdict, BELLHOP_REQUESTER_GO_ON);
	sent(16 * kMs);
	/* Which of the two it answers is not known. */
	hear(1, ack, 17 * kMs);
	EXPECT_EQ(r.probe.rtt.smoothed_ns, 2 * kMs);
	EXPECT_EQ(r.probe.count, 0u);
}

TEST_F(requester, expire__progress_gives_new_patience)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, 3 * kMtu, 0);
	sent();
	EXPECT_EQ(bellhop_requester_expire(&r, kNow + 8192).verdict, BELLHOP_REQUESTER_GO_ON);
	sent(kNow + 8192);
	EXPECT_EQ(r.retry.silent, 2);
	hear(0, ack, kNow + 9000);
	EXPECT_EQ(r.retry.silent, 0);
	sent(kNow + 9000);
	EXPECT_EQ(r.retry.silent, 1);
	EXPECT_EQ(bellhop_requester_wake_ns(&r), kNow + 9000 + 8192);
}

TEST_F(requester, expire__begins_with_one_packet_and_doubles)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, 100 * kMtu, 0);
	EXPECT_EQ(sent().size(), 32u);
	bellhop_requester_expire(&r, kNow + 8192);
	for (u32 count = 1, heard = 0; count < 32; count *= 2) {
		const auto packets = sent(kNow + 8192);

		ASSERT_EQ(packets.size(), count);
		EXPECT_TRUE(packets.back().ack_request);
		heard += count;
		EXPECT_EQ(hear(heard - 1, ack, kNow + 8192).verdict, BELLHOP_REQUESTER_GO_ON);
	}
	EXPECT_EQ(sent(kNow + 8192).size(), 32u);
}

TEST_F(requester, expire__what_was_there_all_the_time_is_not_sent_again)
{
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, 40 * kMtu, 0);
	EXPECT_EQ(sent().size(), 32u);
	bellhop_requester_expire(&r, kNow + 8192);
	EXPECT_EQ(sent(kNow + 8192).size(), 1u);
	hear(31, ack, kNow + 8192);
	const auto packets = sent(kNow + 8192);

	ASSERT_EQ(packets.size(), 8u);
	EXPECT_EQ(packets[0].psn, bellhop_psn_add(kPsn, 32));
}

TEST_F(requester, expire__what_was_only_late_is_not_sent_again)
{
	constexpr u64 kLater = kNow + 4000000;

	r.retry.timeout = 18;
	for (u8 wr : { BELLHOP_WR_RDMA_WRITE, BELLHOP_WR_SEND, BELLHOP_WR_SEND })
		bellhop_requester_post(&r, wr, 12 * kMtu, 0);
	EXPECT_EQ(sent().size(), 32u);
	bellhop_requester_expire(&r, kLater);
	EXPECT_EQ(sent(kLater).size(), 1u);
	EXPECT_EQ(hear(15, ack, kLater).verdict, BELLHOP_REQUESTER_GO_ON);
	const auto packets = sent(kLater);

	ASSERT_EQ(packets.size(), 4u) << "the window is open again";
	EXPECT_EQ(packets[0].request, 2u);
	EXPECT_EQ(packets[0].psn, bellhop_psn_add(kPsn, 32));
	EXPECT_FALSE(packets[0].again);
	hear(35, ack, kLater);
	EXPECT_EQ(done(), 3u);
}

TEST_F(requester, expire__a_read_that_was_late_is_asked_for_again)
{
	constexpr u64 kLater = kNow + 4000000;

	r.retry.timeout = 18;
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 4 * kMtu, 0);
	bellhop_requester_post(&r, BELLHOP_WR_RDMA_READ, kMtu, 0);
	EXPECT_EQ(sent().size(), 5u);
	bellhop_requester_expire(&r, kLater);
	hear(3, ack, kLater);
	EXPECT_EQ(r.reads, 0u);
	EXPECT_EQ(sent(kLater).size(), 1u);
	EXPECT_EQ(r.reads, 1u);
	place(4, read_only, kMtu);
	EXPECT_EQ(done(), 2u);
	EXPECT_EQ(r.reads, 0u);
}

TEST_F(requester, done__what_is_not_reliable_is_complete_when_it_is_sent)
{
	r.service = BELLHOP_SERVICE_UC;
	bellhop_requester_begin(&r, kPsn);
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 100 * kMtu, 0);
	const auto packets = sent();

	EXPECT_EQ(packets.size(), 100u);
	EXPECT_FALSE(packets.back().ack_request);
	EXPECT_EQ(done(), 1u);
	EXPECT_EQ(bellhop_requester_wake_ns(&r), 0u);
}

TEST_F(requester, post__more_numbers_than_there_are)
{
	for (int i = 0; i < 8; i++) {
		EXPECT_TRUE(bellhop_requester_has_room(&r));
		bellhop_requester_post(&r, BELLHOP_WR_RDMA_WRITE, BELLHOP_MAX_MESSAGE, 0);
	}
	EXPECT_FALSE(bellhop_requester_has_room(&r));
	for (u32 ahead = 0; ahead < 1000; ahead += 32) {
		ASSERT_EQ(sent().size(), 32u);
		ASSERT_EQ(hear(ahead + 31, ack).verdict, BELLHOP_REQUESTER_GO_ON);
	}
}

TEST_F(requester, abandon__takes_off_what_is_not_complete)
{
	u32 request;

	for (int i = 0; i < 3; i++)
		bellhop_requester_post(&r, BELLHOP_WR_SEND, 1, 0);
	sent();
	hear(0, ack);
	ASSERT_TRUE(bellhop_requester_done(&r, &request));
	EXPECT_EQ(bellhop_requester_oldest(&r), 1u);
	for (u32 i : { 1u, 2u }) {
		ASSERT_TRUE(bellhop_requester_abandon(&r, &request));
		EXPECT_EQ(request, i);
		EXPECT_FALSE(bellhop_requester_done(&r, &request));
		EXPECT_TRUE(sent().empty());
		EXPECT_EQ(hear(i, ack).verdict, BELLHOP_REQUESTER_DROP);
		EXPECT_EQ(bellhop_requester_wake_ns(&r), 0u);
	}
	EXPECT_FALSE(bellhop_requester_abandon(&r, &request));
}

TEST_F(requester, rest__sends_the_same_again_later_or_when_roused)
{
	bellhop_requester_post(&r, BELLHOP_WR_SEND, 2 * kMtu, 0);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(sent().size(), 2u);
		bellhop_requester_rest(&r, kNow + 100);
		EXPECT_TRUE(sent(kNow + 99).empty());
		EXPECT_EQ(bellhop_requester_wake_ns(&r), kNow + 100);
		bellhop_requester_rouse(&r);
	}
	EXPECT_EQ(sent().size(), 2u);
	EXPECT_EQ(r.retry.silent, 1);
}
