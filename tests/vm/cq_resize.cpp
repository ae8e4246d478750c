// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// cq_resize.cpp: a completion queue grows and shrinks, and no completion and no event is lost by
// it.
#include <memory>
#include "ktap.hpp"
#include "meminfo.hpp"
#include "request.hpp"
#include "seed.hpp"

using namespace vm;

/* A QP that writes to itself, and its CQ. */
class CqResize : public testing::Test
{
protected:
	CqResize()
	{
		qp.connect(qp.address());
	}

	/* Has the next @count requests complete. */
	void complete(uint64_t count)
	{
		for (uint64_t i = 0; i < count; i++)
			ASSERT_EQ(write(), 0);
	}

	int write()
	{
		return post(qp, { .opcode = IBV_WR_RDMA_WRITE,
				  .sges = { region.sge(0, 8) },
				  .remote = region.address(8),
				  .rkey = region.mr.rkey(),
				  .id = posted++ });
	}

	/* The next @count completions, in order. */
	void expect(uint64_t count)
	{
		for (uint64_t i = 0; i < count; i++) {
			const std::optional<ibv_wc> wc = cq.poll();

			ASSERT_TRUE(wc) << "completion " << polled << " is lost";
			EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
			ASSERT_EQ(wc->wr_id, polled++);
		}
	}

	void expect_no_more()
	{
		EXPECT_FALSE(cq.poll());
		EXPECT_EQ(posted, polled);
	}

	int resize(int cqe)
	{
		return ibv_resize_cq(cq.get(), cqe);
	}

	Device device;
	Pd pd{ device };
	Channel channel{ device };
	Cq cq{ device, 16, &channel };
	Region region{ pd, 4096 };
	Qp qp{ device, pd.get(), cq, cq, { .cap = { 1024, 1, 1, 1, 0 } } };
	uint64_t posted = 0, polled = 0;
};

TEST_F(CqResize, tells_how_large_it_is)
{
	for (int cqe : { 17, 1000, 1, 64, 64, 1 << 16, 16 }) {
		EXPECT_EQ(resize(cqe), 0) << cqe;
		EXPECT_GE(cq.get()->cqe, cqe);
		EXPECT_LT(cq.get()->cqe, 2 * cqe + 16);
		complete(1);
		expect(1);
		expect_no_more();
	}
}

TEST_F(CqResize, refuses_what_no_queue_has)
{
	ibv_device_attr attr;

	ASSERT_EQ(ibv_query_device(device.get(), &attr), 0);
	complete(3);
	for (int cqe : { 0, -1, attr.max_cqe + 1, INT_MAX, INT_MIN }) {
		EXPECT_EQ(resize(cqe), EINVAL) << cqe;
		EXPECT_EQ(cq.get()->cqe, 16);
	}
	expect(3);
	expect_no_more();
}

TEST_F(CqResize, keeps_what_was_not_polled)
{
	complete(10);
	ASSERT_EQ(resize(100), 0);
	complete(10);
	ASSERT_EQ(resize(32), 0);
	complete(10);
	expect(5);
	ASSERT_EQ(resize(64), 0);
	complete(10);
	expect(35);
	expect_no_more();
	complete(40);
	expect(40);
	expect_no_more();
}

TEST_F(CqResize, refuses_to_hold_less_than_there_is)
{
	ASSERT_EQ(resize(64), 0);
	complete(40);
	EXPECT_EQ(resize(32), EINVAL);
	EXPECT_GE(cq.get()->cqe, 64);
	expect(8);
	EXPECT_EQ(resize(32), 0);
	expect(32);
	expect_no_more();
}

TEST_F(CqResize, holds_as_many_as_it_says)
{
	for (int cqe : { 64, 1024, 32 }) {
		ASSERT_EQ(resize(cqe), 0);
		for (int lap = 0; lap < 3; lap++) {
			complete(cqe);
			expect(cqe);
			expect_no_more();
		}
	}
	EXPECT_FALSE(device.next_event(0)) << "an overrun";
}

TEST_F(CqResize, takes_a_request_for_an_event_along)
{
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	ASSERT_EQ(resize(64), 0);
	complete(1);
	ASSERT_EQ(channel.next_event(), cq.get());
	ibv_ack_cq_events(cq.get(), 1);
	/* It is asked for once. */
	ASSERT_EQ(resize(32), 0);
	complete(1);
	EXPECT_FALSE(channel.next_event(0.1));
	/* And while there are completions from before. */
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	complete(1);
	EXPECT_EQ(channel.next_event(), cq.get());
	ibv_ack_cq_events(cq.get(), 1);
	expect(3);
	expect_no_more();
}

TEST_F(CqResize, gives_the_memory_back)
{
	const long before = pinned_by_self();

	ASSERT_EQ(resize(1 << 16), 0);
	expect_no_more();
	EXPECT_GT(pinned_by_self(), before + 4000);
	ASSERT_EQ(resize(16), 0);
	expect_no_more();
	EXPECT_EQ(pinned_by_self(), before);
}

/* One thread posts, one polls, and this one resizes. */
TEST_F(CqResize, in_the_middle_of_traffic)
{
	constexpr uint64_t depth = 8;
	std::atomic<bool> stop = false;
	std::atomic<uint64_t> sent = 0, taken = 0;
	std::mt19937 random(seed());
	unsigned resized = 0, refused = 0;
	std::thread poster([&] {
		while (!stop)
			if (sent - taken < depth) {
				EXPECT_EQ(write(), 0);
				sent++;
			} else {
				std::this_thread::yield();
			}
	});
	std::thread poller([&] {
		while (const std::optional<ibv_wc> wc =
			       stop && sent == taken ? std::nullopt : cq.wait()) {
			EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
			EXPECT_EQ(wc->wr_id, taken) << "a completion is lost, or comes twice";
			taken++;
		}
	});
	for (const Deadline end(patience); !end.passed() && (resized < 100 || taken < 300);) {
		/* What completes has room in any case. */
		const int error = resize(static_cast<int>(depth + random() % 300));

		(error ? refused : resized)++;
		EXPECT_TRUE(!error || error == EINVAL) << std::strerror(error);
		usleep(random() % 1000);
	}
	stop = true;
	poster.join();
	poller.join();
	EXPECT_FALSE(device.next_event(0)) << "an overrun";
	EXPECT_EQ(sent, taken);
	EXPECT_GE(resized, 100u);
	EXPECT_GE(taken, 300u);
	note("%u times resized, %u times refused, %llu completions", resized, refused,
	     static_cast<unsigned long long>(taken));
}

/* The calls of ibv_cq_ex, with locks and without. */
TEST(CqExResize, is_read_in_order)
{
	for (uint32_t flags : { 0u, unsigned(IBV_CREATE_CQ_ATTR_SINGLE_THREADED) }) {
		Device device;
		Pd pd(device);
		Region region(pd, 4096);
		ibv_cq_init_attr_ex attr = {};
		uint64_t next = 0;

		attr.cqe = 4;
		attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
		attr.flags = flags;
		ibv_cq_ex *cq = ibv_create_cq_ex(device.get(), &attr);
		ASSERT_TRUE(cq);
		{
			Cq view(ibv_cq_ex_to_cq(cq));
			Qp qp(device, pd.get(), view, view, { .cap = { 64, 1, 1, 1, 0 } });

			qp.connect(qp.address());
			for (uint64_t i = 0; i < 24; i++) {
				if (i % 4 == 0)
					ASSERT_EQ(ibv_resize_cq(ibv_cq_ex_to_cq(cq), 64), 0);
				ASSERT_EQ(post(qp, { .opcode = IBV_WR_RDMA_WRITE,
						     .sges = { region.sge(0, 8) },
						     .remote = region.address(8),
						     .rkey = region.mr.rkey(),
						     .id = i }),
					  0);
			}
			ibv_poll_cq_attr poll_attr = {};
			ASSERT_EQ(ibv_start_poll(cq, &poll_attr), 0);
			do
				EXPECT_EQ(cq->wr_id, next++);
			while (!ibv_next_poll(cq));
			ibv_end_poll(cq);
			EXPECT_EQ(next, 24u);
		}
	}
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
