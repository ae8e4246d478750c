// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// cq_events.cpp: completion events come once for each request, for what was asked for, and none is
// lost.
#include <atomic>
#include <future>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

/* An end whose receives raise events. */
struct EventEnd {
	EventEnd()
	    : channel(device), pd(device), send_cq(device, 256), cq(device, 256, &channel),
	      qp(device, pd.get(), send_cq, cq)
	{
	}

	void arm(bool solicited_only) const
	{
		require(!ibv_req_notify_cq(cq.get(), solicited_only), "ibv_req_notify_cq");
	}

	/** Whether an event comes within @seconds. It is acknowledged. */
	bool event(double seconds = patience) const
	{
		ibv_cq *from = channel.next_event(seconds);

		if (!from)
			return false;
		EXPECT_EQ(from, cq.get());
		ibv_ack_cq_events(from, 1);
		return true;
	}

	Device device;
	Channel channel;
	Pd pd;
	Cq send_cq;
	Cq cq;
	Qp qp;
};

static constexpr double no_time = 0.1;

class Events : public testing::Test
{
protected:
	Events()
	{
		b.qp.connect(a.qp.address());
		a.qp.connect(b.qp.address());
	}

	/** a sends, b has received when it returns. */
	void send(unsigned flags = 0)
	{
		ASSERT_EQ(post_recv(b.qp, {}, 2), 0);
		ASSERT_EQ(post(a.qp, { .flags = IBV_SEND_SIGNALED | flags, .id = 1 }), 0);
		expect(a.send_cq, a.qp, 1);
	}

	Endpoint a;
	EventEnd b;
};

TEST_F(Events, do_not_come_unasked)
{
	send();
	EXPECT_FALSE(b.event(no_time));
}

TEST_F(Events, come_once_for_each_request)
{
	for (int round = 0; round < 20; round++) {
		b.arm(false);
		send();
		EXPECT_TRUE(b.event());
		send();
		EXPECT_FALSE(b.event(round ? 0.001 : no_time));
	}
}

TEST_F(Events, come_once_for_two_requests_in_a_row)
{
	b.arm(false);
	b.arm(false);
	send();
	EXPECT_TRUE(b.event());
	send();
	EXPECT_FALSE(b.event(no_time));
}

TEST_F(Events, that_are_solicited_come_for_solicited_sends)
{
	for (int round = 0; round < 5; round++) {
		b.arm(true);
		send();
		EXPECT_FALSE(b.event(no_time));
		send(IBV_SEND_SOLICITED);
		EXPECT_TRUE(b.event());
	}
}

TEST_F(Events, that_are_solicited_come_for_errors)
{
	b.arm(true);
	ASSERT_EQ(post_recv(b.qp, {}, 2), 0);
	EXPECT_FALSE(b.event(no_time));
	ASSERT_EQ(b.qp.modify(to_state(IBV_QPS_ERR)), 0);
	EXPECT_TRUE(b.event());
	expect(b.cq, b.qp, 2, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Events, come_for_solicited_sends_when_any_would_do)
{
	b.arm(false);
	send(IBV_SEND_SOLICITED);
	EXPECT_TRUE(b.event());
}

/* IBA 11.4.2.2: the wider request stands. */
TEST_F(Events, of_any_kind_are_not_narrowed_by_a_later_request)
{
	b.arm(false);
	b.arm(true);
	send();
	EXPECT_TRUE(b.event());
}

TEST_F(Events, of_solicited_kind_are_widened_by_a_later_request)
{
	b.arm(true);
	b.arm(false);
	send();
	EXPECT_TRUE(b.event());
}

TEST_F(Events, come_for_sends_of_ones_own)
{
	Channel channel(a.device);
	Cq cq(a.device, 16, &channel);
	Qp qp(a.device, a.pd.get(), cq, a.recv_cq);
	Endpoint peer;

	qp.connect(peer.qp.address());
	peer.qp.connect(qp.address());
	ASSERT_EQ(post_recv(peer.qp, {}, 1), 0);
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	ASSERT_EQ(post(qp, { .id = 2 }), 0);
	ibv_cq *from = channel.next_event();
	ASSERT_EQ(from, cq.get());
	ibv_ack_cq_events(from, 1);
	expect(cq, qp, 2);
}

/* A CQ cannot go while somebody may still hold one of its events. */
TEST(Destroy, waits_for_the_acknowledgement)
{
	Device device;
	Channel channel(device);
	Cq cq(device, 16, &channel);
	std::future<int> destroyed;
	ibv_cq *from;
	{
		Pd pd(device);
		Qp qp(device, pd.get(), cq, cq);

		qp.connect(qp.address());
		ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
		ASSERT_EQ(post_recv(qp, {}, 1), 0);
		ASSERT_EQ(post(qp, { .id = 2 }), 0);
		from = channel.next_event();
		ASSERT_EQ(from, cq.get());
	}
	destroyed = std::async(std::launch::async, [&cq] { return cq.destroy(); });
	EXPECT_EQ(destroyed.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
	ibv_ack_cq_events(from, 1);
	ASSERT_EQ(destroyed.wait_for(std::chrono::seconds(10)), std::future_status::ready);
	EXPECT_EQ(destroyed.get(), 0);
}

/*
 * Two threads that sleep until the other's message comes. One lost event and both sleep for ever;
 * the way of waiting is that of the manual: take the event, arm, and only then look into the queue.
 */
class Player
{
public:
	explicit Player(const Address &peer, const EventEnd &end) : end_(end)
	{
		end_.qp.connect(peer);
		for (uint64_t id = 0; id < 16; id++)
			require(!post_recv(end_.qp, {}, id), "ibv_post_recv");
		end_.arm(false);
	}

	/** Sends a message. */
	void serve(uint32_t round) const
	{
		const bool signalled = round % 32 == 31;

		require(!post(end_.qp, { .flags = signalled ? unsigned(IBV_SEND_SIGNALED) : 0 }),
			"ibv_post_send");
		if (signalled)
			require(end_.send_cq.next().status == IBV_WC_SUCCESS, "a send failed");
	}

	/** Waits for a message. False when no event comes in time. */
	bool receive()
	{
		while (!received_) {
			if (!end_.event(10))
				return false;
			end_.arm(false);
			while (std::optional<ibv_wc> wc = end_.cq.poll()) {
				require(wc->status == IBV_WC_SUCCESS, "a receive failed");
				require(!post_recv(end_.qp, {}, 0), "ibv_post_recv");
				received_++;
			}
		}
		received_--;
		return true;
	}

private:
	const EventEnd &end_;
	int received_ = 0;
};

TEST(PingPong, loses_no_event_in_20000_rounds)
{
	constexpr uint32_t rounds = 20000;
	const Deadline end(20);
	EventEnd a, b;
	Player first(b.qp.address(), a), second(a.qp.address(), b);
	std::atomic<uint32_t> played = 0;
	std::atomic<bool> over = false;

	std::future<bool> other = std::async(std::launch::async, [&] {
		for (uint32_t round = 0; !over; round++) {
			if (!second.receive())
				return bool(over);
			second.serve(round);
		}
		return true;
	});
	bool fine = true;
	while (fine && played < rounds && !end.passed()) {
		first.serve(played);
		fine = first.receive();
		played += fine;
	}
	over = true;
	if (fine)
		first.serve(0); /* so that the other wakes up and sees that it is over */
	EXPECT_TRUE(fine) << "an event was lost in round " << played;
	EXPECT_TRUE(other.get());
	note("%u rounds", played.load());
	EXPECT_GE(played, 100u) << "too slow to show anything";
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
