// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_receive.cpp: receives that cannot hold what comes fail on both sides as the IBA says.
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

static constexpr uint32_t length = 4096;

class Receive : public testing::Test
{
protected:
	/** A send that finds @sges: @sender is a's status, @receiver b's; both QPs end in error. */
	void expect_refused(std::vector<ibv_sge> sges, ibv_wc_status sender, ibv_wc_status receiver,
			    bellhop_reason reason)
	{
		ASSERT_EQ(post_recv(pair.b.qp, sges, 2), 0);
		ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 3), 0);
		ASSERT_EQ(post(pair.a.qp, { .sges = { a.sge(0, length) }, .id = 1 }), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, sender), reason);
		if (HasFailure())
			return; /* What follows would be waited for in vain. */
		expect_reason(expect(pair.b.recv_cq, pair.b.qp, 2, receiver), reason);
		EXPECT_TRUE(pair.a.qp.reaches(IBV_QPS_ERR));
		EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
		expect_reason(expect(pair.b.recv_cq, pair.b.qp, 3, IBV_WC_WR_FLUSH_ERR),
			      BELLHOP_REASON_FLUSHED);
	}

	Pair pair;
	Region a{ pair.a.pd, length };
	Region b{ pair.b.pd, 2 * length };
};

TEST_F(Receive, that_is_too_short)
{
	expect_refused({ b.sge(0, length - 1) }, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR,
		       BELLHOP_REASON_RECV_TOO_SHORT);
}

TEST_F(Receive, without_room)
{
	expect_refused({}, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR,
		       BELLHOP_REASON_RECV_TOO_SHORT);
}

TEST_F(Receive, by_a_key_of_nothing)
{
	expect_refused({ { b.address(), length, b.mr.lkey() ^ 0x00ffff00 } }, IBV_WC_REM_OP_ERR,
		       IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
}

TEST_F(Receive, by_the_rkey)
{
	if (b.mr.lkey() == b.mr.rkey())
		GTEST_SKIP() << "the device does not tell lkey and rkey apart";
	expect_refused({ { b.address(), length, b.mr.rkey() } }, IBV_WC_REM_OP_ERR,
		       IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
}

TEST_F(Receive, past_the_end_of_its_region)
{
	expect_refused({ b.sge(length + 1, length) }, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR,
		       BELLHOP_REASON_LKEY_RANGE);
}

TEST_F(Receive, into_a_region_that_may_not_be_written)
{
	Region region(pair.b.pd, length, 0);

	expect_refused({ region.sge(0, length) }, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR,
		       BELLHOP_REASON_LKEY_ACCESS);
	EXPECT_EQ(region.memory.data()[0], 0);
}

TEST_F(Receive, into_a_region_of_another_pd)
{
	Pd other(pair.b.device);
	Region region(other, length);

	fill(a.memory.bytes(), 1);
	expect_refused({ region.sge(0, length) }, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR,
		       BELLHOP_REASON_LKEY_PD);
	for (uint8_t byte : region.memory.bytes())
		ASSERT_EQ(byte, 0);
}

/* The message ends before the element that is wrong: nothing is wrong (IBA 10.6.3.1). */
TEST_F(Receive, whose_faulty_part_is_not_reached)
{
	ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length), { 0, 100, 0xdeadbeef } }, 2), 0);
	ASSERT_EQ(post(pair.a.qp, { .sges = { a.sge(0, length) }, .id = 1 }), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	expect(pair.b.recv_cq, pair.b.qp, 2);
}

/* A write with immediate data only consumes the receive: what it points to does not matter. */
TEST_F(Receive, that_immediate_data_consumes_is_not_looked_into)
{
	ASSERT_EQ(post_recv(pair.b.qp, { { 0, 1, 0xdeadbeef } }, 2), 0);
	ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				    .sges = { a.sge(0, length) },
				    .remote = b.address(),
				    .rkey = b.mr.rkey(),
				    .id = 1 }),
		  0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 2).opcode, IBV_WC_RECV_RDMA_WITH_IMM);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
