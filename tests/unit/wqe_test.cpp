// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe_test.cpp: wqe.c: entries, their heads, and their payload.
#include <gtest/gtest.h>
#include "wqe_slot.hpp"

namespace
{

bool is_atomic(u8 opcode)
{
	return bellhop_opcode_row(opcode)->traits & BELLHOP_OP_ATOMIC;
}

bellhop_rqe recv_head(u32 num_sge)
{
	bellhop_rqe head{};

	head.num_sge = num_sge;
	return head;
}

bool is_word(u8 opcode)
{
	return bellhop_opcode_row(opcode)->traits & BELLHOP_OP_WORD;
}

// An entry that is right, with as little in it as can be.
bellhop_sqe least_head(u8 opcode, u8 flags = 0)
{
	const bool is_inline_word = is_word(opcode) && (flags & BELLHOP_SQE_INLINE);

	return send_head(opcode, flags, is_atomic(opcode),
			 is_inline_word ? BELLHOP_ATOMIC_BYTES : 0);
}

bellhop_reason decode_least(bellhop_send_wqe &wqe, const bellhop_sqe &head)
{
	SendSlot slot{ bellhop_wqe_send_stride(&kLimits) };
	const bellhop_sge element = { 0x1000, BELLHOP_ATOMIC_BYTES, 1 };

	slot.set_head(head);
	if (is_atomic(head.opcode))
		std::memcpy(slot.payload(), &element, sizeof(element));
	std::memset(&wqe, 0xa5, sizeof(wqe));
	return bellhop_wqe_decode_send(&wqe, slot.bytes(), &kLimits);
}

} // namespace

TEST(wqe, send_stride__holds_the_entry_in_whole_cache_lines)
{
	struct {
		bellhop_wqe_limits limits;
		u32 stride;
	} const cases[] = {
		{ { 0, 0, BELLHOP_SERVICE_RC }, 64 },	 { { 1, 0, BELLHOP_SERVICE_RC }, 64 },
		{ { 2, 0, BELLHOP_SERVICE_RC }, 64 },	 { { 3, 0, BELLHOP_SERVICE_RC }, 128 },
		{ { 1, 32, BELLHOP_SERVICE_RC }, 64 },	 { { 1, 33, BELLHOP_SERVICE_RC }, 128 },
		{ { 0, 96, BELLHOP_SERVICE_RC }, 128 },	 { { 0, 97, BELLHOP_SERVICE_RC }, 192 },
		{ { 30, 0, BELLHOP_SERVICE_RC }, 512 },	 { { 31, 0, BELLHOP_SERVICE_RC }, 576 },
		{ { 32, 0, BELLHOP_SERVICE_RC }, 576 },	 { { 32, 512, BELLHOP_SERVICE_RC }, 576 },
		{ { 1, 512, BELLHOP_SERVICE_RC }, 576 }, { { 1, 480, BELLHOP_SERVICE_RC }, 512 },
		{ { 1, 481, BELLHOP_SERVICE_RC }, 576 }, { { 0, 0, BELLHOP_SERVICE_UD }, 64 },
		{ { 2, 0, BELLHOP_SERVICE_UD }, 128 },	 { { 0, 65, BELLHOP_SERVICE_UD }, 192 },
	};

	for (const auto &c : cases)
		EXPECT_EQ(bellhop_wqe_send_stride(&c.limits), c.stride)
			<< c.limits.max_sge << " elements, " << c.limits.max_inline << " inline";
}

TEST(wqe, send_stride__is_never_less_than_what_is_decoded)
{
	for (u32 max_sge = 0; max_sge <= BELLHOP_MAX_SGE; max_sge++) {
		for (u32 max_inline = 0; max_inline <= BELLHOP_MAX_INLINE; max_inline++) {
			bellhop_wqe_limits limits = { max_sge, max_inline, BELLHOP_SERVICE_RC };
			u32 stride = bellhop_wqe_send_stride(&limits);

			ASSERT_EQ(stride % 64, 0u);
			ASSERT_GE(stride, sizeof(bellhop_sqe) + max_sge * sizeof(bellhop_sge));
			ASSERT_GE(stride, sizeof(bellhop_sqe) + max_inline);
			ASSERT_LT(stride, 64 + sizeof(bellhop_sqe) +
						  std::max<size_t>(max_sge * sizeof(bellhop_sge),
								   max_inline));
		}
	}
}

TEST(wqe, inline_room__is_what_the_stride_has_anyway)
{
	for (bellhop_service service : { BELLHOP_SERVICE_RC, BELLHOP_SERVICE_UD }) {
		for (u32 max_sge = 0; max_sge <= BELLHOP_MAX_SGE; max_sge++) {
			for (u32 max_inline = 0; max_inline <= BELLHOP_MAX_INLINE; max_inline++) {
				bellhop_wqe_limits limits = { max_sge, max_inline, service };
				const u32 stride = bellhop_wqe_send_stride(&limits);
				const u32 room = bellhop_wqe_inline_room(&limits);

				ASSERT_GE(room, max_inline);
				ASSERT_LE(room, u32{ BELLHOP_MAX_INLINE });
				limits.max_inline = room;
				ASSERT_EQ(bellhop_wqe_send_stride(&limits), stride);
			}
		}
	}
	const bellhop_wqe_limits one = { 1, 0, BELLHOP_SERVICE_RC };
	EXPECT_EQ(bellhop_wqe_inline_room(&one), 32u);
}

TEST(wqe, recv_stride__holds_the_entry)
{
	struct {
		u32 max_sge, stride;
	} const cases[] = { { 0, 32 }, { 1, 32 }, { 2, 64 }, { 3, 64 }, { 31, 512 }, { 32, 544 } };

	for (const auto &c : cases) {
		bellhop_wqe_limits limits = { c.max_sge, 0, BELLHOP_SERVICE_RC };

		EXPECT_EQ(bellhop_wqe_recv_stride(&limits), c.stride) << c.max_sge;
	}
}

TEST(wqe, decode_send__copies_head_and_elements)
{
	SendSlot slot{ bellhop_wqe_send_stride(&kLimits) };
	bellhop_sqe head = send_head(BELLHOP_WR_RDMA_WRITE_WITH_IMM, BELLHOP_SQE_SIGNALED, 3);
	const bellhop_sge sges[] = { { 0x1000, 10, 1 }, { ~0ULL, 0, 2 }, { 0x3000, 7, 3 } };
	bellhop_send_wqe wqe;

	head.ex = 0x11223344;
	head.rkey = 0x80001234;
	head.remote_addr = 0xdeadbeef000;
	slot.set_head(head);
	for (u32 i = 0; i < 3; i++)
		slot.set_sge(i, sges[i]);

	std::vector<u8> before = slot.copy();
	ASSERT_EQ(bellhop_wqe_decode_send(&wqe, slot.bytes(), &kLimits), BELLHOP_REASON_NONE);
	EXPECT_EQ(std::memcmp(&wqe.head, &head, sizeof(head)), 0);
	EXPECT_EQ(std::memcmp(wqe.sge, sges, sizeof(sges)), 0);
	EXPECT_EQ(wqe.length, 17u);
	EXPECT_EQ(wqe.op, bellhop_opcode_row(BELLHOP_WR_RDMA_WRITE_WITH_IMM));
	EXPECT_EQ(slot.copy(), before);
}

TEST(wqe, decode_send__copies_inline_bytes_to_the_last)
{
	for (const bellhop_wqe_limits &limits :
	     { kLimits, kWidest, bellhop_wqe_limits{ 0, 32, BELLHOP_SERVICE_RC } }) {
		for (u32 length : { 0u, 1u, limits.max_inline - 1, limits.max_inline }) {
			SendSlot slot{ bellhop_wqe_send_stride(&limits) };
			bellhop_send_wqe wqe;

			slot.set_head(send_head(BELLHOP_WR_SEND, BELLHOP_SQE_INLINE, 0, length));
			for (u32 i = 0; i < length; i++)
				slot.payload()[i] = u8(i * 7 + 1);
			ASSERT_EQ(bellhop_wqe_decode_send(&wqe, slot.bytes(), &limits),
				  BELLHOP_REASON_NONE);
			EXPECT_EQ(wqe.length, length);
			EXPECT_EQ(std::memcmp(wqe.data, slot.payload(), length), 0);
		}
	}
}

TEST(wqe, decode_send__every_opcode_with_every_flag_it_takes)
{
	for (u8 opcode : opcodes()) {
		for (unsigned flags = 0; flags < 256; flags++) {
			bellhop_send_wqe wqe;
			bool taken = !(flags & ~unsigned(bellhop_opcode_row(opcode)->flags));

			EXPECT_EQ(decode_least(wqe, least_head(opcode, u8(flags))),
				  taken ? BELLHOP_REASON_NONE : BELLHOP_REASON_WR_FLAGS)
				<< int(opcode) << " with " << flags;
		}
	}
}

TEST(wqe, decode_send__each_fault_has_its_reason)
{
	constexpr u8 kInline = BELLHOP_SQE_INLINE;
	struct {
		bellhop_sqe head;
		bellhop_reason reason;
	} cases[] = {
		{ send_head(BELLHOP_OPCODES), BELLHOP_REASON_WR_OPCODE },
		{ send_head(0xff), BELLHOP_REASON_WR_OPCODE },
		{ send_head(BELLHOP_WR_SEND, 0x10), BELLHOP_REASON_WR_FLAGS },
		{ send_head(BELLHOP_WR_SEND, 0x80), BELLHOP_REASON_WR_FLAGS },
		{ send_head(BELLHOP_WR_RDMA_READ, kInline), BELLHOP_REASON_WR_FLAGS },
		{ send_head(BELLHOP_WR_SEND, 0, 4), BELLHOP_REASON_NONE },
		{ send_head(BELLHOP_WR_SEND, 0, 5), BELLHOP_REASON_WR_NUM_SGE },
		{ send_head(BELLHOP_WR_SEND, 0, 0xffff), BELLHOP_REASON_WR_NUM_SGE },
		{ send_head(BELLHOP_WR_SEND, 0, 1, 1), BELLHOP_REASON_WR_INLINE },
		{ send_head(BELLHOP_WR_SEND, kInline, 1), BELLHOP_REASON_WR_INLINE },
		{ send_head(BELLHOP_WR_SEND, kInline, 0, 64), BELLHOP_REASON_NONE },
		{ send_head(BELLHOP_WR_SEND, kInline, 0, 65), BELLHOP_REASON_WR_INLINE },
		{ send_head(BELLHOP_WR_SEND, kInline, 0, ~0u), BELLHOP_REASON_WR_INLINE },
		{ send_head(BELLHOP_WR_SEND), BELLHOP_REASON_WR_RESERVED },
		{ send_head(BELLHOP_WR_SEND), BELLHOP_REASON_WR_RESERVED },
	};

	cases[std::size(cases) - 1].head.reserved = 1u << 31;
	cases[std::size(cases) - 2].head.srqn = 1;
	for (const auto &c : cases) {
		bellhop_send_wqe wqe;

		EXPECT_EQ(decode(wqe, c.head), c.reason) << "case " << &c - cases;
		EXPECT_EQ(std::memcmp(&wqe.head, &c.head, sizeof(c.head)), 0);
		EXPECT_EQ(wqe.op, bellhop_opcode_row(c.head.opcode));
		if (c.reason != BELLHOP_REASON_NONE) {
			EXPECT_EQ(wqe.length, 0u);
		}
	}
}

TEST(wqe, decode_send__an_srq_has_24_bits_and_is_xrc_s)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		for (bellhop_service service : { BELLHOP_SERVICE_RC, BELLHOP_SERVICE_UC,
						 BELLHOP_SERVICE_UD, BELLHOP_SERVICE_XRC }) {
			const bellhop_wqe_limits limits = { 4, 64, service };
			bellhop_sqe head = send_head(BELLHOP_WR_SEND);
			const bool fits = service == BELLHOP_SERVICE_XRC && bit < 24;
			bellhop_send_wqe wqe;

			head.srqn = 1u << bit;
			EXPECT_EQ(decode(wqe, head, limits),
				  fits ? BELLHOP_REASON_NONE : BELLHOP_REASON_WR_RESERVED)
				<< bit << " of " << service;
			EXPECT_EQ(wqe.head.srqn, 1u << bit);
		}
	}
}

TEST(wqe, decode_send__what_an_opcode_does_not_use_is_zero)
{
	for (u8 opcode : opcodes()) {
		u16 traits = bellhop_opcode_row(opcode)->traits;
		bool is_remote = traits & BELLHOP_OP_REMOTE;
		bool has_ex = traits & (BELLHOP_OP_IMM | BELLHOP_OP_LOCAL | BELLHOP_OP_INVALIDATE);
		bellhop_sqe ex = least_head(opcode), rkey = ex, addr = ex;
		bellhop_send_wqe wqe;

		ex.ex = 1;
		rkey.rkey = 1U << 31;
		addr.remote_addr = 1ULL << 63;
		EXPECT_EQ(decode_least(wqe, ex) == BELLHOP_REASON_NONE, has_ex) << int(opcode);
		EXPECT_EQ(decode_least(wqe, rkey) == BELLHOP_REASON_NONE, is_remote) << int(opcode);
		EXPECT_EQ(decode_least(wqe, addr),
			  is_remote ? BELLHOP_REASON_NONE : BELLHOP_REASON_WR_RESERVED)
			<< int(opcode);
	}
}

TEST(wqe, decode_send__a_queue_without_elements_or_inline_takes_empty_messages_only)
{
	constexpr bellhop_wqe_limits none = { 0, 0, BELLHOP_SERVICE_RC };
	bellhop_send_wqe wqe;

	EXPECT_EQ(decode(wqe, send_head(BELLHOP_WR_SEND), none), BELLHOP_REASON_NONE);
	EXPECT_EQ(wqe.length, 0u);
	EXPECT_EQ(decode(wqe, send_head(BELLHOP_WR_SEND, BELLHOP_SQE_INLINE), none),
		  BELLHOP_REASON_NONE);
	EXPECT_EQ(decode(wqe, send_head(BELLHOP_WR_SEND, 0, 1), none), BELLHOP_REASON_WR_NUM_SGE);
	EXPECT_EQ(decode(wqe, send_head(BELLHOP_WR_SEND, BELLHOP_SQE_INLINE, 0, 1), none),
		  BELLHOP_REASON_WR_INLINE);
}

TEST(wqe, decode_send__a_message_is_2_gib_at_most_however_it_is_cut)
{
	struct {
		std::vector<u32> lengths;
		bellhop_reason reason;
	} const cases[] = {
		{ { BELLHOP_MAX_MESSAGE }, BELLHOP_REASON_NONE },
		{ { BELLHOP_MAX_MESSAGE + 1 }, BELLHOP_REASON_WR_LENGTH },
		{ { ~0u }, BELLHOP_REASON_WR_LENGTH },
		{ { BELLHOP_MAX_MESSAGE, 0 }, BELLHOP_REASON_NONE },
		{ { BELLHOP_MAX_MESSAGE, 1 }, BELLHOP_REASON_WR_LENGTH },
		{ { 1, BELLHOP_MAX_MESSAGE - 1 }, BELLHOP_REASON_NONE },
		/* sums that are small when they wrap at 2^32 */
		{ { BELLHOP_MAX_MESSAGE, BELLHOP_MAX_MESSAGE }, BELLHOP_REASON_WR_LENGTH },
		{ { ~0u, 1 }, BELLHOP_REASON_WR_LENGTH },
		{ std::vector<u32>(32, 1u << 27), BELLHOP_REASON_WR_LENGTH },
		{ std::vector<u32>(32, 1u << 26), BELLHOP_REASON_NONE },
		{ std::vector<u32>(32, ~0u), BELLHOP_REASON_WR_LENGTH },
	};

	for (const auto &c : cases) {
		SendSlot slot{ bellhop_wqe_send_stride(&kWidest) };
		bellhop_send_wqe wqe;
		u64 sum = 0;

		slot.set_head(send_head(BELLHOP_WR_SEND, 0, u16(c.lengths.size())));
		for (u32 i = 0; i < c.lengths.size(); i++) {
			slot.set_sge(i, { 0x1000, c.lengths[i], 1 });
			sum += c.lengths[i];
		}
		ASSERT_EQ(bellhop_wqe_decode_send(&wqe, slot.bytes(), &kWidest), c.reason)
			<< "case " << &c - cases;
		EXPECT_EQ(wqe.length, c.reason ? 0 : sum);
	}
}

TEST(wqe, decode_recv__copies_the_elements)
{
	for (u32 num_sge : { 0u, 1u, 4u }) {
		RecvSlot slot{ bellhop_wqe_recv_stride(&kLimits) };
		bellhop_recv_wqe wqe;

		slot.set_head(recv_head(num_sge));
		for (u32 i = 0; i < num_sge; i++)
			slot.set_sge(i, { 0x1000 * i, i + 1, i * 2 });
		ASSERT_EQ(bellhop_wqe_decode_recv(&wqe, slot.bytes(), &kLimits),
			  BELLHOP_REASON_NONE);
		EXPECT_EQ(wqe.num_sge, num_sge);
		EXPECT_EQ(wqe.length, num_sge * (num_sge + 1) / 2);
		EXPECT_EQ(std::memcmp(wqe.sge, slot.payload(), num_sge * sizeof(bellhop_sge)), 0);
	}
}

TEST(wqe, decode_recv__may_hold_more_than_any_message)
{
	RecvSlot slot{ bellhop_wqe_recv_stride(&kWidest) };
	bellhop_recv_wqe wqe;

	slot.set_head(recv_head(BELLHOP_MAX_SGE));
	for (u32 i = 0; i < BELLHOP_MAX_SGE; i++)
		slot.set_sge(i, { 0, ~0u, 1 });
	ASSERT_EQ(bellhop_wqe_decode_recv(&wqe, slot.bytes(), &kWidest), BELLHOP_REASON_NONE);
	EXPECT_EQ(wqe.length, BELLHOP_MAX_SGE * 0xffffffffULL);
}

TEST(wqe, decode_recv__each_fault_has_its_reason)
{
	struct {
		bellhop_rqe head;
		bellhop_reason reason;
	} const cases[] = {
		{ { 4, 0, 0 }, BELLHOP_REASON_NONE },
		{ { 4, 0, ~0ULL }, BELLHOP_REASON_NONE },
		{ { 5, 0, 0 }, BELLHOP_REASON_WR_NUM_SGE },
		{ { ~0u, 0, 0 }, BELLHOP_REASON_WR_NUM_SGE },
		{ { 0x10000001, 0, 0 }, BELLHOP_REASON_WR_NUM_SGE },
		{ { 1, 1, 0 }, BELLHOP_REASON_WR_RESERVED },
		{ { 1, 1u << 31, 0 }, BELLHOP_REASON_WR_RESERVED },
	};

	for (const auto &c : cases) {
		RecvSlot slot{ bellhop_wqe_recv_stride(&kLimits) };
		bellhop_recv_wqe wqe;

		std::memset(&wqe, 0xa5, sizeof(wqe));
		slot.set_head(c.head);
		EXPECT_EQ(bellhop_wqe_decode_recv(&wqe, slot.bytes(), &kLimits), c.reason)
			<< "case " << &c - cases;
		EXPECT_EQ(wqe.num_sge, c.reason ? 0 : c.head.num_sge);
		EXPECT_EQ(wqe.length, 0u);
	}
}

TEST(wqe, status__too_long_is_a_length_error_and_the_rest_operation_errors)
{
	EXPECT_EQ(bellhop_wqe_status(BELLHOP_REASON_WR_LENGTH), BELLHOP_WC_LOC_LEN_ERR);
	for (bellhop_reason reason :
	     { BELLHOP_REASON_WR_OPCODE, BELLHOP_REASON_WR_FLAGS, BELLHOP_REASON_WR_NUM_SGE,
	       BELLHOP_REASON_WR_INLINE, BELLHOP_REASON_WR_RESERVED, BELLHOP_REASON_NO_RD_ATOMIC })
		EXPECT_EQ(bellhop_wqe_status(reason), BELLHOP_WC_LOC_QP_OP_ERR) << reason;
}
