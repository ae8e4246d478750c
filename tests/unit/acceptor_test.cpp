// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// acceptor_test.cpp: acceptor.c and replies.c: one rule after the other; simulation_test.cpp has
// them together.
#include <array>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "acceptor.h"
#include "bth.h"
#include "psn.h"
#include "segment.h"
#include "syndrome.h"
}

namespace
{

constexpr u32 kMtu = 256, kPsn = 0xfffffe;

/* An acceptor, and a requester that says what it likes. */
class Acceptor : public testing::Test
{
protected:
	Acceptor()
	{
		begin(BELLHOP_SERVICE_RC);
	}

	void begin(bellhop_service service)
	{
		a.service = service;
		a.mtu = kMtu;
		a.replies.queue = queue.data();
		a.replies.depth = queue.size();
		a.replies.kept = kept.data();
		a.replies.keep = kept.size();
		bellhop_acceptor_begin(&a, kPsn);
	}

	bellhop_transport packet(u32 ahead, u8 opcode, u32 payload = 0) const
	{
		bellhop_transport transport{};

		transport.opcode = bellhop_segment_service(a.service) | opcode;
		transport.psn = bellhop_psn_add(kPsn, ahead);
		transport.payload = payload;
		transport.ack_request = true;
		return transport;
	}

	/* Of a write, read or atomic operation. */
	bellhop_transport addressed(u32 ahead, u8 opcode, u32 length, u32 payload = 0) const
	{
		bellhop_transport transport = packet(ahead, opcode, payload);

		transport.address = 0x10000;
		transport.rkey = 0x77;
		transport.length = length;
		return transport;
	}

	bellhop_acceptor_plan receive(const bellhop_transport &transport, u64 original = 0)
	{
		bellhop_acceptor_plan plan = bellhop_acceptor_receive(&a, &transport);

		if (plan.verdict == BELLHOP_ACCEPTOR_EXECUTE)
			bellhop_acceptor_commit(&a, &plan, &transport, original);
		return plan;
	}

	std::vector<bellhop_reply_packet> said()
	{
		std::vector<bellhop_reply_packet> packets;
		bellhop_reply_packet packet;

		while (bellhop_replies_next(&a.replies, &packet))
			packets.push_back(packet);
		return packets;
	}

	/* The only thing that was said is such an acknowledgment. */
	void expect_said(bellhop_syndrome kind, u32 value, u32 ahead)
	{
		const auto packets = said();

		ASSERT_EQ(packets.size(), 1u);
		EXPECT_EQ(packets[0].opcode, BELLHOP_BTH_ACKNOWLEDGE);
		EXPECT_EQ(bellhop_syndrome_kind(packets[0].syndrome), kind);
		EXPECT_EQ(bellhop_syndrome_value(packets[0].syndrome), value);
		EXPECT_EQ(packets[0].psn, bellhop_psn_add(kPsn, ahead));
	}

	std::array<bellhop_reply, 4> queue{};
	std::array<bellhop_reply, 2> kept{};
	bellhop_acceptor a{};
};

using acceptor = Acceptor;

} // namespace

TEST_F(acceptor, receive__a_message_of_several_packets)
{
	EXPECT_TRUE(receive(packet(0, BELLHOP_BTH_SEND_FIRST, kMtu)).takes_receive);
	EXPECT_FALSE(receive(packet(1, BELLHOP_BTH_SEND_MIDDLE, kMtu)).takes_receive);
	const bellhop_acceptor_plan last = receive(packet(2, BELLHOP_BTH_SEND_LAST, 1));

	EXPECT_EQ(last.offset, 2 * kMtu);
	EXPECT_TRUE(last.last);
	EXPECT_EQ(a.msn, 1u);
	EXPECT_EQ(a.expected, 1u);
	/* One acknowledgment is enough. */
	expect_said(BELLHOP_SYNDROME_ACK, BELLHOP_SYNDROME_NO_CREDITS, 2);
}

TEST_F(acceptor, receive__a_write_keeps_its_address)
{
	receive(addressed(0, BELLHOP_BTH_WRITE_FIRST, kMtu + 3, kMtu));
	const bellhop_acceptor_plan plan = receive(packet(1, BELLHOP_BTH_WRITE_LAST_IMM, 3));

	EXPECT_EQ(plan.verdict, BELLHOP_ACCEPTOR_EXECUTE);
	EXPECT_EQ(plan.address, 0x10000u);
	EXPECT_EQ(plan.rkey, 0x77u);
	EXPECT_EQ(plan.offset, kMtu);
	EXPECT_TRUE(plan.takes_receive);
}

TEST_F(acceptor, receive__what_is_missing_is_said_once)
{
	EXPECT_EQ(receive(packet(1, BELLHOP_BTH_SEND_ONLY)).verdict, BELLHOP_ACCEPTOR_REPLY);
	EXPECT_EQ(receive(packet(2, BELLHOP_BTH_SEND_ONLY)).verdict, BELLHOP_ACCEPTOR_DROP);
	expect_said(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_PSN_SEQUENCE_ERROR, 0);
	receive(packet(0, BELLHOP_BTH_SEND_ONLY));
	said();
	/* The next gap is another. */
	EXPECT_EQ(receive(packet(2, BELLHOP_BTH_SEND_ONLY)).verdict, BELLHOP_ACCEPTOR_REPLY);
	expect_said(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_PSN_SEQUENCE_ERROR, 1);
}

TEST_F(acceptor, receive__what_comes_early_is_kept_for_those_who_can_repair)
{
	const auto marked = [this](u32 ahead) {
		bellhop_transport transport = packet(ahead, BELLHOP_BTH_SEND_ONLY);

		transport.repairs = true;
		return transport;
	};
	bellhop_acceptor_plan plan = receive(marked(2));
	u32 place;

	ASSERT_EQ(plan.verdict, BELLHOP_ACCEPTOR_KEEP);
	expect_said(BELLHOP_SYNDROME_REPAIR, 1, 0);
	EXPECT_EQ(receive(marked(2)).verdict, BELLHOP_ACCEPTOR_DROP);
	EXPECT_EQ(receive(marked(4)).verdict, BELLHOP_ACCEPTOR_KEEP);
	EXPECT_TRUE(said().empty()) << "that has been said";
	EXPECT_FALSE(bellhop_acceptor_resume(&a, &place));
	EXPECT_EQ(receive(marked(0)).verdict, BELLHOP_ACCEPTOR_EXECUTE);
	EXPECT_FALSE(bellhop_acceptor_resume(&a, &place));
	said();
	EXPECT_EQ(receive(marked(1)).verdict, BELLHOP_ACCEPTOR_EXECUTE);
	ASSERT_TRUE(bellhop_acceptor_resume(&a, &place));
	EXPECT_EQ(place, plan.place);
	EXPECT_EQ(receive(marked(2)).verdict, BELLHOP_ACCEPTOR_EXECUTE);
	said();
	EXPECT_FALSE(bellhop_acceptor_resume(&a, &place));
	expect_said(BELLHOP_SYNDROME_REPAIR, 0, 3);
}

TEST_F(acceptor, receive__a_repair_has_an_end)
{
	bellhop_transport transport = packet(100, BELLHOP_BTH_SEND_ONLY);
	u32 place;

	transport.repairs = true;
	ASSERT_EQ(receive(transport).verdict, BELLHOP_ACCEPTOR_KEEP);
	expect_said(BELLHOP_SYNDROME_REPAIR, 31, 0);
	for (u32 i = 0; i < 32; i++) {
		receive(packet(i, BELLHOP_BTH_SEND_ONLY));
		said();
		EXPECT_FALSE(bellhop_acceptor_resume(&a, &place));
	}
	expect_said(BELLHOP_SYNDROME_REPAIR, 31, 32);
	transport = packet(32 + BELLHOP_STASH_PLACES, BELLHOP_BTH_SEND_ONLY);
	transport.repairs = true;
	EXPECT_EQ(receive(transport).verdict, BELLHOP_ACCEPTOR_DROP) << "too far";
}

TEST_F(acceptor, receive__nothing_is_kept_behind_what_was_not_ready)
{
	bellhop_transport transport = packet(0, BELLHOP_BTH_SEND_ONLY);

	transport.repairs = true;
	ASSERT_EQ(bellhop_acceptor_receive(&a, &transport).verdict, BELLHOP_ACCEPTOR_EXECUTE);
	bellhop_acceptor_refuse(&a, BELLHOP_REASON_RNR, 3);
	expect_said(BELLHOP_SYNDROME_RNR_NAK, 3, 0);
	transport.psn = bellhop_psn_add(kPsn, 1);
	EXPECT_EQ(receive(transport).verdict, BELLHOP_ACCEPTOR_DROP);
	EXPECT_TRUE(said().empty());
}

TEST_F(acceptor, lose__is_as_if_it_had_not_come)
{
	bellhop_transport transport = packet(1, BELLHOP_BTH_SEND_ONLY);
	u32 place;

	transport.repairs = true;
	bellhop_acceptor_lose(&a, receive(transport).place);
	receive(packet(0, BELLHOP_BTH_SEND_ONLY));
	EXPECT_FALSE(bellhop_acceptor_resume(&a, &place));
}

TEST_F(acceptor, receive__what_was_here_is_acknowledged_and_not_executed)
{
	receive(packet(0, BELLHOP_BTH_SEND_ONLY, 5));
	receive(packet(1, BELLHOP_BTH_SEND_ONLY, 5));
	said();
	EXPECT_EQ(receive(packet(0, BELLHOP_BTH_SEND_ONLY, 5)).verdict, BELLHOP_ACCEPTOR_REPLY);
	expect_said(BELLHOP_SYNDROME_ACK, BELLHOP_SYNDROME_NO_CREDITS, 1);
	EXPECT_EQ(a.msn, 2u);
}

TEST_F(acceptor, receive__breaks_of_the_rules)
{
	const bellhop_transport wrong[] = {
		packet(0, BELLHOP_BTH_SEND_MIDDLE, kMtu), /* nothing has begun */
		packet(0, BELLHOP_BTH_SEND_LAST, 1),
		packet(0, BELLHOP_BTH_SEND_FIRST, kMtu - 4), /* not full */
		packet(0, BELLHOP_BTH_SEND_ONLY, kMtu + 4), /* more than full */
		addressed(0, BELLHOP_BTH_WRITE_ONLY, 8, 4), /* not what it says */
		addressed(0, BELLHOP_BTH_WRITE_FIRST, kMtu, kMtu), /* nothing is left */
		addressed(0, BELLHOP_BTH_WRITE_FIRST, BELLHOP_MAX_MESSAGE + 1, kMtu),
		addressed(0, BELLHOP_BTH_READ_REQUEST, BELLHOP_MAX_MESSAGE + 1),
		addressed(0, BELLHOP_BTH_ATOMIC_WRITE, 4, 4),
		addressed(0, BELLHOP_BTH_FLUSH, 8),
	};

	for (const bellhop_transport &transport : wrong) {
		begin(BELLHOP_SERVICE_RC);
		const bellhop_acceptor_plan plan = receive(transport);

		EXPECT_EQ(plan.verdict, BELLHOP_ACCEPTOR_REFUSE) << int(transport.opcode);
		EXPECT_EQ(plan.reason, BELLHOP_REASON_SEQUENCE);
		expect_said(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_INVALID_REQUEST, 0);
	}
}

TEST_F(acceptor, receive__nothing_comes_between_the_packets_of_a_message)
{
	const bellhop_transport wrong[] = {
		packet(1, BELLHOP_BTH_SEND_FIRST, kMtu),
		packet(1, BELLHOP_BTH_SEND_ONLY, 1),
		packet(1, BELLHOP_BTH_WRITE_MIDDLE, kMtu),
		packet(1, BELLHOP_BTH_SEND_LAST, 0), /* nor does it end with nothing */
		addressed(1, BELLHOP_BTH_READ_REQUEST, 1),
		addressed(1, BELLHOP_BTH_FETCH_ADD, 0),
	};

	for (const bellhop_transport &transport : wrong) {
		begin(BELLHOP_SERVICE_RC);
		receive(packet(0, BELLHOP_BTH_SEND_FIRST, kMtu));
		EXPECT_EQ(receive(transport).verdict, BELLHOP_ACCEPTOR_REFUSE)
			<< int(transport.opcode);
	}
}

TEST_F(acceptor, receive__a_write_ends_where_it_said)
{
	for (u32 last : { 2u, 4u }) {
		begin(BELLHOP_SERVICE_RC);
		receive(addressed(0, BELLHOP_BTH_WRITE_FIRST, kMtu + 3, kMtu));
		EXPECT_EQ(receive(packet(1, BELLHOP_BTH_WRITE_LAST, last)).verdict,
			  BELLHOP_ACCEPTOR_REFUSE)
			<< last;
	}
	begin(BELLHOP_SERVICE_RC);
	receive(addressed(0, BELLHOP_BTH_WRITE_FIRST, kMtu + 3, kMtu));
	EXPECT_EQ(receive(packet(1, BELLHOP_BTH_WRITE_MIDDLE, kMtu)).verdict,
		  BELLHOP_ACCEPTOR_REFUSE);
}

TEST_F(acceptor, receive__another_service_is_nobodys)
{
	bellhop_transport transport = packet(0, BELLHOP_BTH_SEND_ONLY);

	transport.opcode = BELLHOP_BTH_UC | BELLHOP_BTH_SEND_ONLY;
	EXPECT_EQ(receive(transport).verdict, BELLHOP_ACCEPTOR_DROP);
	transport.opcode = BELLHOP_BTH_CNP;
	EXPECT_EQ(receive(transport).verdict, BELLHOP_ACCEPTOR_DROP);
	EXPECT_TRUE(said().empty());
}

TEST_F(acceptor, receive__a_full_queue_of_answers_takes_no_request)
{
	for (u32 i = 0; i < queue.size(); i++)
		EXPECT_EQ(receive(addressed(i, BELLHOP_BTH_READ_REQUEST, 1)).verdict,
			  BELLHOP_ACCEPTOR_EXECUTE);
	EXPECT_EQ(receive(addressed(u32(queue.size()), BELLHOP_BTH_READ_REQUEST, 1)).verdict,
		  BELLHOP_ACCEPTOR_DROP);
	EXPECT_EQ(said().size(), queue.size());
	EXPECT_EQ(receive(addressed(u32(queue.size()), BELLHOP_BTH_READ_REQUEST, 1)).verdict,
		  BELLHOP_ACCEPTOR_EXECUTE);
}

TEST_F(acceptor, receive__a_read_takes_as_many_numbers_as_its_answer)
{
	receive(addressed(0, BELLHOP_BTH_READ_REQUEST, 3 * kMtu + 1));
	EXPECT_EQ(a.expected, bellhop_psn_add(kPsn, 4));
	const auto packets = said();

	ASSERT_EQ(packets.size(), 4u);
	EXPECT_EQ(packets[0].opcode, BELLHOP_BTH_READ_RESPONSE_FIRST);
	EXPECT_EQ(packets[1].opcode, BELLHOP_BTH_READ_RESPONSE_MIDDLE);
	EXPECT_EQ(packets[3].opcode, BELLHOP_BTH_READ_RESPONSE_LAST);
	EXPECT_EQ(packets[3].address, 0x10000u + 3 * kMtu);
	EXPECT_EQ(packets[3].bytes, 1u);
	EXPECT_EQ(packets[3].psn, bellhop_psn_add(kPsn, 3));
}

TEST_F(acceptor, receive__a_part_of_a_read_is_repeated)
{
	receive(addressed(0, BELLHOP_BTH_READ_REQUEST, 3 * kMtu + 1));
	said();
	bellhop_transport again = addressed(2, BELLHOP_BTH_READ_REQUEST, kMtu + 1);

	again.address += 2 * kMtu;
	EXPECT_EQ(receive(again).verdict, BELLHOP_ACCEPTOR_REPLY);
	const auto packets = said();

	ASSERT_EQ(packets.size(), 2u);
	EXPECT_EQ(packets[0].opcode, BELLHOP_BTH_READ_RESPONSE_FIRST);
	EXPECT_EQ(packets[0].psn, bellhop_psn_add(kPsn, 2));
	EXPECT_EQ(packets[1].bytes, 1u);
}

TEST_F(acceptor, receive__what_is_no_part_of_a_read_is_not)
{
	receive(addressed(0, BELLHOP_BTH_READ_REQUEST, 3 * kMtu + 1));
	said();
	bellhop_transport wrong[] = {
		addressed(0, BELLHOP_BTH_READ_REQUEST, 3 * kMtu + 2), /* longer */
		addressed(1, BELLHOP_BTH_READ_REQUEST, kMtu), /* from another place */
		addressed(3, BELLHOP_BTH_READ_REQUEST, 2),
		addressed(0, BELLHOP_BTH_READ_REQUEST, 1),
		addressed(0, BELLHOP_BTH_FETCH_ADD, 0),
	};
	wrong[2].address += 3 * kMtu; /* behind its end */
	wrong[3].rkey++;

	for (const bellhop_transport &transport : wrong)
		EXPECT_EQ(receive(transport).verdict, BELLHOP_ACCEPTOR_DROP) << &transport - wrong;
	EXPECT_TRUE(said().empty());
}

TEST_F(acceptor, receive__an_atomic_operation_is_executed_once)
{
	EXPECT_EQ(receive(addressed(0, BELLHOP_BTH_FETCH_ADD, 0), 41).verdict,
		  BELLHOP_ACCEPTOR_EXECUTE);
	EXPECT_EQ(receive(addressed(1, BELLHOP_BTH_ATOMIC_WRITE, 8, 8)).verdict,
		  BELLHOP_ACCEPTOR_EXECUTE);
	said();
	EXPECT_EQ(receive(addressed(0, BELLHOP_BTH_FETCH_ADD, 0)).verdict, BELLHOP_ACCEPTOR_REPLY);
	EXPECT_EQ(receive(addressed(1, BELLHOP_BTH_ATOMIC_WRITE, 8, 8)).verdict,
		  BELLHOP_ACCEPTOR_REPLY);
	const auto packets = said();

	ASSERT_EQ(packets.size(), 2u);
	EXPECT_EQ(packets[0].opcode, BELLHOP_BTH_ATOMIC_ACKNOWLEDGE);
	EXPECT_EQ(packets[0].original, 41u);
	EXPECT_EQ(packets[1].opcode, BELLHOP_BTH_READ_RESPONSE_ONLY);
	EXPECT_EQ(packets[1].bytes, 0u);
}

TEST_F(acceptor, receive__no_more_is_kept_than_was_agreed)
{
	for (u32 i = 0; i < 3; i++) {
		receive(addressed(i, BELLHOP_BTH_FETCH_ADD, 0), i);
		said();
	}
	EXPECT_EQ(receive(addressed(0, BELLHOP_BTH_FETCH_ADD, 0)).verdict, BELLHOP_ACCEPTOR_DROP);
	EXPECT_EQ(receive(addressed(1, BELLHOP_BTH_FETCH_ADD, 0)).verdict, BELLHOP_ACCEPTOR_REPLY);
}

TEST_F(acceptor, refuse__not_ready_is_said_and_waited_for)
{
	const bellhop_transport send = packet(0, BELLHOP_BTH_SEND_ONLY, 1);

	ASSERT_EQ(bellhop_acceptor_receive(&a, &send).verdict, BELLHOP_ACCEPTOR_EXECUTE);
	bellhop_acceptor_refuse(&a, BELLHOP_REASON_RNR, 12);
	EXPECT_EQ(receive(packet(1, BELLHOP_BTH_SEND_ONLY, 1)).verdict, BELLHOP_ACCEPTOR_DROP);
	expect_said(BELLHOP_SYNDROME_RNR_NAK, 12, 0);
	EXPECT_EQ(receive(send).verdict, BELLHOP_ACCEPTOR_EXECUTE);
	EXPECT_EQ(a.msn, 1u);
}

TEST_F(acceptor, refuse__each_reason_has_its_code)
{
	const struct {
		bellhop_reason reason;
		u32 code;
	} codes[] = {
		{ BELLHOP_REASON_QP_ACCESS, BELLHOP_NAK_INVALID_REQUEST },
		{ BELLHOP_REASON_RECV_TOO_SHORT, BELLHOP_NAK_INVALID_REQUEST },
		{ BELLHOP_REASON_RKEY_RANGE, BELLHOP_NAK_REMOTE_ACCESS_ERROR },
		{ BELLHOP_REASON_LKEY_RANGE, BELLHOP_NAK_REMOTE_OPERATIONAL_ERROR },
	};
	const bellhop_transport send = packet(0, BELLHOP_BTH_SEND_ONLY, 1);

	for (const auto &with : codes) {
		begin(BELLHOP_SERVICE_RC);
		bellhop_acceptor_receive(&a, &send);
		bellhop_acceptor_refuse(&a, with.reason, 0);
		expect_said(BELLHOP_SYNDROME_NAK, with.code, 0);
	}
}

TEST_F(acceptor, refuse__as_if_it_had_not_come)
{
	const bellhop_transport send = packet(0, BELLHOP_BTH_SEND_ONLY, 1);

	bellhop_acceptor_receive(&a, &send);
	bellhop_acceptor_refuse(&a, BELLHOP_REASON_SILENT, 0);
	EXPECT_TRUE(said().empty());
	EXPECT_EQ(receive(send).verdict, BELLHOP_ACCEPTOR_EXECUTE);
}

TEST_F(acceptor, replies__a_read_that_fails_on_its_way_is_the_end)
{
	bellhop_reply_packet reply;

	receive(addressed(0, BELLHOP_BTH_READ_REQUEST, 3 * kMtu));
	receive(addressed(3, BELLHOP_BTH_READ_REQUEST, 1));
	ASSERT_TRUE(bellhop_replies_next(&a.replies, &reply));
	ASSERT_TRUE(bellhop_replies_next(&a.replies, &reply));
	bellhop_replies_refuse(
		&a.replies, &reply,
		bellhop_syndrome_encode(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_REMOTE_ACCESS_ERROR));
	expect_said(BELLHOP_SYNDROME_NAK, BELLHOP_NAK_REMOTE_ACCESS_ERROR, 1);
}

TEST_F(acceptor, unreliable__a_gap_loses_the_message)
{
	begin(BELLHOP_SERVICE_UC);
	receive(packet(0, BELLHOP_BTH_SEND_FIRST, kMtu));
	const bellhop_acceptor_plan plan = receive(packet(2, BELLHOP_BTH_SEND_LAST, 1));

	EXPECT_EQ(plan.verdict, BELLHOP_ACCEPTOR_DROP);
	EXPECT_TRUE(plan.abandons);
	EXPECT_EQ(receive(packet(3, BELLHOP_BTH_SEND_MIDDLE, kMtu)).verdict, BELLHOP_ACCEPTOR_DROP);
	EXPECT_EQ(receive(packet(5, BELLHOP_BTH_SEND_ONLY, 1)).verdict, BELLHOP_ACCEPTOR_EXECUTE);
	EXPECT_TRUE(said().empty());
}

TEST_F(acceptor, unreliable__the_next_message_ends_the_one_before)
{
	begin(BELLHOP_SERVICE_UC);
	receive(packet(0, BELLHOP_BTH_SEND_FIRST, kMtu));
	for (u32 ahead : { 1u, 9u }) {
		const bellhop_acceptor_plan plan =
			receive(packet(ahead, BELLHOP_BTH_SEND_FIRST, kMtu));

		EXPECT_EQ(plan.verdict, BELLHOP_ACCEPTOR_EXECUTE);
		EXPECT_TRUE(plan.abandons);
		EXPECT_EQ(plan.offset, 0u);
	}
	EXPECT_EQ(receive(packet(10, BELLHOP_BTH_SEND_LAST, 1)).offset, kMtu);
}

TEST_F(acceptor, unreliable__what_comes_twice_is_executed_once)
{
	begin(BELLHOP_SERVICE_UC);
	receive(packet(0, BELLHOP_BTH_SEND_FIRST, kMtu));
	EXPECT_EQ(receive(packet(0, BELLHOP_BTH_SEND_FIRST, kMtu)).verdict, BELLHOP_ACCEPTOR_DROP);
	EXPECT_EQ(receive(packet(1, BELLHOP_BTH_SEND_LAST, 1)).verdict, BELLHOP_ACCEPTOR_EXECUTE);
	EXPECT_EQ(receive(packet(1, BELLHOP_BTH_SEND_ONLY, 1)).verdict, BELLHOP_ACCEPTOR_DROP);
	/* So far behind that it is ahead. */
	EXPECT_EQ(receive(packet(1u << 23, BELLHOP_BTH_SEND_ONLY, 1)).verdict,
		  BELLHOP_ACCEPTOR_EXECUTE);
}

TEST_F(acceptor, unreliable__a_refusal_loses_the_message)
{
	const bellhop_transport send = packet(0, BELLHOP_BTH_SEND_FIRST, kMtu);

	begin(BELLHOP_SERVICE_UC);
	bellhop_acceptor_receive(&a, &send);
	bellhop_acceptor_refuse(&a, BELLHOP_REASON_RNR, 0);
	EXPECT_EQ(receive(packet(1, BELLHOP_BTH_SEND_LAST, 1)).verdict, BELLHOP_ACCEPTOR_DROP);
	EXPECT_EQ(receive(packet(2, BELLHOP_BTH_SEND_ONLY, 1)).verdict, BELLHOP_ACCEPTOR_EXECUTE);
}
