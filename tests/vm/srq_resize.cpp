// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// srq_resize.cpp: a shared receive queue grows and shrinks, and no entry is lost by it or comes out
// of turn.
#include <thread>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "meminfo.hpp"
#include "seed.hpp"
#include "srq.hpp"

using namespace vm;

/* A QP that receives from an SRQ, and one that sends to it. */
class SrqResize : public testing::Test
{
protected:
	SrqResize()
	{
		connect(receiver, sender);
	}

	static void connect(const Qp &receiver, const Endpoint &sender)
	{
		const Path path = { .min_rnr_timer = 12, .rnr_retry = 7 };

		receiver.connect(sender.qp.address(), path);
		sender.qp.connect(receiver.address(), path);
	}

	int post_one()
	{
		const int error = srq.post({ region.sge(0, 64) }, posted);

		posted += !error;
		return error;
	}

	void post_many(uint64_t count)
	{
		for (uint64_t i = 0; i < count; i++)
			ASSERT_EQ(post_one(), 0) << i;
	}

	/* The next @count messages take the next @count entries. */
	void send(uint64_t count)
	{
		for (uint64_t i = 0; i < count; i++) {
			ASSERT_EQ(vm::post(sender.qp, { .opcode = IBV_WR_SEND, .id = i }), 0);
			expect(sender.send_cq, sender.qp, i);
			expect(cq, receiver, taken++);
			if (HasFailure())
				return;
		}
	}

	void expect_full()
	{
		EXPECT_EQ(post_one(), ENOMEM);
	}

	Device device;
	Pd pd{ device };
	Cq cq{ device, 4096 };
	Region region{ pd, 4096 };
	Srq srq{ pd, 16 };
	Qp receiver{ device, pd.get(), cq, cq, { .srq = srq.get() } };
	Endpoint sender;
	uint64_t posted = 0, taken = 0;
};

TEST_F(SrqResize, is_offered)
{
	ibv_device_attr attr;

	ASSERT_EQ(ibv_query_device(device.get(), &attr), 0);
	EXPECT_TRUE(attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
}

TEST_F(SrqResize, tells_how_large_it_is)
{
	for (uint32_t max_wr : { 17u, 1000u, 1u, 64u, 64u, 32768u, 16u }) {
		ASSERT_EQ(srq.resize(max_wr), 0) << max_wr;
		EXPECT_GE(srq.query().max_wr, max_wr);
		EXPECT_LT(srq.query().max_wr, 2 * max_wr + 1);
		EXPECT_EQ(srq.query().max_sge, 2u);
		post_many(1);
		send(1);
	}
}

TEST_F(SrqResize, refuses_what_no_queue_has)
{
	ibv_device_attr attr;

	ASSERT_EQ(ibv_query_device(device.get(), &attr), 0);
	post_many(3);
	for (uint32_t max_wr : { 0u, unsigned(attr.max_srq_wr) + 1, 0x80000000u, ~0u }) {
		EXPECT_EQ(srq.resize(max_wr), EINVAL) << max_wr;
		EXPECT_EQ(srq.query().max_wr, 16u);
	}
	ibv_srq_attr none = { 64, 0, 0 };
	EXPECT_EQ(ibv_modify_srq(srq.get(), &none, IBV_SRQ_MAX_WR | 1 << 7), EOPNOTSUPP);
	EXPECT_EQ(srq.query().max_wr, 16u);
	send(3);
}

TEST_F(SrqResize, keeps_what_is_posted_in_order)
{
	post_many(16);
	expect_full();
	send(5);
	ASSERT_EQ(srq.resize(100), 0);
	post_many(117);
	expect_full();
	send(100);
	ASSERT_EQ(srq.resize(32), 0);
	post_many(4);
	expect_full();
	ASSERT_EQ(srq.resize(64), 0);
	post_many(32);
	expect_full();
	send(64);
	post_many(64);
	send(64);
}

/* Wherever in the ring the entries lie. */
TEST_F(SrqResize, keeps_entries_that_lie_around_the_end)
{
	for (uint64_t lap = 0; lap < 40; lap++) {
		ASSERT_EQ(srq.resize(lap % 2 ? 64 : 16), 0);
		post_many(11);
		send(4);
		ASSERT_EQ(srq.resize(8), 0);
		send(7);
	}
}

TEST_F(SrqResize, refuses_to_hold_less_than_is_posted)
{
	ASSERT_EQ(srq.resize(64), 0);
	post_many(40);
	EXPECT_EQ(srq.resize(32), EINVAL);
	EXPECT_EQ(srq.query().max_wr, 64u);
	send(8);
	EXPECT_EQ(srq.resize(32), 0);
	EXPECT_EQ(srq.query().max_wr, 32u);
	expect_full();
	send(32);
}

/* It waits beside the ring for the next message, and wants a place like any other. */
TEST_F(SrqResize, counts_what_was_taken_and_not_used)
{
	Region from(sender.pd, 4096);
	ibv_sge wrong = from.sge(0, 64);

	wrong.lkey ^= 0x100;
	post_many(8);
	ASSERT_EQ(vm::post(sender.qp, { .opcode = IBV_WR_SEND, .sges = { wrong }, .id = 1 }), 0);
	expect(sender.send_cq, sender.qp, 1, IBV_WC_LOC_PROT_ERR);
	ASSERT_EQ(sender.qp.modify(to_state(IBV_QPS_RESET)), 0);
	ASSERT_EQ(receiver.modify(to_state(IBV_QPS_RESET)), 0);
	connect(receiver, sender);
	post_many(1);
	EXPECT_EQ(srq.resize(8), EINVAL);
	send(1);
	EXPECT_EQ(srq.resize(8), 0);
	send(8);
}

TEST_F(SrqResize, and_its_limit)
{
	ASSERT_EQ(srq.resize(64), 0);
	post_many(10);
	ASSERT_EQ(srq.set_limit(9), 0);
	/* It has to fit, whether it is told or was before. */
	EXPECT_EQ(srq.resize(128, 129), EINVAL);
	EXPECT_EQ(srq.query().max_wr, 64u);
	EXPECT_EQ(srq.query().srq_limit, 9u);
	send(6);
	EXPECT_EQ(srq.query().srq_limit, 0u) << "it was told";
	ASSERT_TRUE(device.next_event());
	ASSERT_EQ(srq.set_limit(4), 0);
	EXPECT_EQ(srq.resize(128, 3), 0);
	EXPECT_EQ(srq.query().max_wr, 128u);
	EXPECT_EQ(srq.query().srq_limit, 3u);
	post_many(20);
	ASSERT_EQ(srq.set_limit(20), 0);
	send(2);
	EXPECT_FALSE(device.next_event(0));
	EXPECT_EQ(srq.query().srq_limit, 20u);
	send(3);
	const std::optional<ibv_async_event> event = device.next_event();
	ASSERT_TRUE(event);
	EXPECT_EQ(event->event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
}

TEST_F(SrqResize, a_limit_that_does_not_fit_any_more)
{
	ASSERT_EQ(srq.resize(64), 0);
	post_many(16);
	ASSERT_EQ(srq.set_limit(10), 0);
	EXPECT_EQ(srq.resize(16), 0);
	ASSERT_EQ(srq.resize(64), 0);
	post_many(40);
	ASSERT_EQ(srq.set_limit(50), 0);
	send(30);
	EXPECT_EQ(srq.resize(32, 33), EINVAL);
	EXPECT_EQ(srq.resize(32), 0) << "it was told, and is 0";
}

/* A sender that has found nothing waits, and finds what is posted to the new ring. */
TEST_F(SrqResize, wakes_senders_that_wait)
{
	ASSERT_EQ(vm::post(sender.qp, { .opcode = IBV_WR_SEND, .id = 1 }), 0);
	expect_none(sender.send_cq);
	ASSERT_EQ(srq.resize(128), 0);
	expect_none(sender.send_cq);
	post_many(1);
	expect(sender.send_cq, sender.qp, 1);
	expect(cq, receiver, taken++);
	ASSERT_EQ(vm::post(sender.qp, { .opcode = IBV_WR_SEND, .id = 2 }), 0);
	expect_none(sender.send_cq);
	ASSERT_EQ(srq.resize(8), 0);
	post_many(1);
	expect(sender.send_cq, sender.qp, 2);
	expect(cq, receiver, taken++);
}

TEST_F(SrqResize, gives_the_memory_back)
{
	const long before = pinned_by_self();

	ASSERT_EQ(srq.resize(32768), 0);
	EXPECT_GT(pinned_by_self(), before + 1000);
	ASSERT_EQ(srq.resize(16), 0);
	EXPECT_EQ(pinned_by_self(), before);
	EXPECT_EQ(srq.resize(0), EINVAL);
	EXPECT_EQ(pinned_by_self(), before);
	post_many(16);
	EXPECT_EQ(srq.resize(8), EINVAL);
	EXPECT_EQ(pinned_by_self(), before);
}

TEST_F(SrqResize, by_a_queue_that_nobody_uses)
{
	Srq lonely(pd, 1);

	ASSERT_EQ(lonely.resize(500), 0);
	for (uint64_t id = 0; id < lonely.max_wr(); id++)
		ASSERT_EQ(lonely.post({ region.sge(0, 64) }, id), 0);
	EXPECT_EQ(lonely.post({ region.sge(0, 64) }, 0), ENOMEM);
	EXPECT_EQ(lonely.destroy(), 0);
}

/* One thread posts, two send by a QP each, one takes what comes, and this one resizes. */
TEST_F(SrqResize, in_the_middle_of_traffic)
{
	constexpr uint64_t depth = 24;
	Qp receivers[] = { { device, pd.get(), cq, cq, { .srq = srq.get() } },
			   { device, pd.get(), cq, cq, { .srq = srq.get() } } };
	Endpoint senders[2];
	std::atomic<bool> stop = false;
	std::atomic<uint64_t> offered = 0, seen = 0, sent = 0;
	std::mt19937 random(seed());
	unsigned resized = 0, refused = 0;
	std::vector<std::thread> threads;

	for (int i = 0; i < 2; i++)
		connect(receivers[i], senders[i]);
	ASSERT_EQ(srq.resize(64), 0);
	threads.emplace_back([&] {
		while (!stop)
			if (offered - seen < depth && !srq.post({ region.sge(0, 64) }, offered))
				offered++;
			else
				std::this_thread::yield();
	});
	for (const Endpoint &end : senders)
		threads.emplace_back([&] {
			while (!stop) {
				/* For each message something is posted. */
				uint64_t number = sent;

				if (number >= offered ||
				    !sent.compare_exchange_strong(number, number + 1)) {
					std::this_thread::yield();
					continue;
				}
				EXPECT_EQ(vm::post(end.qp, { .opcode = IBV_WR_SEND, .id = 1 }), 0);
				const std::optional<ibv_wc> wc = end.send_cq.wait();
				EXPECT_TRUE(wc && wc->status == IBV_WC_SUCCESS);
			}
		});
	std::vector<bool> came(1 << 20);
	std::thread taker([&] {
		/* Entries are taken in order, and complete nearly so: two QPs do. */
		while (!stop || seen < sent) {
			const std::optional<ibv_wc> wc = cq.wait(stop ? 1 : 0.1);

			if (!wc) {
				if (stop)
					break;
				continue;
			}
			EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
			EXPECT_LT(wc->wr_id, seen + 3) << "an entry is lost";
			EXPECT_FALSE(came.at(wc->wr_id)) << "an entry comes twice";
			came.at(wc->wr_id) = true;
			seen++;
		}
	});
	for (const Deadline end(patience); !end.passed() && (resized < 100 || seen < 300);) {
		const int error = srq.resize(8 + random() % 100);

		(error ? refused : resized)++;
		EXPECT_TRUE(!error || error == EINVAL) << std::strerror(error);
		usleep(random() % 1000);
	}
	stop = true;
	for (std::thread &thread : threads)
		thread.join();
	taker.join();
	EXPECT_EQ(seen, sent);
	for (uint64_t id = 0; id < seen; id++)
		EXPECT_TRUE(came[id]) << id;
	EXPECT_GE(resized, 100u);
	EXPECT_GE(seen, 300u);
	EXPECT_FALSE(device.next_event(0));
	note("%u times resized, %u times refused, %llu messages", resized, refused,
	     static_cast<unsigned long long>(seen));
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
