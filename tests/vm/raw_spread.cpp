// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// raw_spread.cpp: a raw packet QP whose frames are received by work queues: each by the one that
// the hash of its headers says.
#include "command.hpp"
#include "ktap.hpp"
#include "wq.hpp"

namespace
{

using namespace vm;

/* Their last digits are different: which of 16 queues it is. */
constexpr auto &examples = hash_examples_ipv4;

Packet packet_of(const HashExample &example)
{
	return Packet(ETHERTYPE_IP)
		.ipv4(IPPROTO_UDP)
		.between(example.source, example.destination)
		.udp()
		.pad(100);
}

class RawSpread : public testing::Test
{
protected:
	static constexpr uint32_t log_size = 4, room = 2048;
	static constexpr uint64_t fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;

	RawSpread()
	{
		for (uint32_t i = 0; i < 1u << log_size; i++) {
			queues.emplace_back(pd, cq);
			require_errno(!(errno = queues[i].modify(IBV_WQS_RDY)), "to RDY");
		}
	}

	/* To be called first by each test. */
	void spread(uint64_t by = fields)
	{
		table.emplace(device, queues, log_size);
		qp.emplace(pd, *table, by);
		flow.emplace(qp->get(), Wants());
	}

	/* Each queue can take one more, whose number is the queue's. */
	void receive()
	{
		for (uint32_t i = 0; i < queues.size(); i++)
			ASSERT_EQ(queues[i].post(region.sge(i * room, room), i), 0);
	}

	/* The queue of that number receives the frame. */
	void expect_frame(const Packet &packet, uint64_t queue)
	{
		const ibv_wc wc = cq.next();

		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_EQ(wc.opcode, IBV_WC_RECV);
		EXPECT_EQ(wc.wr_id, queue);
		EXPECT_EQ(wc.qp_num, queues[queue].get()->wq_num);
		ASSERT_EQ(wc.byte_len, packet.size());
		EXPECT_TRUE(std::ranges::equal(
			std::span(region.memory.data() + wc.wr_id * room, packet.size()),
			packet.bytes()));
	}

	RawStation sender;
	Device device;
	Pd pd{ device };
	Cq cq{ device, 256 };
	Region region{ pd, 16 * room };
	std::vector<Wq> queues;
	std::optional<Table> table;
	std::optional<SpreadQp> qp;
	std::optional<Flow> flow;
};

TEST_F(RawSpread, goes_where_the_hash_says)
{
	spread();
	for (int round = 0; round < 3; round++)
		for (const HashExample &example : examples) {
			const Packet packet = packet_of(example);

			receive();
			sender.send(packet);
			expect_frame(packet, example.ip & 15);
			expect_none(cq, 0.01);
		}
	/* What has none of it is the first one's. */
	const Packet other = Packet(0x88b5).pad(60);
	receive();
	sender.send(other);
	expect_frame(other, 0);
}

TEST_F(RawSpread, goes_nowhere_else)
{
	spread();
	const Packet packet = packet_of(examples[0]);
	const Wq &queue = queues[examples[0].ip & 15];

	/* What a queue cannot take no other gets. */
	receive();
	for (ibv_wq_state state : { IBV_WQS_RESET, IBV_WQS_ERR }) {
		ASSERT_EQ(queue.modify(state), 0);
		if (state == IBV_WQS_ERR) {
			ASSERT_EQ(queue.post(region.sge(0, room), 99), 0);
			const ibv_wc wc = cq.next();
			EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
			EXPECT_EQ(wc.wr_id, 99u);
		}
		sender.send(packet);
		expect_none(cq);
	}
	EXPECT_EQ(queue.modify(IBV_WQS_RDY), EINVAL)
		<< "out of error leads only the way over reset";
	ASSERT_EQ(queue.modify(IBV_WQS_RESET), 0);
	EXPECT_EQ(queue.post(region.sge(0, room), 1), EINVAL) << "posted in RESET";
	EXPECT_EQ(queue.modify(IBV_WQS_RDY, IBV_WQS_RDY), EINVAL) << "it is in another state";
	ASSERT_EQ(queue.modify(IBV_WQS_RDY, IBV_WQS_RESET), 0);
	sender.send(packet);
	expect_none(cq);
	receive();
	sender.send(packet);
	expect_frame(packet, examples[0].ip & 15);
	/* The QP itself has no state that could stop it. */
	Change change = to_state(IBV_QPS_RESET);
	EXPECT_EQ(ibv_modify_qp(qp->get(), &change.attr, change.mask), EOPNOTSUPP);
}

TEST_F(RawSpread, is_by_what_was_asked_for)
{
	spread(IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP);
	uint64_t by_port = 16;

	for (const HashExample &example : examples) {
		receive();
		sender.send(packet_of(example));
		const ibv_wc wc = cq.next();
		EXPECT_TRUE(by_port == 16 || wc.wr_id == by_port) << "all have the same ports";
		by_port = wc.wr_id;
	}
}

TEST_F(RawSpread, keeps_what_it_needs)
{
	spread();
	EXPECT_EQ(queues[3].destroy(), EBUSY);
	EXPECT_EQ(ibv_destroy_rwq_ind_table(table->get()), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(cq.get()), EBUSY);
	EXPECT_EQ(ibv_destroy_qp(qp->get()), EBUSY) << "it has a flow";
}

TEST_F(RawSpread, refuses_others)
{
	Table small(device, queues, 0);
	ibv_wq_init_attr attr = {};

	EXPECT_FALSE(SpreadQp::create(pd, small, uint64_t(IBV_RX_HASH_INNER)));
	EXPECT_EQ(errno, EOPNOTSUPP);
	attr.wq_type = IBV_WQT_RQ;
	attr.max_wr = 1;
	attr.max_sge = 1;
	attr.pd = pd.get();
	attr.cq = cq.get();
	attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	attr.create_flags = IBV_WQ_FLAGS_CVLAN_STRIPPING;
	EXPECT_FALSE(ibv_create_wq(device.get(), &attr));
	EXPECT_EQ(errno, EOPNOTSUPP);
	attr.create_flags = 0;
	attr.max_wr = 1 << 30;
	EXPECT_FALSE(ibv_create_wq(device.get(), &attr));
	EXPECT_EQ(errno, EINVAL);

	ibv_device_attr_ex caps;
	ASSERT_EQ(ibv_query_device_ex(device.get(), nullptr, &caps), 0);
	EXPECT_EQ(caps.rss_caps.supported_qpts, 1u << IBV_QPT_RAW_PACKET);
	EXPECT_EQ(caps.rss_caps.rx_hash_function, IBV_RX_HASH_FUNC_TOEPLITZ);
	EXPECT_GE(caps.rss_caps.max_rwq_indirection_table_size, 128u);
	EXPECT_GT(caps.max_wq_type_rq, 0u);
}

/* All of it goes with its process, whenever that is. */
TEST(RawSpreadKilled, leaves_nothing)
{
	for (int round = 0; round < 5; round++) {
		Child child([] {
			RawStation station;
			Cq cq(station.device, 64);
			std::vector<Wq> queues;

			for (int i = 0; i < 4; i++) {
				queues.emplace_back(station.pd, cq);
				queues[i].modify(IBV_WQS_RDY);
			}
			Table table(station.device, queues, 2);
			SpreadQp qp(station.pd, table, IBV_RX_HASH_SRC_IPV4);
			Flow flow(qp.get(), Wants());
			for (;;)
				station.send(packet_of(examples[0]));
			return 0;
		});

		usleep(300000);
		child.kill();
		EXPECT_TRUE(child.wait()) << "does not end";
	}
	RawStation station;
	station.send(packet_of(examples[0]));
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
