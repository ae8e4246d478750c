// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_traffic.cpp: traffic, its events, and processes that fork or end in the middle of it,
// with each of the allocations on the way failing: what was posted completes.
#include "child.hpp"
#include "line.hpp"
#include "loopback.hpp"
#include "sweep.hpp"
#include "transfer.hpp"

using namespace vm;

class FailNthTraffic : public FaultTest, protected Loopback
{
protected:
	void SetUp() override
	{
		FaultTest::SetUp();
		if (IsSkipped())
			return;
		ASSERT_EQ(create_qp(), 0);
		connect();
	}

	void TearDown() override
	{
		if (qp)
			destroy_qp();
	}

	/* From the first half of the region to the second, or the other way. */
	Send request(ibv_wr_opcode opcode, uint32_t length, uint64_t id = 1) const
	{
		return { .opcode = opcode,
			 .sges = { region.sge(0, length) },
			 .remote = region.address(half),
			 .rkey = region.mr.rkey(),
			 .id = id };
	}

	/* Requests, or their receive, whose completions are waited for after the fault. */
	Trial transfer(ibv_wr_opcode opcode, uint32_t length)
	{
		return {
			.prepare =
				[=, this] {
					fill({ region.memory.data(), half }, opcode * 2);
					fill({ region.memory.data() + half, half }, opcode * 2 + 1);
				},
			.call =
				[=, this] {
					const int error =
						takes_receive(opcode)
							? post_one_recv(region.sge(half, half), 2)
							: 0;
					return error ? error : post_one(request(opcode, length));
				},
			.check =
				[=, this] {
					if (takes_receive(opcode)) {
						expect_both();
					} else {
						const ibv_wc wc = cq.next();

						EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
					}
					EXPECT_FALSE(cq.poll());
					EXPECT_EQ(std::memcmp(region.memory.data(),
							      region.memory.data() + half, length),
						  0);
				}
		};
	}

	/* Asks for an event and causes it. */
	void cause_event() const
	{
		ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
		ASSERT_EQ(post_one(request(IBV_WR_RDMA_WRITE, 100)), 0);
		EXPECT_EQ(cq.next().status, IBV_WC_SUCCESS);
	}

	void expect_event() const
	{
		ibv_cq *of = channel.next_event();

		EXPECT_EQ(of, cq.get());
		if (of)
			ibv_ack_cq_events(of, 1);
	}

	static constexpr uint32_t half = 256 << 10;
};

/* A message of one step, and one that leaves a kick's share of work behind. */
TEST_F(FailNthTraffic, of_all_kinds)
{
	for (ibv_wr_opcode opcode : all_opcodes)
		for (uint32_t length : { 100u, half })
			sweep("post, " + opcode_name(opcode) + " of " + std::to_string(length),
			      transfer(opcode, length));
}

/* As many requests as the queue holds, executed by one kick and by the worker after it. */
TEST_F(FailNthTraffic, in_a_batch)
{
	constexpr uint64_t count = 16;

	sweep("post, a full queue",
	      { .call =
			[&] {
				std::array<Send, count> sends;
				std::array<ibv_send_wr, count> wrs;
				ibv_send_wr *bad;

				for (uint64_t i = 0; i < count; i++) {
					sends[i] = request(IBV_WR_RDMA_WRITE, half, i);
					wrs[i] = to_wr(sends[i]);
					wrs[i].next = i + 1 < count ? &wrs[i + 1] : nullptr;
				}
				return ibv_post_send(qp, wrs.data(), &bad);
			},
		.check =
			[&] {
				for (uint64_t i = 0; i < count; i++) {
					const ibv_wc wc = cq.next();

					EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
					EXPECT_EQ(wc.wr_id, i);
				}
			} });
}

/* The queue's entry is there in any case; the core allocates the event, and may have to do without.
 */
TEST_F(FailNthTraffic, with_an_event)
{
	unsigned lost = 0;
	bool met = false;

	sweep("post, with an event",
	      { .call =
			[&] {
				const int error = ibv_req_notify_cq(cq.get(), 0);
				return error ? error : post_one(request(IBV_WR_RDMA_WRITE, 100));
			},
		.settle =
			[&](int error, bool hit) {
				met = hit;
				return error;
			},
		.check =
			[&] {
				EXPECT_EQ(cq.next().status, IBV_WC_SUCCESS);
				ibv_cq *of = channel.next_event(met ? 0.1 : patience);

				if (of)
					ibv_ack_cq_events(of, 1);
				else
					lost++;
				EXPECT_TRUE(of || met) << "no event";
				/* The next one comes. */
				cause_event();
				expect_event();
			} });
	EXPECT_LE(lost, passes) << "one allocation is the event";
}

/*
 * An event that cannot be copied to the program is lost, as a program's that gives no room for it.
 * The kernel has counted it, and whoever destroys its QP or CQ waits until as many are
 * acknowledged.
 */
TEST_F(FailNthTraffic, whose_events_are_read)
{
	const auto has_event = [](int file) {
		pollfd waiter = { file, POLLIN, 0 };
		return poll(&waiter, 1, 0) > 0;
	};

	sweep("get_cq_event", { .prepare = [&] { cause_event(); },
				.call =
					[&] {
						ibv_cq *of;
						void *context;

						if (ibv_get_cq_event(channel.get(), &of, &context))
							return errno;
						ibv_ack_cq_events(of, 1);
						return 0;
					},
				.refused =
					[&] {
						if (has_event(channel.get()->fd))
							return;
						ibv_ack_cq_events(cq.get(), 1);
						cause_event();
					} });
	const auto drain = [&] {
		Change change = to_state(IBV_QPS_SQD);

		change.attr.en_sqd_async_notify = 1;
		change.mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
		ASSERT_EQ(modify(to_state(IBV_QPS_RTS)), 0);
		ASSERT_EQ(modify(change), 0);
	};
	sweep("get_async_event", { .prepare = drain,
				   .call =
					   [&] {
						   ibv_async_event event;

						   if (ibv_get_async_event(device.get(), &event))
							   return errno;
						   ibv_ack_async_event(&event);
						   return 0;
					   },
				   .refused =
					   [&] {
						   ibv_async_event event = {};

						   if (has_event(device.get()->async_fd))
							   return;
						   event.event_type = IBV_EVENT_SQ_DRAINED;
						   event.element.qp = qp;
						   ibv_ack_async_event(&event);
						   drain();
					   } });
}

/* A request that fails completes as one, though the event that tells of the QP may be lost. */
TEST_F(FailNthTraffic, that_is_refused)
{
	sweep("post, with a key that is wrong",
	      { .prepare =
			[&] {
				ASSERT_EQ(modify(to_state(IBV_QPS_RESET)), 0);
				connect();
				while (device.next_event(0))
					;
			},
		.call =
			[&] {
				Send send = request(IBV_WR_RDMA_WRITE, 100);

				send.rkey ^= 1;
				return post_one(send);
			},
		.check =
			[&] {
				EXPECT_EQ(cq.next().status, IBV_WC_REM_ACCESS_ERR);
				EXPECT_EQ(state(), IBV_QPS_ERR);
			} });
}

/* The rings are the parent's alone; a child that cannot be made leaves them as they are. */
TEST_F(FailNthTraffic, beside_a_fork)
{
	sweep("fork", { .call =
				[&] {
					const pid_t child = fork();

					if (!child)
						_exit(0);
					if (child < 0)
						return errno;
					/* Not interrupted: no signal has a handler. */
					return waitpid(child, nullptr, 0) == child ? 0 : errno;
				},
			.refused = [&] { expect_works(); },
			.check = [&] { expect_works(); },
			/* The more is mapped, the more is copied. */
			.most = 90 });
}

static bool has_ended(pid_t child)
{
	siginfo_t info = {};

	return !waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT | WNOHANG) &&
	       info.si_pid == child;
}

/* A process that ends in traffic, with the @nth fault on the way. Returns how many are left then.
 */
static unsigned end_in_traffic(unsigned nth)
{
	Line line;
	Child child([&]() -> int {
		line.take(1);
		Loopback loop;

		require(!loop.create_qp(), "create_qp");
		loop.connect();
		loop.post_one({ .opcode = IBV_WR_RDMA_WRITE,
				.sges = { loop.region.sge(0, 200000) },
				.remote = loop.region.address(256 << 10),
				.rkey = loop.region.mr.rkey() });
		line.tell(uint8_t(1));
		line.hear<uint8_t>();
		_exit(0);
	});
	line.take(0);
	require(line.hear<uint8_t>().has_value(), "the child is not ready");
	const Fault fault(child.pid());
	const Deadline deadline(patience);

	fault.arm(nth);
	line.tell(uint8_t(1));
	/* What is left is read when it has ended, and before it is gone. */
	while (!has_ended(child.pid())) {
		require(!deadline.passed(), "a process does not end");
		usleep(1000);
	}
	return fault.left();
}

/* What a process has open is closed by its end, during which the faults are met. */
TEST(FailNthExit, in_traffic)
{
	const std::string reason = Fault::enable();
	unsigned faults = 0, without = 0;

	if (!reason.empty())
		GTEST_SKIP() << reason;
	/*
	 * The library loads its provider here and not in the child, which then closes no other
	 * files by its end: a file system whose server is never told of that may not recover.
	 */
	ibv_free_device_list(ibv_get_device_list(nullptr));
	const Inventory before;
	while (without < tries_without && !HasFailure()) {
		const bool hit = !end_in_traffic(faults + 1);

		EXPECT_TRUE(before.is_back())
			<< before.describe_difference() << "fault " << faults + 1;
		faults += hit;
		without = hit ? 0 : without + 1;
	}
	Swept::all().push_back({ "exit of a process", faults, faults, 0 });
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
