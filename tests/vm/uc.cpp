// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// uc.cpp: an unreliable connection moves its bytes as a reliable one does; what its responder does
// not take is lost, and neither side hears of it.
#include "ktap.hpp"
#include "transfer.hpp"

using namespace vm;

static const QpShape uc = { .type = IBV_QPT_UC };

class Operation : public testing::TestWithParam<std::tuple<ibv_wr_opcode, bool>>
{
};

TEST_P(Operation, moves_bytes)
{
	const auto [opcode, extended] = GetParam();
	TransferRig rig(256 << 10, { .extended = extended, .type = IBV_QPT_UC });

	for (uint32_t length : { 0, 1, 7, 64, 65, 1000, 4096, 65536, 200000 })
		rig.run({ .opcode = opcode,
			  .local = { { 1234, length } },
			  .remote = { { 777, length } },
			  .extended = extended });
}

INSTANTIATE_TEST_SUITE_P(uc, Operation,
			 testing::Combine(testing::Values(IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
							  IBV_WR_RDMA_WRITE,
							  IBV_WR_RDMA_WRITE_WITH_IMM),
					  testing::Bool()),
			 [](const auto &info) {
				 return opcode_name(std::get<0>(info.param)) +
					(std::get<1>(info.param) ? "_ex" : "");
			 });

/* Two ends; what a sends in vain does neither of them any harm. */
class Unreliable : public testing::Test
{
protected:
	static constexpr uint32_t length = 4096;

	/** The request that would arrive. */
	Send good(ibv_wr_opcode opcode, uint64_t id = 1) const
	{
		return { .opcode = opcode,
			 .sges = { a.sge(0, length) },
			 .remote = has_remote(opcode) ? b.address() : 0,
			 .rkey = has_remote(opcode) ? b.mr.rkey() : 0,
			 .id = id };
	}

	/** It succeeds for a, and b does not hear of it. */
	void expect_lost(const Send &send)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect(pair.a.send_cq, pair.a.qp, send.id);
		expect_none(pair.b.recv_cq);
		EXPECT_EQ(pair.a.qp.state(), IBV_QPS_RTS);
		EXPECT_FALSE(pair.b.device.next_event(0.01)) << "b was told";
	}

	/** b's program has heard of the connection by now. */
	void establish()
	{
		ASSERT_EQ(post_recv(pair.b.qp, {}, 1), 0);
		ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_SEND, .id = 1 }), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
		expect(pair.b.recv_cq, pair.b.qp, 1);
	}

	/** A message arrives in b's receive @id, which was posted before. */
	void expect_arrives(uint64_t id)
	{
		fill(a.memory.bytes(), static_cast<uint32_t>(id));
		ASSERT_EQ(post(pair.a.qp, good(IBV_WR_SEND, 99)), 0);
		expect(pair.a.send_cq, pair.a.qp, 99);
		EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, id).byte_len, length);
		EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
		EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
	}

	void SetUp() override
	{
		establish();
	}

	Pair pair{ uc };
	Region a{ pair.a.pd, 4 * length };
	Region b{ pair.b.pd, 4 * length };
};

TEST_F(Unreliable, a_message_without_a_receive_is_lost)
{
	expect_lost(good(IBV_WR_SEND));
	expect_lost(good(IBV_WR_RDMA_WRITE_WITH_IMM));
	ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 7), 0);
	expect_arrives(7);
}

TEST_F(Unreliable, a_message_that_is_too_long_leaves_the_receive_to_the_next)
{
	Send send = good(IBV_WR_SEND);

	send.sges = { a.sge(0, length + 1) };
	ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 7), 0);
	expect_lost(send);
	expect_arrives(7);
}

TEST_F(Unreliable, a_write_by_a_wrong_key_is_lost)
{
	for (ibv_wr_opcode opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM }) {
		Send unknown = good(opcode), beyond = good(opcode);

		unknown.rkey ^= 0x100;
		beyond.remote += 3 * length + 1;
		ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 7), 0);
		expect_lost(unknown);
		expect_lost(beyond);
		expect_arrives(7);
	}
}

TEST_F(Unreliable, a_write_that_the_qp_does_not_allow_is_lost)
{
	Change change = { .attr = {}, .mask = IBV_QP_ACCESS_FLAGS };

	change.attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE;
	ASSERT_EQ(pair.b.qp.modify(change), 0);
	ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 7), 0);
	expect_lost(good(IBV_WR_RDMA_WRITE));
	expect_lost(good(IBV_WR_RDMA_WRITE_WITH_IMM));
	expect_arrives(7);
}

TEST_F(Unreliable, who_does_not_listen_hears_nothing)
{
	pair.b.qp.modify(to_state(IBV_QPS_RESET));
	expect_lost(good(IBV_WR_SEND));
	pair.b.qp.connect(pair.a.qp.address());
	establish();
	ASSERT_EQ(pair.b.qp.modify(to_state(IBV_QPS_ERR)), 0);
	expect_lost(good(IBV_WR_RDMA_WRITE));
	ASSERT_EQ(pair.b.qp.destroy(), 0);
	expect_lost(good(IBV_WR_SEND));
}

TEST_F(Unreliable, the_responder_s_own_fault_is_its_own)
{
	ibv_sge wrong = b.sge(0, length);

	wrong.lkey ^= 0x100;
	ASSERT_EQ(post_recv(pair.b.qp, { wrong }, 7), 0);
	ASSERT_EQ(post(pair.a.qp, good(IBV_WR_SEND)), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	expect_reason(expect(pair.b.recv_cq, pair.b.qp, 7, IBV_WC_LOC_PROT_ERR),
		      BELLHOP_REASON_LKEY_UNKNOWN);
	EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
	EXPECT_EQ(pair.a.qp.state(), IBV_QPS_RTS);
}

/* Its first part is there before the second one fails at the sender. */
TEST_F(Unreliable, a_message_that_breaks_off_leaves_the_receive_to_the_next)
{
	const uint32_t part = 1 << 20;
	Region from(pair.a.pd, part), to(pair.b.pd, 2 * part);
	ibv_sge wrong = from.sge(0, part);

	wrong.lkey ^= 0x100;
	ASSERT_EQ(post_recv(pair.b.qp, { to.sge(0, 2 * part) }, 7), 0);
	fill(from.memory.bytes(), 1);
	ASSERT_EQ(post(pair.a.qp,
		       { .opcode = IBV_WR_SEND, .sges = { from.sge(0, part), wrong }, .id = 1 }),
		  0);
	expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_LOC_PROT_ERR);
	EXPECT_EQ(std::memcmp(from.memory.data(), to.memory.data(), part), 0)
		<< "the message did not break off in the middle";
	expect_none(pair.b.recv_cq);

	pair.a.qp.modify(to_state(IBV_QPS_RESET));
	pair.a.qp.connect(pair.b.qp.address());
	fill(from.memory.bytes(), 2);
	ASSERT_EQ(
		post(pair.a.qp, { .opcode = IBV_WR_SEND, .sges = { from.sge(0, part) }, .id = 2 }),
		0);
	expect(pair.a.send_cq, pair.a.qp, 2);
	EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 7).byte_len, part);
	EXPECT_EQ(std::memcmp(from.memory.data(), to.memory.data(), part), 0);
}

TEST_F(Unreliable, reads_and_atomics_there_are_none)
{
	for (ibv_wr_opcode opcode :
	     { IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD })
		EXPECT_EQ(post(pair.a.qp, good(opcode)), EINVAL) << opcode;
	for (uint64_t operation : { IBV_QP_EX_WITH_RDMA_READ, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
				    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD }) {
		ibv_qp_init_attr_ex attr = {};

		attr.send_cq = pair.a.send_cq.get();
		attr.recv_cq = pair.a.recv_cq.get();
		attr.cap = cap_default;
		attr.qp_type = IBV_QPT_UC;
		attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.pd = pair.a.pd.get();
		attr.send_ops_flags = operation;
		errno = 0;
		EXPECT_FALSE(ibv_create_qp_ex(pair.a.device.get(), &attr)) << operation;
		EXPECT_EQ(errno, EOPNOTSUPP) << operation;
	}
}

TEST_F(Unreliable, another_service_hears_nothing)
{
	Endpoint reliable;

	reliable.qp.connect(pair.b.qp.address(), { .timeout = 8, .retry_cnt = 1 });
	pair.b.qp.modify(to_state(IBV_QPS_RESET));
	pair.b.qp.connect(reliable.qp.address());
	ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 7), 0);
	ASSERT_EQ(post(reliable.qp, { .opcode = IBV_WR_SEND, .id = 1 }), 0);
	expect(reliable.send_cq, reliable.qp, 1, IBV_WC_RETRY_EXC_ERR);
	expect_none(pair.b.recv_cq);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
