// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe_test.cpp: what wqe.hpp writes, read by the kernel's decoder.
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include "kernel_end.hpp"
#include "wqe.hpp"

namespace
{

constexpr bellhop::WqeLimits LIMITS = { .max_sge = 4, .max_inline = 64 };
constexpr bellhop_wqe_limits KERNEL_LIMITS = { 4, 64, BELLHOP_SERVICE_RC };
constexpr ibv_wr_opcode OPCODES[] = {
	IBV_WR_RDMA_WRITE,    IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND,
	IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_READ,
};

bool has_remote(ibv_wr_opcode opcode)
{
	return opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM;
}

bool has_imm(ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND_WITH_IMM;
}

class WqeTest : public testing::Test
{
protected:
	WqeTest()
	{
		for (std::uint32_t i = 0; i < sges_.size(); i++)
			sges_[i] = { .addr = 0x1111111100000000ULL + i,
				     .length = 100 + i,
				     .lkey = 0x80000000 + i };
		wr_.wr_id = 42;
		wr_.sg_list = sges_.data();
		wr_.num_sge = 1;
		wr_.opcode = IBV_WR_SEND;
		wr_.imm_data = 0x04030201;
		wr_.wr.rdma.remote_addr = 0xaaaabbbbccccdddd;
		wr_.wr.rdma.rkey = 0x12345678;
		slot_.fill(0xff);
	}

	int encode()
	{
		return bellhop::encode_send(slot_.data(), wr_, LIMITS);
	}

	// What the kernel makes of it.
	bellhop_send_wqe decode()
	{
		bellhop_send_wqe wqe{};

		reason_ = bellhop_wqe_decode_send(&wqe, slot_.data(), &KERNEL_LIMITS);
		return wqe;
	}

	void inline_bytes(void *from, std::uint32_t length)
	{
		sges_[0] = { .addr = reinterpret_cast<std::uintptr_t>(from),
			     .length = length,
			     .lkey = 0 };
		wr_.num_sge = 1;
		wr_.send_flags |= IBV_SEND_INLINE;
	}

	std::array<ibv_sge, 5> sges_{};
	ibv_send_wr wr_{};
	alignas(64) std::array<unsigned char, 192> slot_;
	bellhop_reason reason_ = BELLHOP_REASON_NONE;
};

TEST_F(WqeTest, EveryOpcodeArrivesWithItsFieldsAndNoOthers)
{
	for (ibv_wr_opcode opcode : OPCODES) {
		slot_.fill(0xff);
		wr_.opcode = opcode;
		ASSERT_EQ(encode(), 0);
		bellhop_send_wqe wqe = decode();

		ASSERT_EQ(reason_, BELLHOP_REASON_NONE) << opcode;
		EXPECT_EQ(wqe.head.opcode, opcode);
		EXPECT_EQ(wqe.head.flags, 0);
		EXPECT_EQ(wqe.head.num_sge, 1);
		EXPECT_EQ(wqe.head.inline_length, 0U);
		EXPECT_EQ(wqe.head.ex, has_imm(opcode) ? wr_.imm_data : 0);
		EXPECT_EQ(wqe.head.rkey, has_remote(opcode) ? wr_.wr.rdma.rkey : 0);
		EXPECT_EQ(wqe.head.remote_addr, has_remote(opcode) ? wr_.wr.rdma.remote_addr : 0);
		EXPECT_EQ(wqe.head.reserved, 0U);
		EXPECT_EQ(wqe.length, 100U);
		EXPECT_EQ(wqe.sge[0].addr, sges_[0].addr);
		EXPECT_EQ(wqe.sge[0].lkey, sges_[0].lkey);
	}
}

TEST_F(WqeTest, EveryCombinationOfFlagsArrives)
{
	for (ibv_wr_opcode opcode : OPCODES)
		for (unsigned int flags = 0; flags < IBV_SEND_INLINE; flags++) {
			wr_.opcode = opcode;
			wr_.send_flags = flags;
			ASSERT_EQ(encode(), 0);
			EXPECT_EQ(decode().head.flags, flags);
			EXPECT_EQ(reason_, BELLHOP_REASON_NONE);
		}
}

TEST_F(WqeTest, ElementsArriveInOrder)
{
	for (int num_sge = 0; num_sge <= 4; num_sge++) {
		wr_.num_sge = num_sge;
		ASSERT_EQ(encode(), 0);
		bellhop_send_wqe wqe = decode();

		ASSERT_EQ(reason_, BELLHOP_REASON_NONE);
		ASSERT_EQ(wqe.head.num_sge, num_sge);
		EXPECT_EQ(std::memcmp(wqe.sge, sges_.data(), num_sge * sizeof(ibv_sge)), 0);
	}
}

TEST_F(WqeTest, RefusesMoreElementsThanTheQueueHas)
{
	wr_.num_sge = 5;
	EXPECT_EQ(encode(), EINVAL);
	wr_.num_sge = -1;
	EXPECT_EQ(encode(), EINVAL);
}

TEST_F(WqeTest, RefusesOpcodesThatItDoesNotHave)
{
	for (int opcode : { 10, 11, 12, 255, 256, -1 }) {
		wr_.opcode = static_cast<ibv_wr_opcode>(opcode);
		EXPECT_EQ(encode(), EINVAL) << opcode;
	}
}

TEST_F(WqeTest, RefusesFlagsThatItDoesNotHave)
{
	wr_.send_flags = IBV_SEND_IP_CSUM;
	EXPECT_EQ(encode(), EINVAL);
	wr_.send_flags = 1U << 8;
	EXPECT_EQ(encode(), EINVAL);
}

TEST_F(WqeTest, InlineBytesAreGathered)
{
	char text[] = "the bellhop carries your bags";

	inline_bytes(text, 4);
	sges_[1] = { .addr = 0, .length = 0, .lkey = 0 };
	sges_[2] = { .addr = reinterpret_cast<std::uintptr_t>(text + 4), .length = 7, .lkey = 0 };
	wr_.num_sge = 3;
	ASSERT_EQ(encode(), 0);
	bellhop_send_wqe wqe = decode();

	ASSERT_EQ(reason_, BELLHOP_REASON_NONE);
	EXPECT_EQ(wqe.head.num_sge, 0);
	EXPECT_EQ(wqe.length, 11U);
	EXPECT_EQ(std::memcmp(wqe.data, "the bellhop", 11), 0);
}

TEST_F(WqeTest, InlineTakesAllThatFitsAndNoByteMore)
{
	std::array<char, 65> bytes;

	bytes.fill('b');
	inline_bytes(bytes.data(), 64);
	ASSERT_EQ(encode(), 0);
	EXPECT_EQ(decode().length, 64U);
	EXPECT_EQ(reason_, BELLHOP_REASON_NONE);

	inline_bytes(bytes.data(), 65);
	EXPECT_EQ(encode(), EINVAL);
}

TEST_F(WqeTest, InlineLengthsDoNotWrap)
{
	std::array<char, 64> bytes{};

	inline_bytes(bytes.data(), 16);
	sges_[1] = { .addr = sges_[0].addr, .length = 0xfffffff8, .lkey = 0 };
	wr_.num_sge = 2;
	EXPECT_EQ(encode(), EINVAL) << "16 + 0xfffffff8 is 8 in 32 bits";
}

TEST_F(WqeTest, RefusesAnInlineRead)
{
	char byte = 0;

	inline_bytes(&byte, 1);
	wr_.opcode = IBV_WR_RDMA_READ;
	EXPECT_EQ(encode(), EINVAL);
}

TEST(RecvWqe, ElementsArriveInOrder)
{
	std::array<ibv_sge, 5> sges;
	alignas(32) std::array<unsigned char, 96> slot;
	ibv_recv_wr wr{};

	for (std::uint32_t i = 0; i < sges.size(); i++)
		sges[i] = { .addr = 0x1000 * i, .length = i, .lkey = ~i };
	wr.sg_list = sges.data();
	for (wr.num_sge = 0; wr.num_sge <= 4; wr.num_sge++) {
		bellhop_recv_wqe wqe{};

		slot.fill(0xff);
		ASSERT_EQ(bellhop::encode_recv(slot.data(), wr, LIMITS), 0);
		ASSERT_EQ(bellhop_wqe_decode_recv(&wqe, slot.data(), &KERNEL_LIMITS),
			  BELLHOP_REASON_NONE);
		ASSERT_EQ(wqe.num_sge, static_cast<std::uint32_t>(wr.num_sge));
		EXPECT_EQ(std::memcmp(wqe.sge, sges.data(), wr.num_sge * sizeof(ibv_sge)), 0);
	}
	EXPECT_EQ(bellhop::encode_recv(slot.data(), wr, LIMITS), EINVAL) << "five";
	wr.num_sge = -1;
	EXPECT_EQ(bellhop::encode_recv(slot.data(), wr, LIMITS), EINVAL);
}

} // namespace
