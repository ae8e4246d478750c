// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// kill.cpp: a process that is killed in the middle of traffic leaves its peer with errors, never
// waiting.
#include "child.hpp"
#include "endpoint.hpp"
#include "line.hpp"
#include "request.hpp"
#include "seed.hpp"

using namespace vm;

static constexpr uint32_t room = 1 << 20;
static constexpr int rounds = 40;

/* Gives up within a fraction of a second: timeout 12 is 17 ms. */
static constexpr Path impatient = { .timeout = 12, .retry_cnt = 3 };

/* An end, and what the other has told of itself. */
struct End {
	explicit End(const Line &line)
	{
		require(line.tell(Introduction{ endpoint.qp.address(), region.address(),
						region.mr.rkey() }),
			"the peer is gone");
		std::optional<Introduction> heard = line.hear<Introduction>();
		require(heard.has_value(), "the peer is gone");
		peer = *heard;
		endpoint.qp.connect(peer.address, impatient);
		/* Both are in RTS before either sends. */
		require(line.tell(uint8_t(1)) && line.hear<uint8_t>(), "the peer is gone");
	}

	/** Some operation on the peer, of some length. */
	Send random_send(std::mt19937 &random) const
	{
		static constexpr ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
							     IBV_WR_RDMA_WRITE_WITH_IMM,
							     IBV_WR_RDMA_READ };
		const uint32_t length = random() % 3 ? random() % 4096 : random() % room;

		return { .opcode = opcodes[random() % 4],
			 .sges = { region.sge(0, length) },
			 .remote = peer.start,
			 .rkey = peer.rkey };
	}

	Endpoint endpoint{ { .cap = { 32, 32, 1, 1, 0 } } };
	Region region{ endpoint.pd, room };
	Introduction peer;
};

/*
 * Keeps sends and receives going until told to stop or until a completion fails. Returns that
 * completion's status, or success when it was stopped.
 */
static ibv_wc_status run_traffic(const End &end, std::mt19937 &random,
				 const std::function<bool()> &stopped)
{
	const Endpoint &own = end.endpoint;
	uint32_t sent = 0;

	for (int i = 0; i < 32; i++)
		post_recv(own.qp, { end.region.sge(0, room) });
	while (!stopped()) {
		while (sent < 16 && !post(own.qp, end.random_send(random)))
			sent++;
		while (std::optional<ibv_wc> wc = own.send_cq.poll()) {
			if (wc->status != IBV_WC_SUCCESS)
				return wc->status;
			sent--;
		}
		while (std::optional<ibv_wc> wc = own.recv_cq.poll()) {
			/* The send that failed tells more. */
			if (wc->status == IBV_WC_WR_FLUSH_ERR)
				continue;
			if (wc->status != IBV_WC_SUCCESS)
				return wc->status;
			post_recv(own.qp, { end.region.sge(0, room) });
		}
		std::this_thread::yield();
	}
	return IBV_WC_SUCCESS;
}

/* Both sides send all the time; the child dies after @delay. What is left is checked on this side.
 */
static void kill_in_traffic(uint32_t seed, std::chrono::microseconds delay)
{
	Line line;
	Child child([&] {
		std::mt19937 random(seed + 1);

		line.take(1);
		End end(line);
		run_traffic(end, random, [] { return false; });
		return 0;
	});
	line.take(0);
	End end(line);
	const Endpoint &own = end.endpoint;
	std::mt19937 random(seed);
	const auto death = std::chrono::steady_clock::now() + delay;
	const Deadline deadline(patience);
	bool killed = false;

	ibv_wc_status status = run_traffic(end, random, [&] {
		if (!killed && std::chrono::steady_clock::now() >= death) {
			child.kill();
			killed = true;
		}
		return deadline.passed();
	});
	EXPECT_TRUE(killed) << "traffic failed before the child was killed";
	/* The kernel takes the dead process's things away one by one; regions may go before the QP.
	 */
	EXPECT_TRUE(status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_REM_ACCESS_ERR ||
		    status == IBV_WC_REM_OP_ERR)
		<< ibv_wc_status_str(status);
	EXPECT_TRUE(own.qp.reaches(IBV_QPS_ERR));
	EXPECT_TRUE(child.wait()) << "the child cannot be killed";
	/* Then nothing but flushed requests, as many as there are. */
	while (std::optional<ibv_wc> wc = own.send_cq.wait(0.02))
		EXPECT_EQ(wc->status, IBV_WC_WR_FLUSH_ERR);
	while (std::optional<ibv_wc> wc = own.recv_cq.wait(0.02))
		EXPECT_TRUE(wc->status == IBV_WC_WR_FLUSH_ERR || wc->status == IBV_WC_SUCCESS);
}

/* The child dies while it opens, connects or waits for us. */
static void kill_in_setup(std::chrono::microseconds delay)
{
	Line line;
	Child child([&] {
		line.take(1);
		for (;;) {
			Endpoint endpoint;
			Region region(endpoint.pd, room);

			endpoint.qp.connect(endpoint.qp.address());
			post_recv(endpoint.qp, { region.sge(0, room) });
			post(endpoint.qp, { .sges = { region.sge(0, 100) } });
		}
		return 0;
	});
	std::this_thread::sleep_for(delay);
	child.kill();
	EXPECT_TRUE(child.wait()) << "the child cannot be killed";
}

static void expect_all_well()
{
	Pair pair;
	Region a(pair.a.pd, room), b(pair.b.pd, room);

	fill(a.memory.bytes(), 1);
	ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, room) }, 2), 0);
	ASSERT_EQ(post(pair.a.qp, { .sges = { a.sge(0, room) }, .id = 1 }), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	expect(pair.b.recv_cq, pair.b.qp, 2);
	EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), room), 0);
}

TEST(Kill, in_traffic)
{
	std::mt19937 random(seed());

	for (int round = 0; round < rounds * 3 / 4 && !HasFailure(); round++)
		kill_in_traffic(random(), std::chrono::microseconds(random() % 60000));
	expect_all_well();
}

TEST(Kill, in_setup)
{
	std::mt19937 random(seed());

	for (int round = 0; round < rounds / 4 && !HasFailure(); round++)
		kill_in_setup(std::chrono::microseconds(random() % 100000));
	expect_all_well();
}

/* All processes of a group at once, both ends of the connection among them. */
TEST(Kill, of_both_ends)
{
	std::mt19937 random(seed());

	for (int round = 0; round < 5 && !HasFailure(); round++) {
		Line line;
		const uint32_t first = random(), second = random();
		const auto body = [&line](int side, uint32_t seed) {
			std::mt19937 own(seed);

			line.take(side);
			End end(line);
			run_traffic(end, own, [] { return false; });
			return 0;
		};
		Child one([&] { return body(0, first); });
		Child other([&] { return body(1, second); });

		usleep(50000 + random() % 50000);
		one.kill();
		other.kill();
		EXPECT_TRUE(one.wait() && other.wait()) << "a child cannot be killed";
	}
	expect_all_well();
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
