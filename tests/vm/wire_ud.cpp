// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wire_ud.cpp: datagrams between hosts: to rdma_rxe, from it, and between two bellhops; and packets
// that are none.
#include <netinet/ip.h>
#include "counted.hpp"
#include "group.hpp"
#include "hosts.hpp"

namespace
{

using namespace vm;

constexpr uint32_t qkey = 0x11111111, slot_bytes = 4096 + grh_bytes;

class Network : public testing::Environment
{
public:
	void SetUp() override
	{
		hosts_.emplace();
	}

	void TearDown() override
	{
		hosts_.reset();
	}

private:
	std::optional<Hosts> hosts_;
};

struct Way {
	const char *name;
	Host from, to;
	Family family;
};

class WireUd : public testing::TestWithParam<Way>
{
protected:
	Send to_peer(uint32_t length, uint64_t id = 0)
	{
		Send send = { .sges = { from.region.sge(0, length) },
			      .id = id,
			      .ah = ah.get(),
			      .qpn = to.qp.get()->qp_num,
			      .qkey = qkey };

		if (!length)
			send.sges.clear();
		return send;
	}

	void receive(uint32_t room = slot_bytes, uint64_t id = 0)
	{
		ASSERT_EQ(post_recv(to.qp, { to.region.sge(0, room) }, id), 0);
	}

	ibv_wc carry(const Send &send)
	{
		EXPECT_EQ(post(from.qp, send), 0);
		expect(from.send_cq, from.qp, send.id);
		return expect(to.recv_cq, to.qp, 0);
	}

	/* The header as the network has it. */
	void expect_header(uint32_t payload, bool has_imm)
	{
		const uint32_t bytes = 8 + 12 + 8 + 4 * has_imm + payload + (-payload & 3) + 4;
		const uint8_t *grh = to.region.memory.data();
		ip6_hdr six;
		iphdr four;

		if (GetParam().family == Family::ipv6) {
			std::memcpy(&six, grh, sizeof(six));
			EXPECT_EQ(std::memcmp(&six.ip6_src, gid(from).raw, 16), 0);
			EXPECT_EQ(std::memcmp(&six.ip6_dst, gid(to).raw, 16), 0);
			EXPECT_EQ(six.ip6_nxt, IPPROTO_UDP);
			EXPECT_EQ(ntohs(six.ip6_plen), bytes);
			if (from.host.is_bellhop()) {
				EXPECT_EQ(six.ip6_hlim, AddressHandle::hop_limit);
				EXPECT_EQ(ntohl(six.ip6_flow),
					  6u << 28 | AddressHandle::traffic_class << 20 |
						  AddressHandle::flow_label);
			}
			return;
		}
		std::memcpy(&four, grh + 20, sizeof(four));
		EXPECT_EQ(std::memcmp(&four.saddr, gid(from).raw + 12, 4), 0);
		EXPECT_EQ(std::memcmp(&four.daddr, gid(to).raw + 12, 4), 0);
		EXPECT_EQ(four.version, 4);
		EXPECT_EQ(four.protocol, IPPROTO_UDP);
		EXPECT_EQ(ntohs(four.tot_len), 20 + bytes);
		if (from.host.is_bellhop()) {
			EXPECT_EQ(four.ttl, AddressHandle::hop_limit);
			EXPECT_EQ(four.tos, AddressHandle::traffic_class);
			EXPECT_EQ(ntohs(four.frag_off), IP_DF);
		}
	}

	static ibv_gid gid(const Office &office)
	{
		return office.host.gid(office.family);
	}

	Office from{ GetParam().from, GetParam().family, qkey };
	Office to{ GetParam().to, GetParam().family, qkey };
	AddressHandle ah{ from.pd, gid(to), from.gid_index };
};

TEST_P(WireUd, carries_every_byte_of_every_length)
{
	const Counted sender(from.host.device), receiver(to.host.device);
	int sent = 0;

	for (uint32_t length :
	     { 0u, 1u, 2u, 3u, 4u, 5u, 63u, 64u, 65u, 1000u, 1023u, 2049u, 4095u, 4096u }) {
		for (bool has_imm : { false, true }) {
			Send send = to_peer(length);

			if (has_imm) {
				send.opcode = IBV_WR_SEND_WITH_IMM;
				send.imm = htonl(0xfeed0000 + length);
			}
			fill(from.region.memory.bytes(), 2 * length + has_imm);
			fill(to.region.memory.bytes(), 77);
			receive();
			const ibv_wc wc = carry(send);

			sent++;
			EXPECT_EQ(wc.byte_len, grh_bytes + length);
			EXPECT_EQ(wc.src_qp, from.qp.get()->qp_num);
			EXPECT_EQ(wc.opcode, IBV_WC_RECV);
			EXPECT_TRUE(wc.wc_flags & IBV_WC_GRH);
			EXPECT_EQ(!!(wc.wc_flags & IBV_WC_WITH_IMM), has_imm);
			if (has_imm)
				EXPECT_EQ(wc.imm_data, send.imm);
			EXPECT_EQ(std::memcmp(to.region.memory.data() + grh_bytes,
					      from.region.memory.data(), length),
				  0)
				<< length;
			expect_header(length, has_imm);
		}
	}
	/* By the wire, not beside it. */
	if (from.host.is_bellhop())
		EXPECT_EQ(sender.all_grown(), "packets_sent ");
	if (from.host.is_bellhop())
		EXPECT_EQ(sender.grown("hw_counters/packets_sent"), sent);
	if (to.host.is_bellhop()) {
		EXPECT_EQ(receiver.grown("hw_counters/packets_received"), sent);
		EXPECT_EQ(receiver.all_grown(), "packets_received ");
	} else {
		EXPECT_EQ(receiver.all_grown(), "rcvd_pkts rdma_recvs ");
	}
}

TEST_P(WireUd, gathers_and_scatters)
{
	Send send = to_peer(0);

	fill(from.region.memory.bytes(), 5);
	send.sges = { from.region.sge(0, 7), from.region.sge(100, 1000),
		      from.region.sge(3000, 13) };
	ASSERT_EQ(post_recv(to.qp, { to.region.sge(0, 41), to.region.sge(5001, 500),
				     to.region.sge(9003, 3000) }),
		  0);
	EXPECT_EQ(carry(send).byte_len, grh_bytes + 1020);
	const uint8_t *in = from.region.memory.data(), *out = to.region.memory.data();
	std::vector<uint8_t> sent(in, in + 7), got(out + 40, out + 41);

	sent.insert(sent.end(), in + 100, in + 1100);
	sent.insert(sent.end(), in + 3000, in + 3013);
	got.insert(got.end(), out + 5001, out + 5501);
	got.insert(got.end(), out + 9003, out + 9003 + 519);
	EXPECT_EQ(sent, got);
}

TEST_P(WireUd, sends_what_is_inline)
{
	Send send = to_peer(100);

	fill(from.region.memory.bytes(), 6);
	send.flags |= IBV_SEND_INLINE;
	receive();
	EXPECT_EQ(carry(send).byte_len, grh_bytes + 100);
	EXPECT_EQ(std::memcmp(to.region.memory.data() + grh_bytes, from.region.memory.data(), 100),
		  0);
}

/* Each waits for an answer, so that no queue of the network's is full. */
TEST_P(WireUd, goes_to_and_fro)
{
	const AddressHandle back(to.pd, gid(from), to.gid_index);
	Send answer = { .sges = { to.region.sge(grh_bytes, 64) },
			.ah = back.get(),
			.qpn = from.qp.get()->qp_num,
			.qkey = qkey };

	for (uint32_t i = 0; i < 100; i++) {
		std::memcpy(from.region.memory.data(), &i, sizeof(i));
		receive();
		ASSERT_EQ(post_recv(from.qp, { from.region.sge(8192, 1000) }), 0);
		carry(to_peer(64));
		ASSERT_EQ(post(to.qp, answer), 0);
		expect(to.send_cq, to.qp, 0);
		expect(from.recv_cq, from.qp, 0);
		ASSERT_EQ(std::memcmp(from.region.memory.data() + 8192 + grh_bytes, &i, sizeof(i)),
			  0);
	}
}

TEST_P(WireUd, is_dropped_without_the_right_key)
{
	const Counted receiver(to.host.device);
	Send send = to_peer(10);

	receive();
	send.qkey = qkey + 1;
	ASSERT_EQ(post(from.qp, send), 0);
	expect(from.send_cq, from.qp, 0);
	expect_none(to.recv_cq, 0.2);
	if (to.host.is_bellhop())
		EXPECT_EQ(receiver.grown("hw_counters/dropped_qkey_mismatch"), 1);
	EXPECT_EQ(carry(to_peer(10)).byte_len, grh_bytes + 10);
}

TEST_P(WireUd, is_dropped_where_nobody_waits)
{
	if (!to.host.is_bellhop())
		GTEST_SKIP() << "rdma_rxe receives";
	const Counted receiver(to.host.device);
	Send send = to_peer(10);

	ASSERT_EQ(post(from.qp, send), 0);
	expect(from.send_cq, from.qp, 0);
	for (uint32_t nobody : { 0u, send.qpn + 1, send.qpn ^ 1u << 23 }) {
		Send lost = send;

		lost.qpn = nobody;
		ASSERT_EQ(post(from.qp, lost), 0);
		expect(from.send_cq, from.qp, 0);
	}
	EXPECT_TRUE(comes_true([&] {
		return receiver.grown("hw_counters/dropped_nobody_there") == 3 &&
		       receiver.grown("hw_counters/dropped_no_receive") == 1;
	})) << receiver.all_grown();
	expect_none(to.recv_cq);
}

/* A number says nothing by itself: the QP that has it here is not the one that is meant. */
TEST_P(WireUd, never_reaches_a_qp_of_this_host)
{
	const Host other = to.host.number == away.number ? rxe : away;
	const AddressHandle elsewhere(from.pd, other.gid(GetParam().family), from.gid_index);
	Send send = to_peer(10);

	receive();
	send.ah = elsewhere.get();
	ASSERT_EQ(post(from.qp, send), 0);
	expect(from.send_cq, from.qp, 0);
	expect_none(to.recv_cq, 0.2);
}

/** A group of the family, which no program of the host has joined in another way. */
ibv_gid group_of(Family family)
{
	return family == Family::ipv4 ? mapped_gid("239.9.9.9") : group_gid(9);
}

/* Once, and on no other host's. */
TEST_P(WireUd, reaches_a_group)
{
	if (!to.host.is_bellhop())
		GTEST_SKIP() << "rdma_rxe has its interface join no group of IP";
	const ibv_gid group = group_of(GetParam().family);
	const AddressHandle all(from.pd, group, from.gid_index);
	const Counted receiver(to.host.device);
	Send send = to_peer(500);

	fill(from.region.memory.bytes(), 8);
	receive();
	receive();
	send.ah = all.get();
	send.qpn = group_qpn;
	{
		Attachment member(to.qp, group);
		ASSERT_EQ(post(from.qp, send), 0);
		expect(from.send_cq, from.qp, 0);
		EXPECT_EQ(expect(to.recv_cq, to.qp, 0).byte_len, grh_bytes + 500);
		EXPECT_EQ(std::memcmp(to.region.memory.data() + grh_bytes,
				      from.region.memory.data(), 500),
			  0);
		EXPECT_EQ(std::memcmp(to.region.memory.data() + 24 +
					      (GetParam().family == Family::ipv4 ? 12 : 0),
				      group.raw + (GetParam().family == Family::ipv4 ? 12 : 0),
				      GetParam().family == Family::ipv4 ? 4 : 16),
			  0);
		EXPECT_EQ(receiver.grown("hw_counters/multicast_copies"), 1);
	}
	ASSERT_EQ(post(from.qp, send), 0);
	expect(from.send_cq, from.qp, 0);
	expect_none(to.recv_cq, 0.2);
}

/* What a member sends it gets itself, as all members on its host do, and not from the wire. */
TEST_P(WireUd, reaches_its_own_group_once)
{
	if (!from.host.is_bellhop())
		GTEST_SKIP() << "rdma_rxe sends";
	const ibv_gid group = group_of(GetParam().family);
	const AddressHandle all(from.pd, group, from.gid_index);
	Send send = to_peer(500);
	Attachment member(from.qp, group);

	for (uint64_t id : { 1, 2 })
		ASSERT_EQ(post_recv(from.qp, { from.region.sge(8192, slot_bytes) }, id), 0);
	send.ah = all.get();
	send.qpn = group_qpn;
	ASSERT_EQ(post(from.qp, send), 0);
	expect(from.send_cq, from.qp, 0);
	EXPECT_EQ(expect(from.recv_cq, from.qp, 1).byte_len, grh_bytes + 500);
	expect_none(from.recv_cq, 0.2);
}

constexpr Way ways[] = {
	{ "bellhop_to_rxe_by_ipv4", far, rxe, Family::ipv4 },
	{ "bellhop_to_rxe_by_ipv6", far, rxe, Family::ipv6 },
	{ "rxe_to_bellhop_by_ipv4", rxe, far, Family::ipv4 },
	{ "rxe_to_bellhop_by_ipv6", rxe, far, Family::ipv6 },
	{ "bellhop_to_bellhop_by_ipv4", far, away, Family::ipv4 },
	{ "bellhop_to_bellhop_by_ipv6", far, away, Family::ipv6 },
};

INSTANTIATE_TEST_SUITE_P(Wire, WireUd, testing::ValuesIn(ways),
			 [](const auto &info) { return std::string(info.param.name); });

/** What anybody can send to the port. */
class Stranger
{
public:
	Stranger() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))
	{
		require_errno(socket_ >= 0, "socket");
	}

	~Stranger()
	{
		close(socket_);
	}

	Stranger(const Stranger &) = delete;
	Stranger &operator=(const Stranger &) = delete;

	void send(const std::vector<uint8_t> &bytes) const
	{
		sockaddr_in to = { .sin_family = AF_INET,
				   .sin_port = htons(4791),
				   .sin_addr = {},
				   .sin_zero = {} };

		inet_pton(AF_INET, far.ipv4().c_str(), &to.sin_addr);
		sendto(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT,
		       reinterpret_cast<sockaddr *>(&to), sizeof(to));
	}

private:
	int socket_;
};

class WireForgery : public testing::Test
{
protected:
	/* A UD packet to the office's QP, but for its ICRC. */
	std::vector<uint8_t> packet(uint32_t payload) const
	{
		const uint32_t qpn = htonl(to.qp.get()->qp_num), key = htonl(qkey);
		std::vector<uint8_t> bytes = { 0x64, 0, 0xff, 0xff };

		append(bytes, qpn);
		append(bytes, 0);
		append(bytes, key);
		append(bytes, htonl(0x11));
		bytes.resize(bytes.size() + payload + 4);
		return bytes;
	}

	static void append(std::vector<uint8_t> &bytes, uint32_t word)
	{
		const auto *from = reinterpret_cast<const uint8_t *>(&word);

		bytes.insert(bytes.end(), from, from + sizeof(word));
	}

	void expect_only(const Counted &counted, const std::string &name, int times)
	{
		EXPECT_TRUE(comes_true([&] {
			return counted.grown("hw_counters/" + name) == times;
		})) << name
		    << " " << counted.grown("hw_counters/" + name);
		EXPECT_EQ(counted.all_grown(), name + " ");
		expect_none(to.recv_cq);
	}

	void SetUp() override
	{
		ASSERT_EQ(post_recv(to.qp, { to.region.sge(0, slot_bytes) }), 0);
	}

	Stranger stranger;
	Office to{ far, Family::ipv4, qkey };
};

TEST_F(WireForgery, with_a_wrong_icrc)
{
	const Counted counted(far.device);

	for (uint32_t payload : { 0u, 4u, 1000u, 4096u })
		stranger.send(packet(payload));
	expect_only(counted, "dropped_wrong_icrc", 4);
}

TEST_F(WireForgery, that_is_cut_off)
{
	const Counted counted(far.device);
	const std::vector<uint8_t> whole = packet(0);

	for (size_t length = 0; length < whole.size(); length++)
		stranger.send({ whole.begin(), whole.begin() + static_cast<long>(length) });
	expect_only(counted, "dropped_malformed", static_cast<int>(whole.size()));
}

TEST_F(WireForgery, that_is_of_no_kind)
{
	const Counted counted(far.device);

	for (const auto &[at, value] :
	     { std::pair{ 0, 0x40 }, { 0, 0xff }, { 1, 0x01 }, { 1, 0x0f }, { 0, 0x66 } }) {
		std::vector<uint8_t> bytes = packet(8);

		bytes[static_cast<size_t>(at)] = static_cast<uint8_t>(value);
		stranger.send(bytes);
	}
	/* Filled up with more than there is, and not to words. */
	std::vector<uint8_t> padded = packet(0);
	padded[1] = 0x30;
	stranger.send(padded);
	stranger.send(packet(3));
	expect_only(counted, "dropped_malformed", 7);
}

TEST_F(WireForgery, of_noise)
{
	std::mt19937 random(1);
	Office from(rxe, Family::ipv4, qkey);
	const AddressHandle ah(from.pd, far.gid(Family::ipv4), from.gid_index);

	for (int i = 0; i < 2000; i++) {
		std::vector<uint8_t> bytes = packet(random() % 2000);
		const size_t cut = random() % 4 ? 0 : random() % bytes.size();

		for (int spoilt = 0; spoilt < 4; spoilt++)
			bytes[random() % std::min<size_t>(bytes.size(), 32)] =
				static_cast<uint8_t>(random());
		bytes.resize(bytes.size() - cut);
		stranger.send(bytes);
	}
	expect_none(to.recv_cq);
	EXPECT_EQ(to.qp.state(), IBV_QPS_RTS);
	ASSERT_EQ(post(from.qp, { .sges = { from.region.sge(0, 100) },
				  .ah = ah.get(),
				  .qpn = to.qp.get()->qp_num,
				  .qkey = qkey }),
		  0);
	EXPECT_EQ(expect(to.recv_cq, to.qp, 0).byte_len, grh_bytes + 100);
}

} // namespace

int main(int argc, char **argv)
{
	testing::AddGlobalTestEnvironment(new Network);
	return vm::run_ktap(argc, argv);
}
