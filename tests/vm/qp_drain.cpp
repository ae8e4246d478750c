// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// qp_drain.cpp: SQD finishes what has begun, begins nothing, says so when asked, and goes on after
// RTS.
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

static Change to_sqd(bool notify)
{
	Change change = to_state(IBV_QPS_SQD);

	change.attr.en_sqd_async_notify = notify;
	change.mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
	return change;
}

TEST(Drain, of_an_idle_queue_is_told_at_once)
{
	Pair pair;

	ASSERT_EQ(pair.a.qp.modify(to_sqd(true)), 0);
	expect_event(pair.a.device, IBV_EVENT_SQ_DRAINED, pair.a.qp);
	expect_no_event(pair.a.device);
	EXPECT_EQ(pair.a.qp.query().qp_state, IBV_QPS_SQD);
	EXPECT_EQ(pair.a.qp.query().sq_draining, 0);
}

TEST(Drain, is_not_told_unless_asked_for)
{
	Pair pair;

	ASSERT_EQ(pair.a.qp.modify(to_sqd(false)), 0);
	expect_no_event(pair.a.device, 0.2);
	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_RTS)), 0);
	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_SQD)), 0);
	expect_no_event(pair.a.device, 0.2);
}

TEST(Drain, waits_for_what_has_begun)
{
	Pair pair;

	/* It waits for a receive. */
	ASSERT_EQ(post(pair.a.qp, { .id = 1 }), 0);
	ASSERT_EQ(pair.a.qp.modify(to_sqd(true)), 0);
	expect_no_event(pair.a.device, 0.2);
	EXPECT_EQ(pair.a.qp.query().sq_draining, 1);
	ASSERT_EQ(post_recv(pair.b.qp, {}, 2), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	expect_event(pair.a.device, IBV_EVENT_SQ_DRAINED, pair.a.qp);
	EXPECT_EQ(pair.a.qp.query().sq_draining, 0);
}

TEST(Drain, holds_back_what_is_posted_until_rts)
{
	Pair pair;

	for (int round = 0; round < 5; round++) {
		ASSERT_EQ(pair.a.qp.modify(to_sqd(true)), 0);
		expect_event(pair.a.device, IBV_EVENT_SQ_DRAINED, pair.a.qp);
		for (uint64_t id = 0; id < 10; id++) {
			ASSERT_EQ(post_recv(pair.b.qp, {}, id), 0);
			ASSERT_EQ(post(pair.a.qp, { .id = id }), 0);
		}
		expect_none(pair.a.send_cq, 0.1);
		expect_none(pair.b.recv_cq, 0.01);
		ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_RTS)), 0);
		for (uint64_t id = 0; id < 10; id++) {
			expect(pair.a.send_cq, pair.a.qp, id);
			expect(pair.b.recv_cq, pair.b.qp, id);
		}
	}
}

/* Only the send queue is drained: requests of the peer are answered. */
TEST(Drain, answers_the_peer)
{
	Pair pair;
	Region a(pair.a.pd, 4096), b(pair.b.pd, 4096);

	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_SQD)), 0);
	fill(b.memory.bytes(), 1);
	ASSERT_EQ(post_recv(pair.a.qp, { a.sge(0, 4096) }, 1), 0);
	ASSERT_EQ(post(pair.b.qp, { .sges = { b.sge(0, 4096) }, .id = 2 }), 0);
	expect(pair.b.send_cq, pair.b.qp, 2);
	expect(pair.a.recv_cq, pair.a.qp, 1);
	EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), 4096), 0);
}

TEST(Drain, lets_attributes_be_changed)
{
	Pair pair;
	Change change = to_state(IBV_QPS_SQD);

	ASSERT_EQ(pair.a.qp.modify(change), 0);
	change.attr.retry_cnt = 3;
	change.attr.timeout = 11;
	change.mask |= IBV_QP_RETRY_CNT | IBV_QP_TIMEOUT;
	ASSERT_EQ(pair.a.qp.modify(change), 0);
	EXPECT_EQ(pair.a.qp.query().retry_cnt, 3);
	EXPECT_EQ(pair.a.qp.query().timeout, 11);
	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_RTS)), 0);
	ASSERT_EQ(post_recv(pair.b.qp, {}, 2), 0);
	ASSERT_EQ(post(pair.a.qp, { .id = 1 }), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
}

TEST(Drain, ends_in_the_error_state_with_a_flush)
{
	Pair pair;

	ASSERT_EQ(post(pair.a.qp, { .id = 0 }), 0);
	ASSERT_EQ(pair.a.qp.modify(to_sqd(false)), 0);
	for (uint64_t id = 1; id < 5; id++)
		ASSERT_EQ(post(pair.a.qp, { .id = id }), 0);
	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_ERR)), 0);
	for (uint64_t id = 0; id < 5; id++)
		expect(pair.a.send_cq, pair.a.qp, id, IBV_WC_WR_FLUSH_ERR);
	expect_none(pair.a.send_cq);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
