// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_flush.cpp: in the error state everything that was posted, or is, is flushed in the order of
// posting.
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

static void expect_flushed(const Cq &cq, const Qp &qp, uint64_t first, uint64_t count)
{
	for (uint64_t id = first; id < first + count; id++)
		expect_reason(expect(cq, qp, id, IBV_WC_WR_FLUSH_ERR), BELLHOP_REASON_FLUSHED);
}

TEST(Flush, of_what_was_posted)
{
	Pair pair;

	for (uint64_t id = 0; id < 32; id++) {
		ASSERT_EQ(post_recv(pair.a.qp, {}, 100 + id), 0);
		/* Nobody receives it. Flushed requests complete whether they are signalled or not.
		 */
		ASSERT_EQ(post(pair.a.qp,
			       { .flags = id % 3 ? 0u : unsigned(IBV_SEND_SIGNALED), .id = id }),
			  0);
	}
	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_ERR)), 0);
	expect_flushed(pair.a.send_cq, pair.a.qp, 0, 32);
	expect_flushed(pair.a.recv_cq, pair.a.qp, 100, 32);
	expect_none(pair.a.send_cq);
	expect_none(pair.a.recv_cq);
	EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
}

TEST(Flush, of_what_is_posted_in_the_error_state)
{
	Pair pair;

	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_ERR)), 0);
	for (uint64_t id = 0; id < 200; id++) {
		ASSERT_EQ(post(pair.a.qp, { .id = id }), 0);
		ASSERT_EQ(post_recv(pair.a.qp, {}, id), 0);
		expect_flushed(pair.a.send_cq, pair.a.qp, id, 1);
		expect_flushed(pair.a.recv_cq, pair.a.qp, id, 1);
		if (HasFailure())
			return;
	}
	expect_none(pair.a.send_cq);
	expect_none(pair.a.recv_cq);
}

/* The first error is told with its cause, what follows as flushed. */
TEST(Flush, after_an_error_of_the_first)
{
	Pair pair;
	Region a(pair.a.pd, 64), b(pair.b.pd, 64);

	/* The first waits, so that the others are there when it fails. */
	ASSERT_EQ(post(pair.a.qp, { .id = 0 }), 0);
	ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
				    .sges = { a.sge(0, 64) },
				    .remote = b.address(),
				    .rkey = b.mr.rkey() ^ 0x00ffff00,
				    .flags = 0,
				    .id = 1 }),
		  0);
	for (uint64_t id = 2; id < 20; id++)
		ASSERT_EQ(post(pair.a.qp, { .flags = 0, .id = id }), 0);
	for (uint64_t id = 0; id < 5; id++)
		ASSERT_EQ(post_recv(pair.a.qp, {}, 100 + id), 0);
	ASSERT_EQ(post_recv(pair.b.qp, {}, 200), 0);
	ASSERT_EQ(post_recv(pair.b.qp, {}, 201), 0);

	expect(pair.a.send_cq, pair.a.qp, 0);
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_ACCESS_ERR),
		      BELLHOP_REASON_RKEY_UNKNOWN);
	expect_flushed(pair.a.send_cq, pair.a.qp, 2, 18);
	expect_flushed(pair.a.recv_cq, pair.a.qp, 100, 5);
	expect(pair.b.recv_cq, pair.b.qp, 200);
	expect_flushed(pair.b.recv_cq, pair.b.qp, 201, 1);
	expect_none(pair.a.send_cq);
	expect_none(pair.b.recv_cq);
}

TEST(Flush, of_full_queues)
{
	Pair pair({ .cap = { 64, 64, 1, 1, 0 } });
	const uint32_t sends = pair.a.qp.cap().max_send_wr, recvs = pair.a.qp.cap().max_recv_wr;

	for (uint64_t id = 0; id < sends; id++)
		ASSERT_EQ(post(pair.a.qp, { .id = id }), 0);
	for (uint64_t id = 0; id < recvs; id++)
		ASSERT_EQ(post_recv(pair.a.qp, {}, id), 0);
	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_ERR)), 0);
	expect_flushed(pair.a.send_cq, pair.a.qp, 0, sends);
	expect_flushed(pair.a.recv_cq, pair.a.qp, 0, recvs);
	/* All slots are free again. */
	for (uint64_t id = 0; id < sends; id++)
		ASSERT_EQ(post(pair.a.qp, { .id = id }), 0);
	expect_flushed(pair.a.send_cq, pair.a.qp, 0, sends);
}

TEST(Flush, is_over_after_a_reset)
{
	Pair pair;

	for (int round = 0; round < 5; round++) {
		ASSERT_EQ(post(pair.a.qp, { .id = 1 }), 0);
		ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_ERR)), 0);
		expect_flushed(pair.a.send_cq, pair.a.qp, 1, 1);
		pair.reconnect();
		ASSERT_EQ(post_recv(pair.b.qp, {}, 2), 0);
		ASSERT_EQ(post(pair.a.qp, { .id = 3 }), 0);
		expect(pair.a.send_cq, pair.a.qp, 3);
		expect(pair.b.recv_cq, pair.b.qp, 2);
	}
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
