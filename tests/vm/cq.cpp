// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// cq.cpp: completion queues hold what they say, and say when they cannot.
#include <memory>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

/* A CQ with few entries, a large one beside it, and a peer to talk to. */
class Small : public testing::Test
{
protected:
	static constexpr QpShape shape = { .cap = { 256, 256, 1, 1, 0 } };

	void connect(const Qp &qp, uint32_t receives)
	{
		qp.connect(peer.qp.address());
		peer.qp.connect(qp.address());
		for (uint32_t i = 0; i < receives; i++) {
			ASSERT_EQ(post_recv(peer.qp, {}, i), 0);
			ASSERT_EQ(post_recv(qp, {}, i), 0);
		}
	}

	void expect_overrun(const Qp &qp)
	{
		bool cq_told = false, qp_told = false;

		/* The CQ's event, and the QP's, in either order. */
		for (int i = 0; i < 2; i++) {
			std::optional<ibv_async_event> event = device.next_event();

			ASSERT_TRUE(event) << "an event is missing";
			if (event->event_type == IBV_EVENT_CQ_ERR) {
				EXPECT_EQ(event->element.cq, cq.get());
				cq_told = true;
			} else {
				EXPECT_EQ(event->event_type, IBV_EVENT_QP_FATAL);
				EXPECT_EQ(event->element.qp, qp.get());
				qp_told = true;
			}
		}
		EXPECT_TRUE(cq_told && qp_told);
		EXPECT_TRUE(qp.reaches(IBV_QPS_ERR));
		expect_no_event(device);
	}

	Device device;
	Pd pd{ device };
	Cq cq{ device, 13 };
	Cq large{ device, 1000 };
	const uint32_t entries = cq.get()->cqe;
	Endpoint peer{ shape };
};

TEST_F(Small, holds_exactly_its_entries)
{
	Qp qp(device, pd.get(), cq, large, shape);

	ASSERT_GE(entries, 13u);
	connect(qp, 0);
	for (int round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < entries; i++) {
			ASSERT_EQ(post_recv(peer.qp, {}, i), 0);
			ASSERT_EQ(post(qp, { .id = i }), 0);
		}
		for (uint32_t i = 0; i < entries; i++)
			expect(peer.recv_cq, peer.qp, i);
		for (uint32_t i = 0; i < entries; i++)
			expect(cq, qp, i);
		expect_none(cq, 0.01);
	}
	expect_no_event(device);
	EXPECT_EQ(qp.state(), IBV_QPS_RTS);
}

TEST_F(Small, overrun_by_sends)
{
	Qp qp(device, pd.get(), cq, large, shape);

	connect(qp, 100);
	for (uint32_t i = 0; i <= entries; i++)
		ASSERT_EQ(post(qp, { .id = i }), 0);
	expect_overrun(qp);
}

TEST_F(Small, overrun_by_receives)
{
	Qp qp(device, pd.get(), large, cq, shape);

	connect(qp, 100);
	for (uint32_t i = 0; i <= entries; i++)
		ASSERT_EQ(post(peer.qp, { .id = i }), 0);
	expect_overrun(qp);
}

/* Its neighbours do not suffer: a QP of the same process with another CQ works on. */
TEST_F(Small, overrun_is_a_private_matter)
{
	Qp qp(device, pd.get(), cq, large, shape), other(device, pd.get(), large, large, shape);
	Endpoint other_peer(shape);

	other.connect(other_peer.qp.address());
	other_peer.qp.connect(other.address());
	connect(qp, 100);
	for (uint32_t i = 0; i < entries + 10; i++)
		ASSERT_EQ(post(qp, { .id = i }), 0);
	EXPECT_TRUE(qp.reaches(IBV_QPS_ERR));
	ASSERT_EQ(post_recv(other_peer.qp, {}, 1), 0);
	ASSERT_EQ(post(other, { .id = 2 }), 0);
	expect(other_peer.recv_cq, other_peer.qp, 1);
	/* qp's receives were flushed into the same CQ. */
	ibv_wc wc;
	while ((wc = large.next()).qp_num != other.get()->qp_num)
		EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(wc.wr_id, 2u);
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

TEST(Poll, takes_as_many_as_asked_for)
{
	Pair pair({ .cap = { 64, 64, 1, 1, 0 } });
	ibv_wc wc[40];

	for (uint64_t id = 0; id < 50; id++) {
		ASSERT_EQ(post_recv(pair.b.qp, {}, id), 0);
		ASSERT_EQ(post(pair.a.qp, { .id = id }), 0);
	}
	/* The last receive is there when its send has completed. */
	for (uint64_t id = 0; id < 50; id++)
		expect(pair.a.send_cq, pair.a.qp, id);
	EXPECT_EQ(ibv_poll_cq(pair.b.recv_cq.get(), 0, wc), 0);
	EXPECT_EQ(ibv_poll_cq(pair.b.recv_cq.get(), 1, wc), 1);
	EXPECT_EQ(wc[0].wr_id, 0u);
	EXPECT_EQ(ibv_poll_cq(pair.b.recv_cq.get(), 40, wc), 40);
	for (uint64_t i = 0; i < 40; i++)
		EXPECT_EQ(wc[i].wr_id, 1 + i);
	EXPECT_EQ(ibv_poll_cq(pair.b.recv_cq.get(), 40, wc), 9);
	EXPECT_EQ(wc[8].wr_id, 49u);
	EXPECT_EQ(ibv_poll_cq(pair.b.recv_cq.get(), 40, wc), 0);
}

/* What a QP left in a CQ that lives on belongs to nobody. */
TEST(Poll, never_returns_completions_of_a_destroyed_qp)
{
	Device device;
	Pd pd(device);
	Cq cq(device, 64);
	auto qp = std::make_unique<Qp>(device, pd.get(), cq, cq);

	qp->connect(qp->address());
	for (uint64_t id = 0; id < 5; id++) {
		ASSERT_EQ(post_recv(*qp, {}, id), 0);
		ASSERT_EQ(post(*qp, { .id = id }), 0);
	}
	ASSERT_EQ(qp->destroy(), 0);
	expect_none(cq);
	Qp next(device, pd.get(), cq, cq);
	next.connect(next.address());
	ASSERT_EQ(post_recv(next, {}, 100), 0);
	ASSERT_EQ(post(next, { .id = 100 }), 0);
	expect(cq, next, 100);
	expect(cq, next, 100);
}

TEST(Destroy, is_refused_while_a_qp_uses_the_cq)
{
	Endpoint end;

	EXPECT_EQ(ibv_destroy_cq(end.send_cq.get()), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(end.recv_cq.get()), EBUSY);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
