// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wire_rc.cpp: connections between hosts: to rdma_rxe, from it, and between two bellhops; on a
// network that loses, and without a peer.
#include "counted.hpp"
#include "terminals.hpp"

namespace
{

using namespace vm;

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

constexpr ibv_wr_opcode moving[] = { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
				     IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ };

class WireRc : public testing::TestWithParam<Way>
{
protected:
	Terminals connect(const Path &path = {}, ibv_qp_type type = IBV_QPT_RC)
	{
		return { GetParam().from, GetParam().to, GetParam().family, path, type };
	}
};

TEST_P(WireRc, carries_every_byte_of_every_operation)
{
	for (ibv_mtu mtu : { IBV_MTU_256, IBV_MTU_1024, IBV_MTU_4096 }) {
		Path path;

		path.mtu = mtu;
		path.timeout = 18; /* a second: a kernel that looks for mistakes is slow */
		Terminals terminals = connect(path);
		for (ibv_wr_opcode opcode : moving)
			for (uint32_t length :
			     { 0u, 1u, 3u, 255u, 256u, 257u, 4096u, 4097u, 100000u })
				ASSERT_NO_FATAL_FAILURE(terminals.carry(opcode, length, 5));
	}
}

TEST_P(WireRc, goes_by_the_wire_and_nothing_is_dropped)
{
	const Counted sender(GetParam().from.device), receiver(GetParam().to.device);
	Terminals terminals = connect();

	ASSERT_NO_FATAL_FAILURE(terminals.carry(IBV_WR_RDMA_WRITE, 10000, 0));
	if (GetParam().from.is_bellhop()) {
		EXPECT_EQ(sender.grown("hw_counters/packets_sent"), 10);
		EXPECT_GE(sender.grown("hw_counters/packets_received"), 1);
		EXPECT_EQ(sender.grown("hw_counters/dropped_malformed"), 0);
		EXPECT_EQ(sender.grown("hw_counters/dropped_wrong_icrc"), 0);
	}
	if (GetParam().to.is_bellhop())
		EXPECT_EQ(receiver.grown("hw_counters/packets_received"), 10);
}

TEST_P(WireRc, atomics_happen_once_and_in_order)
{
	Terminals terminals = connect();
	auto *word = reinterpret_cast<uint64_t *>(terminals.to.region.memory.data());
	auto *found = reinterpret_cast<uint64_t *>(terminals.from.region.memory.data());

	*word = 40;
	for (uint64_t i = 0; i < 20; i++) {
		Send add = terminals.message(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0, i);

		add.sges = { terminals.from.region.sge(8 * i, 8) };
		add.compare_add = 3;
		ASSERT_EQ(post(terminals.from.qp, add), 0);
	}
	for (uint64_t i = 0; i < 20; i++) {
		expect(terminals.from.send_cq, terminals.from.qp, i);
		EXPECT_EQ(found[i], 40 + 3 * i);
	}
	Send swap = terminals.message(IBV_WR_ATOMIC_CMP_AND_SWP, 8);
	swap.compare_add = 100;
	swap.swap = 7;
	ASSERT_EQ(post(terminals.from.qp, swap), 0);
	expect(terminals.from.send_cq, terminals.from.qp, 0);
	EXPECT_EQ(found[0], 100u);
	EXPECT_EQ(*word, 7u);
}

TEST_P(WireRc, many_at_a_time_complete_in_order)
{
	Terminals terminals = connect();
	constexpr uint32_t piece = 2000;

	fill(terminals.from.region.memory.bytes(), 1);
	for (uint64_t round = 0; round < 5; round++) {
		for (uint64_t i = 0; i < 100; i++)
			ASSERT_EQ(post(terminals.from.qp,
				       terminals.message(i % 4 == 3 ? IBV_WR_RDMA_READ
								    : IBV_WR_RDMA_WRITE,
							 piece, i * piece, i)),
				  0);
		for (uint64_t i = 0; i < 100; i++)
			expect(terminals.from.send_cq, terminals.from.qp, i);
		EXPECT_EQ(std::memcmp(terminals.from.region.memory.data(),
				      terminals.to.region.memory.data(), 100 * piece),
			  0);
	}
}

TEST_P(WireRc, waits_for_a_receive)
{
	Terminals terminals = connect();

	ASSERT_EQ(post(terminals.from.qp, terminals.message(IBV_WR_SEND, 3000)), 0);
	expect_none(terminals.from.send_cq, 0.1);
	ASSERT_EQ(post_recv(terminals.to.qp, { terminals.to.region.sge(0, 3000) }, 9), 0);
	expect(terminals.from.send_cq, terminals.from.qp, 0);
	EXPECT_EQ(expect(terminals.to.recv_cq, terminals.to.qp, 9).byte_len, 3000u);
}

TEST_P(WireRc, gives_up_waiting_for_one)
{
	Path path;

	path.rnr_retry = 1;
	Terminals terminals = connect(path);
	ASSERT_EQ(post(terminals.from.qp, terminals.message(IBV_WR_SEND, 10)), 0);
	expect(terminals.from.send_cq, terminals.from.qp, 0, IBV_WC_RNR_RETRY_EXC_ERR);
	EXPECT_TRUE(terminals.from.qp.reaches(IBV_QPS_ERR));
}

TEST_P(WireRc, a_wrong_key_is_refused_and_what_follows_is_flushed)
{
	for (ibv_wr_opcode opcode :
	     { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD }) {
		Terminals terminals = connect();
		Send wrong = terminals.message(opcode, 8, 0, 1);

		wrong.rkey ^= 0x100;
		ASSERT_EQ(post(terminals.from.qp, terminals.message(IBV_WR_RDMA_WRITE, 5000, 0, 0)),
			  0);
		ASSERT_EQ(post(terminals.from.qp, wrong), 0);
		ASSERT_EQ(post(terminals.from.qp, terminals.message(IBV_WR_RDMA_WRITE, 5000, 0, 2)),
			  0);
		expect(terminals.from.send_cq, terminals.from.qp, 0);
		expect(terminals.from.send_cq, terminals.from.qp, 1, IBV_WC_REM_ACCESS_ERR);
		expect(terminals.from.send_cq, terminals.from.qp, 2, IBV_WC_WR_FLUSH_ERR);
		EXPECT_TRUE(terminals.to.qp.reaches(IBV_QPS_ERR));
	}
}

TEST_P(WireRc, a_receive_that_is_too_short_fails_on_both_sides)
{
	if (!GetParam().to.is_bellhop())
		GTEST_SKIP() << "rdma_rxe says that its receive is not valid";
	Terminals terminals = connect();

	ASSERT_EQ(post_recv(terminals.to.qp, { terminals.to.region.sge(0, 2999) }, 9), 0);
	ASSERT_EQ(post(terminals.from.qp, terminals.message(IBV_WR_SEND, 3000)), 0);
	expect(terminals.from.send_cq, terminals.from.qp, 0, IBV_WC_REM_INV_REQ_ERR);
	expect(terminals.to.recv_cq, terminals.to.qp, 9, IBV_WC_LOC_LEN_ERR);
}

TEST_P(WireRc, its_own_wrong_key_fails_behind_what_is_under_way)
{
	if (!GetParam().from.is_bellhop())
		GTEST_SKIP() << "rdma_rxe sends";
	Terminals terminals = connect();
	Send wrong = terminals.message(IBV_WR_RDMA_WRITE, 5000, 0, 1);

	wrong.sges[0].lkey ^= 0x100;
	ASSERT_EQ(post(terminals.from.qp, terminals.message(IBV_WR_RDMA_WRITE, 50000, 0, 0)), 0);
	ASSERT_EQ(post(terminals.from.qp, wrong), 0);
	expect(terminals.from.send_cq, terminals.from.qp, 0);
	expect(terminals.from.send_cq, terminals.from.qp, 1, IBV_WC_LOC_PROT_ERR);
}

TEST_P(WireRc, gives_up_a_peer_that_is_gone)
{
	Path path;

	path.timeout = 10; /* 4 ms */
	path.retry_cnt = 2;
	Terminals terminals = connect(path);
	ASSERT_NO_FATAL_FAILURE(terminals.carry(IBV_WR_RDMA_WRITE, 1000, 0));
	ASSERT_EQ(terminals.to.qp.destroy(), 0);
	for (uint64_t i = 0; i < 3; i++)
		ASSERT_EQ(post(terminals.from.qp, terminals.message(IBV_WR_RDMA_WRITE, 5000, 0, i)),
			  0);
	expect(terminals.from.send_cq, terminals.from.qp, 0, IBV_WC_RETRY_EXC_ERR);
	for (uint64_t i = 1; i < 3; i++)
		expect(terminals.from.send_cq, terminals.from.qp, i, IBV_WC_WR_FLUSH_ERR);
}

TEST_P(WireRc, can_be_ended_at_any_moment)
{
	for (int round = 0; round < 10; round++) {
		Terminals terminals = connect();

		for (uint64_t i = 0; i < 50; i++)
			ASSERT_EQ(
				post(terminals.from.qp,
				     terminals.message(i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
						       50000, 0, i)),
				0);
		usleep(500 * round);
		switch (round % 4) {
		case 0:
			ASSERT_EQ(terminals.from.qp.modify(to_state(IBV_QPS_ERR)), 0);
			EXPECT_TRUE(comes_true([&] {
				ibv_wc wc;

				while (ibv_poll_cq(terminals.from.send_cq.get(), 1, &wc) > 0)
					if (wc.wr_id == 49)
						return true;
				return false;
			}));
			break;
		case 1:
			ASSERT_EQ(terminals.from.qp.modify(to_state(IBV_QPS_RESET)), 0);
			break;
		case 2:
			ASSERT_EQ(terminals.from.qp.destroy(), 0);
			break;
		default:
			ASSERT_EQ(terminals.to.qp.destroy(), 0);
		}
	}
}

/* Whole messages, or none. */
TEST_P(WireRc, unreliable_ones_arrive)
{
	Terminals terminals = connect({}, IBV_QPT_UC);

	for (ibv_wr_opcode opcode :
	     { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM })
		for (uint32_t length : { 0u, 1u, 1024u, 30000u })
			ASSERT_NO_FATAL_FAILURE(terminals.carry(opcode, length, 5));
}

/* What a queue of the network's does to packets. */
class Weather
{
public:
	explicit Weather(const std::string &how)
	{
		expect_command("tc qdisc add dev far-port root netem " + how);
		expect_command("tc qdisc add dev net0 root netem " + how);
	}

	~Weather()
	{
		run_command("tc qdisc delete dev far-port root", false);
		run_command("tc qdisc delete dev net0 root", false);
	}

	Weather(const Weather &) = delete;
	Weather &operator=(const Weather &) = delete;
};

TEST_P(WireRc, repairs_what_the_network_does)
{
	if (run_command("modprobe sch_netem", false))
		GTEST_SKIP() << "the kernel has no netem";
	const Weather weather("loss 2% duplicate 1% delay 100us 50us");
	Path path;

	path.timeout = 12; /* 17 ms */
	Terminals terminals = connect(path);
	for (int round = 0; round < 8; round++)
		for (ibv_wr_opcode opcode : moving)
			ASSERT_NO_FATAL_FAILURE(terminals.carry(opcode, 20000 + 777 * round, 3));
}

constexpr Way ways[] = {
	{ "bellhop_to_rxe_by_ipv4", far, rxe, Family::ipv4 },
	{ "bellhop_to_rxe_by_ipv6", far, rxe, Family::ipv6 },
	{ "rxe_to_bellhop_by_ipv4", rxe, far, Family::ipv4 },
	{ "rxe_to_bellhop_by_ipv6", rxe, far, Family::ipv6 },
	{ "bellhop_to_bellhop_by_ipv4", far, away, Family::ipv4 },
	{ "bellhop_to_bellhop_by_ipv6", far, away, Family::ipv6 },
};

INSTANTIATE_TEST_SUITE_P(Wire, WireRc, testing::ValuesIn(ways),
			 [](const auto &info) { return std::string(info.param.name); });

} // namespace

int main(int argc, char **argv)
{
	testing::AddGlobalTestEnvironment(new Network);
	return vm::run_ktap(argc, argv);
}
