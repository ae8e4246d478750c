// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ud.cpp: datagrams arrive behind a header that says where from, or are dropped in silence.
#include <netinet/ip6.h>
#include "datagram.hpp"
#include "endpoint.hpp"
#include "ktap.hpp"

namespace
{

using namespace vm;

constexpr uint32_t qkey = 0x11111111;

class Datagram : public testing::Test
{
protected:
	Send to(const Station &peer, uint32_t length)
	{
		return { .sges = { a.region.sge(0, length) },
			 .ah = a.ah.get(),
			 .qpn = peer.qp.get()->qp_num,
			 .qkey = qkey };
	}

	void receive(uint32_t room, uint64_t id = 0)
	{
		ASSERT_EQ(post_recv(b.qp, { b.region.sge(0, room) }, id), 0);
	}

	void expect_dropped(const Send &send)
	{
		ASSERT_EQ(post(a.qp, send), 0);
		expect(a.send_cq, a.qp, send.id);
		expect_none(b.recv_cq);
	}

	Station a{ qkey }, b{ qkey };
};

TEST_F(Datagram, arrives_behind_its_header)
{
	Send send = to(b, 1000);
	ip6_hdr header;

	fill(a.region.memory.bytes(), 1);
	receive(grh_bytes + 1000, 7);
	ASSERT_EQ(post(a.qp, send), 0);
	expect(a.send_cq, a.qp, 0);
	const ibv_wc wc = expect(b.recv_cq, b.qp, 7);

	EXPECT_EQ(wc.byte_len, grh_bytes + 1000);
	EXPECT_EQ(wc.src_qp, a.qp.get()->qp_num);
	EXPECT_EQ(wc.opcode, IBV_WC_RECV);
	EXPECT_EQ(wc.wc_flags, IBV_WC_GRH);
	EXPECT_EQ(wc.sl & 7, 1);
	EXPECT_EQ(std::memcmp(b.region.memory.data() + grh_bytes, a.region.memory.data(), 1000), 0);
	std::memcpy(&header, b.region.memory.data(), sizeof(header));
	EXPECT_EQ(std::memcmp(&header.ip6_src, a.device.gid().raw, 16), 0);
	EXPECT_EQ(std::memcmp(&header.ip6_dst, b.device.gid().raw, 16), 0);
	EXPECT_EQ(ntohl(header.ip6_flow), 0x62012345u);
	EXPECT_EQ(header.ip6_hlim, 63);
	EXPECT_EQ(header.ip6_nxt, IPPROTO_UDP);
}

TEST_F(Datagram, carries_immediate_data_and_inline_bytes)
{
	Send send = to(b, 100);

	fill(a.region.memory.bytes(), 2);
	send.opcode = IBV_WR_SEND_WITH_IMM;
	send.imm = 0x04030201;
	send.flags |= IBV_SEND_INLINE;
	receive(grh_bytes + 4096);
	ASSERT_EQ(post(a.qp, send), 0);
	expect(a.send_cq, a.qp, 0);
	const ibv_wc wc = expect(b.recv_cq, b.qp, 0);

	EXPECT_EQ(wc.wc_flags, unsigned(IBV_WC_GRH | IBV_WC_WITH_IMM));
	EXPECT_EQ(wc.imm_data, 0x04030201u);
	EXPECT_EQ(wc.byte_len, grh_bytes + 100);
	EXPECT_EQ(std::memcmp(b.region.memory.data() + grh_bytes, a.region.memory.data(), 100), 0);
}

TEST_F(Datagram, may_be_empty_or_a_whole_packet)
{
	ibv_port_attr port;

	ASSERT_EQ(ibv_query_port(a.device.get(), 1, &port), 0);
	for (uint32_t length : { 0u, 1u, 128u << port.active_mtu }) {
		Send send = to(b, length);

		if (!length)
			send.sges.clear();
		receive(grh_bytes + length);
		ASSERT_EQ(post(a.qp, send), 0);
		expect(a.send_cq, a.qp, 0);
		EXPECT_EQ(expect(b.recv_cq, b.qp, 0).byte_len, grh_bytes + length);
	}
	ASSERT_EQ(post(a.qp, to(b, (128u << port.active_mtu) + 1)), 0);
	expect_reason(expect(a.send_cq, a.qp, 0, IBV_WC_LOC_LEN_ERR), BELLHOP_REASON_WR_LENGTH);
}

TEST_F(Datagram, many_come_in_order)
{
	for (uint32_t i = 0; i < 200; i++)
		ASSERT_EQ(post_recv(b.qp, { b.region.sge(i * 64, 64) }, i), 0);
	for (uint32_t i = 0; i < 200; i++) {
		Send send = to(b, 4);

		send.sges[0] = a.region.sge(i * 4, 4);
		send.id = i;
		std::memcpy(a.region.memory.data() + i * 4, &i, 4);
		ASSERT_EQ(post(a.qp, send), 0);
	}
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t got;

		expect(a.send_cq, a.qp, i);
		expect(b.recv_cq, b.qp, i);
		std::memcpy(&got, b.region.memory.data() + i * 64 + grh_bytes, 4);
		ASSERT_EQ(got, i);
	}
}

TEST_F(Datagram, is_dropped_without_the_right_key)
{
	Send send = to(b, 10);

	receive(grh_bytes + 10);
	for (uint32_t wrong : { qkey + 1, 0u }) {
		send.qkey = wrong;
		expect_dropped(send);
	}
	/* The top bit asks for the QP's own. */
	send.qkey = 0x80000000;
	ASSERT_EQ(post(a.qp, send), 0);
	expect(b.recv_cq, b.qp, 0);
}

TEST_F(Datagram, is_dropped_where_nobody_waits)
{
	Send send = to(b, 10);

	expect_dropped(send);
	receive(grh_bytes + 10);
	for (uint32_t nobody : { 0u, 1u, send.qpn + 1, send.qpn ^ 1u << 23, 0xffffffu }) {
		Send lost = send;

		lost.qpn = nobody;
		expect_dropped(lost);
	}
	/* Nor does an address that is not the port's lead there. */
	ibv_gid other = a.device.gid();

	other.raw[15] ^= 1;
	AddressHandle elsewhere(a.pd, other);
	Send lost = send;

	lost.ah = elsewhere.get();
	expect_dropped(lost);
	ASSERT_EQ(post(a.qp, send), 0);
	expect(b.recv_cq, b.qp, 0);
}

TEST_F(Datagram, that_does_not_fit_ends_the_receive)
{
	receive(grh_bytes + 9, 3);
	ASSERT_EQ(post(a.qp, to(b, 10)), 0);
	expect(a.send_cq, a.qp, 0);
	expect_reason(expect(b.recv_cq, b.qp, 3, IBV_WC_LOC_LEN_ERR),
		      BELLHOP_REASON_RECV_TOO_SHORT);
	EXPECT_TRUE(b.qp.reaches(IBV_QPS_ERR));
	EXPECT_EQ(a.qp.state(), IBV_QPS_RTS);
}

TEST_F(Datagram, is_all_that_such_a_qp_sends)
{
	for (ibv_wr_opcode opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ }) {
		Send send = to(b, 10);

		send.opcode = opcode;
		EXPECT_EQ(post(a.qp, send), EINVAL);
	}
}

TEST_F(Datagram, never_reaches_a_connected_qp)
{
	Endpoint connected;
	Send send = to(b, 10);

	connected.qp.connect(connected.qp.address());
	Region region(connected.pd, 4096);
	ASSERT_EQ(post_recv(connected.qp, { region.sge(0, 4096) }), 0);
	send.qpn = connected.qp.get()->qp_num;
	expect_dropped(send);
	send.qkey = 0;
	expect_dropped(send);
	expect_none(connected.recv_cq);
}

TEST(ExtendedDatagram, arrives)
{
	Station a(qkey, true), b(qkey);
	Send send = { .sges = { a.region.sge(0, 77) },
		      .ah = a.ah.get(),
		      .qpn = b.qp.get()->qp_num,
		      .qkey = qkey };

	fill(a.region.memory.bytes(), 5);
	ASSERT_EQ(post_recv(b.qp, { b.region.sge(0, 4096) }), 0);
	ASSERT_EQ(post_extended(a.qp, send), 0);
	expect(a.send_cq, a.qp, 0);
	EXPECT_EQ(expect(b.recv_cq, b.qp, 0).byte_len, grh_bytes + 77);
	EXPECT_EQ(std::memcmp(b.region.memory.data() + grh_bytes, a.region.memory.data(), 77), 0);
}

TEST(ExtendedDatagram, needs_an_address)
{
	Station a(qkey, true);
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(a.qp.get());

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, a.region.mr.lkey(), a.region.address(), 10);
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
