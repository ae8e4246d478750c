// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mcast.cpp: a datagram to a multicast group arrives at each QP that is attached and can take it,
// and nowhere else.
#include <deque>
#include <map>
#include <netinet/ip.h>
#include "command.hpp"
#include "group.hpp"
#include "srq.hpp"

namespace
{

using namespace vm;

constexpr uint32_t qkey = group_qkey, length = letter_bytes;

/* A sender, and some that may receive; each takes what its group gets. */
class Multicast : public testing::Test
{
protected:
	void SetUp() override
	{
		fill(sender.region.memory.bytes(), 1);
	}

	void send()
	{
		ASSERT_EQ(post(sender.qp, to_group(sender, ah)), 0);
		expect(sender.send_cq, sender.qp, 1);
	}

	void expect_copy(const Station &station, uint64_t id = 1)
	{
		const uint8_t *got = station.region.memory.data() + letter_at;
		const ibv_wc wc = expect(station.recv_cq, station.qp, id);

		EXPECT_EQ(wc.byte_len, grh_bytes + length);
		EXPECT_EQ(wc.src_qp, sender.qp.get()->qp_num);
		EXPECT_EQ(std::memcmp(got + grh_bytes, sender.region.memory.data(), length), 0);
		EXPECT_EQ(std::memcmp(got + 24, group.raw, sizeof(group)), 0)
			<< "the header's DGID";
		EXPECT_FALSE(station.recv_cq.poll()) << "more than one copy";
		std::memset(station.region.memory.data() + letter_at, 0, grh_bytes + length);
	}

	const ibv_gid group = group_gid(1);
	Station sender{ qkey };
	AddressHandle ah{ sender.pd, group };
	Station a{ qkey }, b{ qkey }, c{ qkey };
};

TEST_F(Multicast, reaches_each_member)
{
	Attachment at_a(a.qp, group), at_b(b.qp, group);
	Send immediate = to_group(sender, ah, 2);
	ip6_hdr header;

	receive(a);
	receive(b);
	receive(c);
	send();
	std::memcpy(&header, a.region.memory.data() + letter_at, sizeof(header));
	expect_copy(a);
	expect_copy(b);
	expect_none(c.recv_cq);
	EXPECT_EQ(std::memcmp(&header.ip6_src, sender.device.gid().raw, 16), 0);
	EXPECT_EQ(ntohl(header.ip6_flow), 0x62012345u);
	EXPECT_EQ(header.ip6_hlim, 63);
	EXPECT_EQ(header.ip6_nxt, IPPROTO_UDP);

	immediate.opcode = IBV_WR_SEND_WITH_IMM;
	immediate.imm = 0x04030201;
	receive(a);
	receive(b);
	ASSERT_EQ(post(sender.qp, immediate), 0);
	expect(sender.send_cq, sender.qp, 2);
	for (const Station *station : { &a, &b }) {
		const ibv_wc wc = expect(station->recv_cq, station->qp, 1);

		EXPECT_EQ(wc.imm_data, 0x04030201u);
		EXPECT_EQ(wc.wc_flags, unsigned(IBV_WC_GRH | IBV_WC_WITH_IMM));
		EXPECT_EQ(wc.sl & 7, 1);
	}
}

TEST_F(Multicast, reaches_its_sender_too)
{
	Attachment at_sender(sender.qp, group), at_a(a.qp, group);

	receive(sender);
	receive(a);
	send();
	expect_copy(a);
	const ibv_wc wc = expect(sender.recv_cq, sender.qp, 1);
	EXPECT_EQ(wc.src_qp, sender.qp.get()->qp_num);
	EXPECT_EQ(std::memcmp(sender.region.memory.data() + letter_at + grh_bytes,
			      sender.region.memory.data(), length),
		  0);
}

TEST_F(Multicast, ends_with_the_attachment)
{
	Attachment at_a(a.qp, group), at_b(b.qp, group);

	receive(a);
	receive(b);
	EXPECT_EQ(at_a.end(), 0);
	send();
	expect_copy(b);
	expect_none(a.recv_cq);
	{
		Attachment again(a.qp, group);

		receive(b);
		send();
		expect_copy(a);
		expect_copy(b);
	}
	EXPECT_EQ(at_b.end(), 0);
	receive(a);
	receive(b);
	/* A group of nobody. */
	send();
	expect_none(a.recv_cq);
	expect_none(b.recv_cq);
}

TEST_F(Multicast, loses_what_a_member_cannot_take)
{
	Station other_key(qkey + 1), reset(qkey);
	Attachment of_a(a.qp, group), of_b(b.qp, group), of_key(other_key.qp, group),
		of_reset(reset.qp, group), of_c(c.qp, group);

	/* b has no entry. */
	receive(a);
	receive(c);
	receive(other_key);
	ASSERT_EQ(reset.qp.modify(to_state(IBV_QPS_RESET)), 0);
	send();
	expect_copy(a);
	expect_copy(c);
	for (const Station *station : { &b, &other_key, &reset })
		expect_none(station->recv_cq, 0.02);
	/* One that is too short is used up, as by any datagram, and the others get theirs. */
	ASSERT_EQ(post_recv(b.qp, { b.region.sge(0, grh_bytes + length - 1) }, 5), 0);
	receive(a);
	receive(c);
	send();
	expect_copy(a);
	expect_copy(c);
	expect_reason(expect(b.recv_cq, b.qp, 5, IBV_WC_LOC_LEN_ERR),
		      BELLHOP_REASON_RECV_TOO_SHORT);
	EXPECT_EQ(sender.qp.state(), IBV_QPS_RTS);
}

TEST_F(Multicast, tells_the_sender_of_its_own_faults)
{
	Send wrong = to_group(sender, ah);

	wrong.sges[0].lkey ^= 0x100;
	ASSERT_EQ(post(sender.qp, wrong), 0);
	expect_reason(expect(sender.send_cq, sender.qp, 1, IBV_WC_LOC_PROT_ERR),
		      BELLHOP_REASON_LKEY_UNKNOWN);
	ASSERT_EQ(sender.qp.modify(to_state(IBV_QPS_RESET)), 0);
	ASSERT_EQ(sender.qp.open(qkey), 0);
	Attachment at_a(a.qp, group);
	receive(a);
	ASSERT_EQ(post(sender.qp, wrong), 0);
	expect(sender.send_cq, sender.qp, 1, IBV_WC_LOC_PROT_ERR);
	expect_none(a.recv_cq);
	ASSERT_EQ(sender.qp.modify(to_state(IBV_QPS_RESET)), 0);
	ASSERT_EQ(sender.qp.open(qkey), 0);
	/* Its entry is there as before. */
	send();
	expect_copy(a);
}

TEST_F(Multicast, is_for_one_group)
{
	const ibv_gid other = group_gid(2);
	AddressHandle to_other(sender.pd, other), to_a(sender.pd, a.device.gid());
	Attachment at_a(a.qp, group), at_b(b.qp, other);

	receive(a);
	receive(b);
	ASSERT_EQ(post(sender.qp, to_group(sender, to_other)), 0);
	expect(sender.send_cq, sender.qp, 1);
	expect(b.recv_cq, b.qp, 1);
	expect_none(a.recv_cq);
	/* Neither the number nor the address alone is a group's. */
	ASSERT_EQ(post(sender.qp, to_group(sender, to_a)), 0);
	expect(sender.send_cq, sender.qp, 1);
	Send one = to_group(sender, ah);
	one.qpn = a.qp.get()->qp_num;
	ASSERT_EQ(post(sender.qp, one), 0);
	expect(sender.send_cq, sender.qp, 1);
	expect_none(a.recv_cq);
	send();
	expect_copy(a);
}

TEST_F(Multicast, comes_once_to_a_qp_of_several_groups)
{
	Attachment at_one(a.qp, group), at_two(a.qp, group_gid(2)), at_three(a.qp, group_gid(3));

	receive(a);
	receive(a);
	send();
	expect(a.recv_cq, a.qp, 1);
	expect_none(a.recv_cq);
}

TEST_F(Multicast, fills_shared_entries)
{
	Device device;
	Pd pd(device);
	Cq cq(device, 16);
	Region region(pd, 8192);
	Srq srq(pd);
	const QpShape shape = { .type = IBV_QPT_UD, .srq = srq.get() };
	Qp one(device, pd.get(), cq, cq, shape), two(device, pd.get(), cq, cq, shape);

	ASSERT_EQ(one.open(qkey), 0);
	ASSERT_EQ(two.open(qkey), 0);
	Attachment at_one(one, group), at_two(two, group);
	for (uint64_t id : { 1, 2, 3 })
		ASSERT_EQ(srq.post({ region.sge(2048 * id, grh_bytes + length) }, id), 0);
	send();
	uint32_t qpns = 0;
	uint64_t ids = 0;
	for (int i = 0; i < 2; i++) {
		const ibv_wc wc = cq.next();
		const uint8_t *got = region.memory.data() + 2048 * wc.wr_id + grh_bytes;

		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_EQ(std::memcmp(got, sender.region.memory.data(), length), 0);
		qpns ^= wc.qp_num;
		ids += wc.wr_id;
	}
	EXPECT_EQ(qpns, one.get()->qp_num ^ two.get()->qp_num);
	EXPECT_EQ(ids, 3u);
	/* The one that is left is the first one's who takes it. */
	send();
	EXPECT_EQ(cq.next().wr_id, 3u);
	expect_none(cq);
}

TEST_F(Multicast, over_ipv4)
{
	const ibv_gid ipv4_group = mapped_gid("230.1.1.1");

	expect_command("ip address add 10.9.0.1/24 dev " + device_name());
	const auto index = [&] { return sender.device.find_gid(mapped_gid("10.9.0.1")); };
	ASSERT_TRUE(comes_true([&] { return index() >= 0; })) << "the address makes no GID";
	{
		AddressHandle from_ipv4(sender.pd, ipv4_group, static_cast<uint8_t>(index()));
		AddressHandle from_ipv6(sender.pd, ipv4_group);
		Attachment at_a(a.qp, ipv4_group), at_b(b.qp, ipv4_group);

		receive(a);
		receive(b);
		ASSERT_EQ(post(sender.qp, to_group(sender, from_ipv4)), 0);
		expect(sender.send_cq, sender.qp, 1);
		for (const Station *station : { &a, &b }) {
			const uint8_t *got = station->region.memory.data() + letter_at;
			const ibv_wc wc = expect(station->recv_cq, station->qp, 1);
			ip header;

			EXPECT_EQ(wc.byte_len, grh_bytes + length);
			EXPECT_EQ(wc.sl & 7, 2);
			std::memcpy(&header, got + 20, sizeof(header));
			EXPECT_EQ(header.ip_v, 4u);
			EXPECT_EQ(header.ip_src.s_addr, inet_addr("10.9.0.1"));
			EXPECT_EQ(header.ip_dst.s_addr, inet_addr("230.1.1.1"));
			EXPECT_EQ(std::memcmp(got + grh_bytes, sender.region.memory.data(), length),
				  0);
		}
		/* One packet is of one family. */
		receive(a);
		ASSERT_EQ(post(sender.qp, to_group(sender, from_ipv6)), 0);
		expect(sender.send_cq, sender.qp, 1);
		expect_none(a.recv_cq);
	}
	expect_command("ip address delete 10.9.0.1/24 dev " + device_name());
}

/* More copies than a kick or even a worker makes at a time, each of a whole packet. */
TEST_F(Multicast, comes_to_as_many_as_a_group_holds)
{
	ibv_device_attr limits;
	Device device;
	Pd pd(device);
	ASSERT_EQ(ibv_query_device(device.get(), &limits), 0);
	const uint32_t members = std::min(limits.max_mcast_qp_attach, 512);
	Cq cq(device, static_cast<int>(2 * members));
	Region region(pd, 64 << 10);
	Srq srq(pd, 2 * members);
	std::deque<Qp> qps;
	std::deque<Attachment> attachments;
	std::map<uint32_t, int> copies;

	for (uint32_t i = 0; i < members; i++) {
		Qp &qp = qps.emplace_back(
			device, pd.get(), cq, cq,
			QpShape{ .cap = { 1, 1, 1, 1, 0 }, .type = IBV_QPT_UD, .srq = srq.get() });

		ASSERT_EQ(qp.open(qkey), 0);
		attachments.emplace_back(qp, group);
	}
	for (uint32_t i = 0; i < 2 * members; i++)
		ASSERT_EQ(srq.post({ region.sge(0, grh_bytes + 4096) }, i), 0);
	for (uint64_t id : { 1, 2 }) {
		Send whole = to_group(sender, ah, id);

		whole.sges[0].length = 4096;
		ASSERT_EQ(post(sender.qp, whole), 0);
	}
	expect(sender.send_cq, sender.qp, 1);
	expect(sender.send_cq, sender.qp, 2);
	for (uint32_t i = 0; i < 2 * members; i++) {
		const ibv_wc wc = cq.next();

		ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
		copies[wc.qp_num]++;
	}
	for (const Qp &qp : qps)
		EXPECT_EQ(copies[qp.get()->qp_num], 2);
	if (is_bellhop()) {
		EXPECT_EQ(ibv_attach_mcast(a.qp.get(), &group, 0), ENOMEM);
		/* Who is attached already needs no room. */
		Attachment again(qps.front(), group, 1);
		EXPECT_EQ(attachments.back().end(), 0);
		attachments.pop_back();
		Attachment instead(a.qp, group);
		EXPECT_EQ(ibv_attach_mcast(qps.back().get(), &group, 0), ENOMEM);
	}
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
