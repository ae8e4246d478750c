// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_retry.cpp: peers that have no receive or do not answer at all are given up on, or waited for,
// as told.
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

static constexpr uint32_t length = 4096;

TEST(Rnr, is_given_up_after_rnr_retry)
{
	/* Timer 14 is 1 ms. */
	Pair pair({}, { .rnr_retry = 2 }, { .min_rnr_timer = 14 });
	Region a(pair.a.pd, length);
	const Deadline soon(10);

	ASSERT_EQ(post(pair.a.qp, { .sges = { a.sge(0, length) }, .id = 1 }), 0);
	ASSERT_EQ(post(pair.a.qp, { .id = 2 }), 0);
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_RNR_RETRY_EXC_ERR),
		      BELLHOP_REASON_RNR);
	EXPECT_FALSE(soon.passed());
	expect(pair.a.send_cq, pair.a.qp, 2, IBV_WC_WR_FLUSH_ERR);
	EXPECT_TRUE(pair.a.qp.reaches(IBV_QPS_ERR));

	/* The responder has done nothing wrong. */
	EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
	expect_none(pair.b.recv_cq);
	expect_no_event(pair.b.device);
}

TEST(Rnr, is_given_up_at_once_without_retries)
{
	Pair pair({}, { .rnr_retry = 0 }, {});

	ASSERT_EQ(post(pair.a.qp, { .id = 1 }), 0);
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_RNR_RETRY_EXC_ERR),
		      BELLHOP_REASON_RNR);
	EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
}

/* As long as it takes: many times what seven retries would. */
TEST(Rnr, waits_for_ever_with_7)
{
	Pair pair({}, { .rnr_retry = 7 }, { .min_rnr_timer = 1 });
	Region a(pair.a.pd, length), b(pair.b.pd, length);

	fill(a.memory.bytes(), 1);
	for (ibv_wr_opcode opcode : { IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM }) {
		std::memset(b.memory.data(), 0, length);
		ASSERT_EQ(post(pair.a.qp, { .opcode = opcode,
					    .sges = { a.sge(0, length) },
					    .remote = b.address(),
					    .rkey = b.mr.rkey(),
					    .id = 1 }),
			  0);
		expect_none(pair.a.send_cq, 1);
		EXPECT_EQ(pair.a.qp.state(), IBV_QPS_RTS);
		ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 2), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
		expect(pair.b.recv_cq, pair.b.qp, 2);
		EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
	}
}

/* The longest timer, 655 ms (0): a receive that comes in time is found at the next try at the
 * latest. */
TEST(Rnr, ends_when_a_receive_comes)
{
	Pair pair({}, { .rnr_retry = 6 }, { .min_rnr_timer = 0 });

	for (uint64_t id = 1; id <= 3; id++) {
		ASSERT_EQ(post(pair.a.qp, { .id = id }), 0);
		usleep(20000);
		ASSERT_EQ(post_recv(pair.b.qp, {}, id), 0);
		expect(pair.a.send_cq, pair.a.qp, id);
		expect(pair.b.recv_cq, pair.b.qp, id);
	}
}

/* Each message has its own count: none of many is given up on because of the ones before. */
TEST(Rnr, is_counted_anew_for_each_message)
{
	Pair pair({}, { .rnr_retry = 6 }, { .min_rnr_timer = 20 });

	for (uint64_t id = 0; id < 12; id++) {
		ASSERT_EQ(post(pair.a.qp, { .id = id }), 0);
		/* Timer 20 is 10 ms: a try or two. */
		usleep(15000);
		ASSERT_EQ(post_recv(pair.b.qp, {}, id), 0);
		expect(pair.a.send_cq, pair.a.qp, id);
	}
}

/* One end that is connected to what the case makes of the other. */
class Silence : public testing::Test
{
protected:
	/** A request is given up on within what timeout and retry_cnt allow, and a lot of slack. */
	void expect_given_up()
	{
		const Deadline soon(10);

		ASSERT_EQ(post(a.qp, { .sges = { region.sge(0, length) }, .id = 1 }), 0);
		ASSERT_EQ(post(a.qp, { .id = 2 }), 0);
		expect_reason(expect(a.send_cq, a.qp, 1, IBV_WC_RETRY_EXC_ERR),
			      BELLHOP_REASON_SILENT);
		EXPECT_FALSE(soon.passed());
		expect(a.send_cq, a.qp, 2, IBV_WC_WR_FLUSH_ERR);
		EXPECT_TRUE(a.qp.reaches(IBV_QPS_ERR));
	}

	/* Timeout 12 is 17 ms. */
	const Path path = { .timeout = 12, .retry_cnt = 2 };
	Endpoint a;
	Endpoint b;
	Region region{ a.pd, length };
};

TEST_F(Silence, of_a_peer_in_reset)
{
	a.qp.connect(b.qp.address(), path);
	expect_given_up();
	EXPECT_EQ(b.qp.state(), IBV_QPS_RESET);
}

TEST_F(Silence, of_a_peer_in_init)
{
	ASSERT_EQ(b.qp.modify(to_init()), 0);
	ASSERT_EQ(post_recv(b.qp, {}, 3), 0);
	a.qp.connect(b.qp.address(), path);
	expect_given_up();
	EXPECT_EQ(b.qp.state(), IBV_QPS_INIT);
	expect_none(b.recv_cq);
}

TEST_F(Silence, of_a_peer_in_error)
{
	b.qp.connect(a.qp.address(), path);
	a.qp.connect(b.qp.address(), path);
	ASSERT_EQ(b.qp.modify(to_state(IBV_QPS_ERR)), 0);
	expect_given_up();
}

TEST_F(Silence, of_a_peer_that_is_connected_to_another)
{
	Endpoint c;

	b.qp.connect(c.qp.address(), path);
	a.qp.connect(b.qp.address(), path);
	ASSERT_EQ(post_recv(b.qp, {}, 3), 0);
	expect_given_up();
	EXPECT_EQ(b.qp.state(), IBV_QPS_RTS);
	expect_none(b.recv_cq);
}

TEST_F(Silence, of_a_peer_that_is_destroyed)
{
	b.qp.connect(a.qp.address(), path);
	a.qp.connect(b.qp.address(), path);
	ASSERT_EQ(b.qp.destroy(), 0);
	expect_given_up();
}

TEST_F(Silence, of_a_number_that_nobody_has)
{
	for (uint32_t qpn : { 0xfffffeu, 0x800000u, 2u }) {
		Endpoint alone;
		Address nobody = { alone.device.gid(), qpn };

		if (qpn == alone.qp.get()->qp_num)
			continue;
		alone.qp.connect(nobody, path);
		ASSERT_EQ(post(alone.qp, { .id = 1 }), 0);
		expect_reason(expect(alone.send_cq, alone.qp, 1, IBV_WC_RETRY_EXC_ERR),
			      BELLHOP_REASON_SILENT);
	}
}

/* The same program a moment later: a peer that gets ready within the time is found. */
TEST_F(Silence, that_ends_in_time)
{
	Region to(b.pd, length);

	ASSERT_EQ(b.qp.modify(to_init()), 0);
	a.qp.connect(b.qp.address(), { .timeout = 18, .retry_cnt = 7 });
	fill(region.memory.bytes(), 1);
	ASSERT_EQ(post(a.qp, { .opcode = IBV_WR_RDMA_WRITE,
			       .sges = { region.sge(0, length) },
			       .remote = to.address(),
			       .rkey = to.mr.rkey(),
			       .id = 1 }),
		  0);
	usleep(50000);
	ASSERT_EQ(b.qp.modify(to_rtr(a.qp.address())), 0);
	expect(a.send_cq, a.qp, 1);
	EXPECT_EQ(std::memcmp(region.memory.data(), to.memory.data(), length), 0);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
