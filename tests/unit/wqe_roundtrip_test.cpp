// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe_roundtrip_test.cpp: what the library encodes (C++) is what the kernel decodes (C).
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "wqe.hpp"
extern "C" {
#include "wqe.h"
}

namespace
{

constexpr bellhop_wqe_limits kEdges[] = {
	{ 0, 0, BELLHOP_SERVICE_RC },  { 1, 0, BELLHOP_SERVICE_RC },
	{ 1, 32, BELLHOP_SERVICE_RC }, { 3, 100, BELLHOP_SERVICE_RC },
	{ 32, 0, BELLHOP_SERVICE_RC }, { 32, 512, BELLHOP_SERVICE_RC },
};

bellhop::WqeLimits library_limits(const bellhop_wqe_limits &limits)
{
	return { limits.max_sge, limits.max_inline, static_cast<bellhop::Service>(limits.service) };
}

// Filled with what an earlier entry left, which must not matter.
std::unique_ptr<u8[]> used_slot(u32 stride)
{
	std::unique_ptr<u8[]> slot{ new u8[stride] };

	std::memset(slot.get(), 0xee, stride);
	return slot;
}

std::vector<ibv_sge> elements(u32 count)
{
	std::vector<ibv_sge> sges;

	for (u32 i = 0; i < count; i++)
		sges.push_back({ 0x1000'0000'0000ULL * i + 7, i * 3 + 1, i ^ 0x5555 });
	return sges;
}

ibv_send_wr send_request(u8 opcode, unsigned flags, std::vector<ibv_sge> &sges)
{
	ibv_send_wr wr{};

	wr.opcode = static_cast<ibv_wr_opcode>(opcode);
	wr.send_flags = flags;
	wr.sg_list = sges.data();
	wr.num_sge = int(sges.size());
	wr.imm_data = 0x01020304;
	wr.wr.rdma.rkey = 0x80112233;
	wr.wr.rdma.remote_addr = 0xfeed'0000'1234'5678ULL;
	return wr;
}

void expect_elements(const bellhop_sge *got, const std::vector<ibv_sge> &expected)
{
	for (size_t i = 0; i < expected.size(); i++) {
		EXPECT_EQ(got[i].addr, expected[i].addr);
		EXPECT_EQ(got[i].length, expected[i].length);
		EXPECT_EQ(got[i].lkey, expected[i].lkey);
	}
}

// Encodes and decodes; the result is the kernel's copy.
bellhop_send_wqe carry(const ibv_send_wr &wr, const bellhop_wqe_limits &limits)
{
	auto slot = used_slot(bellhop_wqe_send_stride(&limits));
	bellhop_send_wqe wqe{};

	EXPECT_EQ(bellhop::encode_send(slot.get(), wr, library_limits(limits)), 0);
	EXPECT_EQ(bellhop_wqe_decode_send(&wqe, slot.get(), &limits), BELLHOP_REASON_NONE);
	return wqe;
}

int encode(const ibv_send_wr &wr, const bellhop_wqe_limits &limits)
{
	auto slot = used_slot(bellhop_wqe_send_stride(&limits));

	return bellhop::encode_send(slot.get(), wr, library_limits(limits));
}

} // namespace

TEST(wqe_roundtrip, send__every_opcode_carries_what_it_uses_and_nothing_else)
{
	for (u8 opcode = 0; opcode <= BELLHOP_WR_RDMA_READ; opcode++) {
		std::vector<ibv_sge> sges = elements(2);
		ibv_send_wr wr = send_request(opcode, IBV_SEND_SIGNALED, sges);
		bellhop_send_wqe wqe = carry(wr, kEdges[3]);
		const bellhop_opcode *op = bellhop_opcode_row(opcode);
		bool remote = op->traits & BELLHOP_OP_REMOTE;

		SCOPED_TRACE(int(opcode));
		EXPECT_EQ(wqe.op, op);
		EXPECT_EQ(wqe.head.ex, op->traits & BELLHOP_OP_IMM ? wr.imm_data : 0);
		EXPECT_EQ(wqe.head.rkey, remote ? wr.wr.rdma.rkey : 0);
		EXPECT_EQ(wqe.head.remote_addr, remote ? wr.wr.rdma.remote_addr : 0);
	}
}

TEST(wqe_roundtrip, send__an_atomic_carries_its_operands)
{
	std::vector<ibv_sge> sges = { { 0x1000, BELLHOP_ATOMIC_BYTES, 5 } };

	for (u8 opcode : { BELLHOP_WR_ATOMIC_CMP_AND_SWP, BELLHOP_WR_ATOMIC_FETCH_AND_ADD }) {
		ibv_send_wr wr = send_request(opcode, IBV_SEND_SIGNALED, sges);

		wr.wr.atomic = { .remote_addr = 0xfeed'0000'1234'5678ULL,
				 .compare_add = 1,
				 .swap = ~0ULL,
				 .rkey = 0x80112233 };
		for (const bellhop_wqe_limits &limits :
		     { bellhop_wqe_limits{ 1, 0, BELLHOP_SERVICE_RC },
		       bellhop_wqe_limits{ 32, 512, BELLHOP_SERVICE_RC } }) {
			bellhop_send_wqe wqe = carry(wr, limits);

			EXPECT_EQ(wqe.head.rkey, wr.wr.atomic.rkey);
			EXPECT_EQ(wqe.head.remote_addr, wr.wr.atomic.remote_addr);
			EXPECT_EQ(wqe.head.ex, 0u);
			EXPECT_EQ(wqe.operands.compare_add, 1u);
			/* What adds has no use for it, whatever the program has left there. */
			EXPECT_EQ(wqe.operands.swap,
				  opcode == BELLHOP_WR_ATOMIC_CMP_AND_SWP ? ~0ULL : 0);
			expect_elements(wqe.sge, sges);
		}
	}
}

TEST(wqe_roundtrip, send__a_key_to_be_invalidated)
{
	for (u8 opcode : { BELLHOP_WR_LOCAL_INV, BELLHOP_WR_SEND_WITH_INV }) {
		std::vector<ibv_sge> sges = elements(2);
		ibv_send_wr wr = send_request(opcode, IBV_SEND_SIGNALED, sges);
		const bool is_send = opcode == BELLHOP_WR_SEND_WITH_INV;

		wr.invalidate_rkey = 0x80112233;
		bellhop_send_wqe wqe = carry(wr, kEdges[3]);

		EXPECT_EQ(wqe.head.ex, 0x80112233u);
		EXPECT_EQ(wqe.head.rkey, 0u);
		EXPECT_EQ(wqe.head.remote_addr, 0u);
		EXPECT_EQ(wqe.head.num_sge, is_send ? 2 : 0);
		if (is_send)
			expect_elements(wqe.sge, sges);
	}
}

TEST(wqe_roundtrip, send__a_bind)
{
	std::vector<ibv_sge> none;
	ibv_mr mr{};
	ibv_mw mw{};
	ibv_send_wr wr = send_request(BELLHOP_WR_BIND_MW, IBV_SEND_SIGNALED, none);

	mr.lkey = 0x55;
	mw.type = IBV_MW_TYPE_2;
	mw.rkey = 0x80112233;
	for (const bellhop_wqe_limits &limits : kEdges) {
		wr.bind_mw = { &mw, 0x80112299, { &mr, 0x1000, ~0ULL, IBV_ACCESS_REMOTE_WRITE } };
		bellhop_send_wqe wqe = carry(wr, limits);
		EXPECT_EQ(wqe.head.ex, 0x80112299u);
		EXPECT_EQ(wqe.head.rkey, 0u);
		EXPECT_EQ(wqe.head.remote_addr, 0u);
		EXPECT_EQ(wqe.bind.addr, 0x1000u);
		EXPECT_EQ(wqe.bind.length, ~0ULL);
		EXPECT_EQ(wqe.bind.lkey, 0x55u);
		EXPECT_EQ(wqe.bind.access, u32(BELLHOP_BIND_REMOTE_WRITE));

		/* What a window cannot give is left out. */
		wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_ZERO_BASED |
						       IBV_ACCESS_LOCAL_WRITE |
						       IBV_ACCESS_RELAXED_ORDERING;
		wr.bind_mw.bind_info.mr = nullptr;
		wqe = carry(wr, limits);
		EXPECT_EQ(wqe.bind.lkey, 0u);
		EXPECT_EQ(wqe.bind.access, u32(BELLHOP_BIND_ZERO_BASED));
	}
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_MW_BIND;
	EXPECT_EQ(encode(wr, kEdges[0]), EINVAL);
	wr.bind_mw.bind_info.mw_access_flags = 0;
	EXPECT_EQ(encode(wr, kEdges[0]), 0);
	wr.bind_mw.rkey ^= 0x100;
	EXPECT_EQ(encode(wr, kEdges[0]), EINVAL);
	wr.bind_mw.rkey ^= 0x100;
	mw.type = IBV_MW_TYPE_1;
	EXPECT_EQ(encode(wr, kEdges[0]), EINVAL);
	wr.bind_mw.mw = nullptr;
	EXPECT_EQ(encode(wr, kEdges[0]), EINVAL);
}

TEST(wqe_roundtrip, send__a_bind_of_type_1)
{
	ibv_mr mr{};
	ibv_mw_bind_info info = { &mr, 0x1000, 0, IBV_ACCESS_REMOTE_READ };
	const bellhop_wqe_limits limits = { 0, 0, BELLHOP_SERVICE_UC };
	auto slot = used_slot(bellhop_wqe_send_stride(&limits));
	bellhop_send_wqe wqe{};
	const auto encoded = [&](unsigned flags, bellhop::Service service) {
		const bellhop::WqeLimits library = { 0, 0, service };

		return bellhop::encode_bind(
			slot.get(),
			{ .wr_id = 1, .flags = flags, .rkey = 0x80112233, .info = info }, library);
	};

	mr.lkey = 0x55;
	ASSERT_EQ(encoded(IBV_SEND_SIGNALED | IBV_SEND_FENCE, bellhop::SERVICE_UC), 0);
	ASSERT_EQ(bellhop_wqe_decode_send(&wqe, slot.get(), &limits), BELLHOP_REASON_NONE);
	EXPECT_EQ(wqe.head.opcode, BELLHOP_WR_BIND_MW);
	EXPECT_EQ(wqe.head.flags, BELLHOP_SQE_SIGNALED | BELLHOP_SQE_FENCE);
	EXPECT_EQ(wqe.head.ex, 0x80112233u);
	EXPECT_EQ(wqe.bind.lkey, 0x55u);
	EXPECT_EQ(wqe.bind.length, 0u);
	EXPECT_EQ(encoded(IBV_SEND_INLINE, bellhop::SERVICE_UC), EINVAL);
	EXPECT_EQ(encoded(0, bellhop::SERVICE_UD), EINVAL);
	info.mw_access_flags = IBV_ACCESS_ZERO_BASED;
	EXPECT_EQ(encoded(0, bellhop::SERVICE_UC), EINVAL);
}

TEST(wqe_roundtrip, send__every_flag)
{
	std::vector<ibv_sge> sges = elements(1);

	for (unsigned flags = 0; flags < 16; flags++) {
		ibv_send_wr wr = send_request(BELLHOP_WR_SEND, flags & ~IBV_SEND_INLINE, sges);

		EXPECT_EQ(carry(wr, kEdges[3]).head.flags, wr.send_flags);
	}
}

TEST(wqe_roundtrip, send__every_number_of_elements)
{
	for (const bellhop_wqe_limits &limits : kEdges) {
		for (u32 count = 0; count <= limits.max_sge; count++) {
			std::vector<ibv_sge> sges = elements(count);
			bellhop_send_wqe wqe =
				carry(send_request(BELLHOP_WR_RDMA_WRITE, 0, sges), limits);
			u32 length = 0;

			for (const ibv_sge &sge : sges)
				length += sge.length;
			ASSERT_EQ(wqe.head.num_sge, count);
			EXPECT_EQ(wqe.length, length);
			expect_elements(wqe.sge, sges);
		}
	}
}

TEST(wqe_roundtrip, send__inline_bytes_from_several_pieces)
{
	std::vector<u8> bytes(512);

	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = u8(i * 13 + 5);
	for (const bellhop_wqe_limits &limits : kEdges) {
		for (u32 pieces = 1; pieces <= limits.max_sge; pieces++) {
			u32 each = limits.max_inline / pieces;
			std::vector<ibv_sge> sges;

			for (u32 i = 0; i < pieces; i++)
				sges.push_back({ reinterpret_cast<u64>(bytes.data() + i * each),
						 each, 0 });
			bellhop_send_wqe wqe =
				carry(send_request(BELLHOP_WR_SEND, IBV_SEND_INLINE, sges), limits);

			EXPECT_EQ(wqe.head.num_sge, 0u);
			ASSERT_EQ(wqe.length, each * pieces);
			EXPECT_EQ(std::memcmp(wqe.data, bytes.data(), wqe.length), 0);
		}
	}
}

TEST(wqe_roundtrip, send__the_library_refuses_what_the_kernel_would)
{
	std::vector<u8> bytes(513);
	const ibv_sge whole = { reinterpret_cast<u64>(bytes.data()), 0, 0 };

	for (const bellhop_wqe_limits &limits : kEdges) {
		std::vector<ibv_sge> too_many = elements(limits.max_sge + 1);
		std::vector<ibv_sge> too_long(1, whole);
		std::vector<ibv_sge> none;

		too_long[0].length = limits.max_inline + 1;
		EXPECT_EQ(encode(send_request(BELLHOP_WR_SEND, 0, too_many), limits), EINVAL);
		EXPECT_EQ(encode(send_request(BELLHOP_WR_SEND, IBV_SEND_INLINE, too_long), limits),
			  EINVAL);
		EXPECT_EQ(encode(send_request(BELLHOP_WR_RDMA_READ, IBV_SEND_INLINE, none), limits),
			  EINVAL);
		EXPECT_EQ(encode(send_request(BELLHOP_WR_SEND, 1u << 8, none), limits), EINVAL);
		EXPECT_EQ(encode(send_request(BELLHOP_OPCODES, 0, none), limits), EINVAL);
	}
}

TEST(wqe_roundtrip, recv__every_number_of_elements)
{
	for (const bellhop_wqe_limits &limits : kEdges) {
		for (u32 count = 0; count <= limits.max_sge; count++) {
			std::vector<ibv_sge> sges = elements(count);
			auto slot = used_slot(bellhop_wqe_recv_stride(&limits));
			ibv_recv_wr wr{};
			bellhop_recv_wqe wqe;
			u64 length = 0;

			wr.sg_list = sges.data();
			wr.num_sge = int(count);
			for (const ibv_sge &sge : sges)
				length += sge.length;
			ASSERT_EQ(bellhop::encode_recv(slot.get(), wr, library_limits(limits)), 0);
			ASSERT_EQ(bellhop_wqe_decode_recv(&wqe, slot.get(), &limits),
				  BELLHOP_REASON_NONE);
			ASSERT_EQ(wqe.num_sge, count);
			EXPECT_EQ(wqe.length, length);
			expect_elements(wqe.sge, sges);
		}
	}
}

TEST(wqe_roundtrip, recv__the_library_refuses_what_the_kernel_would)
{
	for (const bellhop_wqe_limits &limits : kEdges) {
		std::vector<ibv_sge> sges = elements(limits.max_sge + 1);
		auto slot = used_slot(bellhop_wqe_recv_stride(&limits));
		ibv_recv_wr wr{};

		wr.sg_list = sges.data();
		wr.num_sge = int(sges.size());
		EXPECT_EQ(bellhop::encode_recv(slot.get(), wr, library_limits(limits)), EINVAL);
		wr.num_sge = -1;
		EXPECT_EQ(bellhop::encode_recv(slot.get(), wr, library_limits(limits)), EINVAL);
	}
}

TEST(wqe_roundtrip, datagram__the_address_goes_along)
{
	ibv_ah_attr attr{};

	for (size_t i = 0; i < sizeof(attr.grh.dgid.raw); i++)
		attr.grh.dgid.raw[i] = u8(0x10 + i);
	attr.grh.flow_label = 0xfff12345;
	attr.grh.sgid_index = 3;
	attr.grh.hop_limit = 64;
	attr.grh.traffic_class = 0x99;
	bellhop::AddressHandle ah{ attr };

	for (u32 max_sge : { 0u, 1u, 32u }) {
		const bellhop_wqe_limits limits = { max_sge, 512, BELLHOP_SERVICE_UD };

		for (u8 opcode : { BELLHOP_WR_SEND, BELLHOP_WR_SEND_WITH_IMM }) {
			std::vector<ibv_sge> sges = elements(max_sge);
			ibv_send_wr wr = send_request(opcode, IBV_SEND_SIGNALED, sges);

			wr.wr.ud = { &ah, 0xabcdef, 0x11111111 };
			bellhop_send_wqe wqe = carry(wr, limits);

			EXPECT_EQ(std::memcmp(wqe.av.dgid, attr.grh.dgid.raw, 16), 0);
			EXPECT_EQ(wqe.av.qpn, 0xabcdefu);
			EXPECT_EQ(wqe.av.qkey, 0x11111111u);
			EXPECT_EQ(wqe.av.flow_label, 0x12345u);
			EXPECT_EQ(wqe.av.sgid_index, 3);
			EXPECT_EQ(wqe.av.hop_limit, 64);
			EXPECT_EQ(wqe.av.traffic_class, 0x99);
			ASSERT_EQ(wqe.head.num_sge, max_sge);
			expect_elements(wqe.sge, sges);
		}
	}
}

TEST(wqe_roundtrip, datagram__refused_by_both)
{
	const bellhop_wqe_limits limits = { 1, 0, BELLHOP_SERVICE_UD };
	bellhop::AddressHandle ah{ ibv_ah_attr{} };
	std::vector<ibv_sge> none;

	for (u8 opcode :
	     { BELLHOP_WR_RDMA_WRITE, BELLHOP_WR_RDMA_WRITE_WITH_IMM, BELLHOP_WR_RDMA_READ,
	       BELLHOP_WR_ATOMIC_CMP_AND_SWP, BELLHOP_WR_ATOMIC_FETCH_AND_ADD, BELLHOP_WR_LOCAL_INV,
	       BELLHOP_WR_BIND_MW, BELLHOP_WR_SEND_WITH_INV }) {
		auto slot = used_slot(bellhop_wqe_send_stride(&limits));
		ibv_send_wr wr = send_request(opcode, 0, none);
		bellhop_send_wqe wqe;

		EXPECT_EQ(encode(wr, limits), EINVAL);
		bellhop::write_shape(slot.get(), opcode, 0, 0, 0);
		EXPECT_EQ(bellhop_wqe_decode_send(&wqe, slot.get(), &limits),
			  BELLHOP_REASON_WR_OPCODE);
	}
	ibv_send_wr wr = send_request(BELLHOP_WR_SEND, 0, none);

	wr.wr.ud = { &ah, BELLHOP_QPN_MAX, 0 };
	EXPECT_EQ(encode(wr, limits), 0);
	wr.wr.ud.remote_qpn++;
	EXPECT_EQ(encode(wr, limits), EINVAL);
	wr.wr.ud = { nullptr, 1, 0 };
	EXPECT_EQ(encode(wr, limits), EINVAL);
}

TEST(wqe_roundtrip, datagram__the_kernel_checks_the_address)
{
	const bellhop_wqe_limits limits = { 1, 0, BELLHOP_SERVICE_UD };
	auto slot = used_slot(bellhop_wqe_send_stride(&limits));
	auto *av = reinterpret_cast<bellhop_av *>(slot.get() + sizeof(bellhop_sqe));
	bellhop_send_wqe wqe;

	bellhop::write_shape(slot.get(), BELLHOP_WR_SEND, 0, 0, 0);
	bellhop::write_target(slot.get(), 0, 0, 0);
	*av = {};
	EXPECT_EQ(bellhop_wqe_decode_send(&wqe, slot.get(), &limits), BELLHOP_REASON_NONE);
	av->qpn = BELLHOP_QPN_MAX + 1;
	EXPECT_EQ(bellhop_wqe_decode_send(&wqe, slot.get(), &limits), BELLHOP_REASON_WR_ADDRESS);
	av->qpn = 5;
	av->reserved = 1;
	EXPECT_EQ(bellhop_wqe_decode_send(&wqe, slot.get(), &limits), BELLHOP_REASON_WR_RESERVED);
}

TEST(wqe_roundtrip, xrc__every_opcode_names_its_srq)
{
	const bellhop_wqe_limits limits = { 1, 0, BELLHOP_SERVICE_XRC };
	std::vector<ibv_sge> sges = { { 0x1000, BELLHOP_ATOMIC_BYTES, 5 } };

	for (u8 opcode = 0; opcode < BELLHOP_OPCODES; opcode++) {
		const bellhop_opcode *op = bellhop_opcode_row(opcode);

		if (!op->services || (op->traits & BELLHOP_OP_LOCAL))
			continue;
		ibv_send_wr wr = send_request(opcode, IBV_SEND_SIGNALED, sges);

		wr.qp_type.xrc.remote_srqn = 0xabcdef;
		EXPECT_EQ(carry(wr, limits).head.srqn, 0xabcdefu) << int(opcode);
		wr.qp_type.xrc.remote_srqn = BELLHOP_SRQN_MAX + 1;
		EXPECT_EQ(encode(wr, limits), EINVAL) << int(opcode);
		// What other services have left there means nothing.
		EXPECT_EQ(carry(wr, kEdges[1]).head.srqn, 0u) << int(opcode);
	}
}

TEST(wqe_roundtrip, xrc__a_window_of_this_side_is_nobody_else_s)
{
	const bellhop_wqe_limits limits = { 1, 0, BELLHOP_SERVICE_XRC };
	std::vector<ibv_sge> none;
	ibv_send_wr wr = send_request(BELLHOP_WR_LOCAL_INV, 0, none);

	wr.qp_type.xrc.remote_srqn = ~0u;
	bellhop_send_wqe wqe = carry(wr, limits);
	EXPECT_EQ(wqe.head.srqn, 0u);
	EXPECT_EQ(wqe.head.ex, wr.invalidate_rkey);
}
