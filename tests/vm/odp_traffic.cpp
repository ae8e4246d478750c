// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// odp_traffic.cpp: pages on demand go while requests use them: not a byte gets into pages that are
// somebody else's by then, and nothing waits for what does not come.
#include <atomic>
#include "child.hpp"
#include "demand.hpp"
#include "holdings.hpp"
#include "nuisance.hpp"
#include "seed.hpp"
#include "writer.hpp"

using namespace vm;

static constexpr uint32_t length = 1 << 20;

/* Moves all of one region into the other, or back. */
static int post_all(const Pair &pair, ibv_wr_opcode opcode, const Region &a, const Region &b,
		    uint64_t id)
{
	return post(pair.a.qp, { .opcode = opcode,
				 .sges = { a.sge(0, length) },
				 .remote = b.address(),
				 .rkey = b.mr.rkey(),
				 .id = id });
}

/* Writes and reads back for @seconds; every byte is looked at. */
static void expect_right_bytes(const Pair &pair, const Region &a, const Region &b, double seconds)
{
	const Deadline end(seconds);

	for (uint64_t round = 1; !end.passed() && !testing::Test::HasFailure(); round += 2) {
		for (ibv_wr_opcode opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ }) {
			const bool reads = opcode == IBV_WR_RDMA_READ;

			fill((reads ? b : a).memory.bytes(), round + reads);
			ASSERT_EQ(post_all(pair, opcode, a, b, round), 0);
			expect(pair.a.send_cq, pair.a.qp, round);
			ASSERT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
		}
	}
}

/* The same pages at another address: once they are there, a write that was under way is over. */
TEST(DemandTraffic, writes_nothing_to_pages_that_were_moved_away)
{
	std::mt19937 random(seed());
	Pair pair;
	Region a(pair.a.pd, length);
	DemandRegion b(pair.b.pd, length);
	Memory elsewhere(length);

	std::memset(a.memory.data(), 0xaa, length);
	for (int round = 0; round < 50 && !testing::Test::HasFailure(); round++) {
		Writer writer(pair.a, a.sge(0, length), b.address(), b.mr.rkey());

		usleep(random() % 3000);
		ASSERT_EQ(mremap(b.memory.data(), length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
				 elsewhere.data()),
			  elsewhere.data());
		std::memset(elsewhere.data(), 0x55, length);
		const ibv_wc wc = writer.failure();
		EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR) << ibv_wc_status_str(wc.status);
		expect_reason(wc, BELLHOP_REASON_RKEY_ABSENT);
		for (uint8_t byte : elsewhere.bytes())
			ASSERT_EQ(byte, 0x55) << "written after the pages had gone";
		map_anew(b.memory.data(), length);
		pair.reconnect();
	}
}

/* Others have their pages at once; what was read of them is never anything else. */
TEST(DemandTraffic, never_reads_pages_of_somebody_else)
{
	Pair pair;
	DemandRegion a(pair.a.pd, length), b(pair.b.pd, length);
	Nuisance nuisance([&] {
		Memory other(length);

		std::memset(other.data(), 0x77, length);
		madvise(b.memory.data(), length, MADV_DONTNEED);
	});
	const Deadline end(3);
	uint32_t rounds = 0;

	for (; !end.passed() && !testing::Test::HasFailure(); rounds++) {
		ASSERT_EQ(post_all(pair, IBV_WR_RDMA_READ, a, b, rounds), 0);
		expect(pair.a.send_cq, pair.a.qp, rounds);
		for (uint8_t byte : a.memory.bytes())
			ASSERT_EQ(byte, 0);
	}
	note("%u reads, thrown away %u times", rounds, nuisance.stop());
	EXPECT_GT(rounds, 0u);
}

/* Of the pages that are fetched together the first is gone before the last has come. */
TEST(DemandTraffic, gets_on_while_pages_go_as_fast_as_they_come)
{
	Pair pair;
	Region a(pair.a.pd, length);
	DemandRegion b(pair.b.pd, length);
	Nuisance nuisance([&] { madvise(b.memory.data(), length, MADV_DONTNEED); });

	for (uint64_t round = 0; round < 3; round++) {
		ASSERT_EQ(post_all(pair, IBV_WR_RDMA_WRITE, a, b, round), 0);
		expect(pair.a.send_cq, pair.a.qp, round);
	}
	EXPECT_GT(nuisance.stop(), 0u);
}

/* The kernel moves pages to where it wants them. */
TEST(DemandTraffic, is_right_while_pages_are_moved)
{
	Pair pair;
	DemandRegion a(pair.a.pd, length), b(pair.b.pd, length);
	Nuisance nuisance([] { std::ofstream("/proc/sys/vm/compact_memory") << "1"; });

	expect_right_bytes(pair, a, b, 3);
	EXPECT_GT(nuisance.stop(), 0u);
}

/* Each fork makes all pages shared with a child until they are written. */
TEST(DemandTraffic, is_right_while_the_process_forks)
{
	Pair pair;
	DemandRegion a(pair.a.pd, length), b(pair.b.pd, length);
	Nuisance nuisance([] { require(share_memory(), "fork"); });

	expect_right_bytes(pair, a, b, 3);
	EXPECT_GT(nuisance.stop(), 0u);
}

TEST(DemandTraffic, is_right_while_pages_are_read_only_now_and_then)
{
	Pair pair;
	DemandRegion a(pair.a.pd, length), b(pair.b.pd, length);
	std::atomic<uint32_t> refused = 0;
	Nuisance nuisance([&] {
		mprotect(b.memory.data(), length, PROT_READ);
		mprotect(b.memory.data(), length, PROT_READ | PROT_WRITE);
		usleep(100);
	});
	const Deadline end(3);

	/* Either all of it is there, or the request is refused. */
	for (uint64_t round = 1; !end.passed() && !testing::Test::HasFailure(); round++) {
		fill(a.memory.bytes(), round);
		ASSERT_EQ(post_all(pair, IBV_WR_RDMA_WRITE, a, b, round), 0);
		const ibv_wc wc = pair.a.send_cq.next();
		if (wc.status == IBV_WC_SUCCESS) {
			ASSERT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
		} else {
			ASSERT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
			expect_reason(wc, BELLHOP_REASON_RKEY_ABSENT);
			refused++;
			pair.reconnect();
		}
	}
	note("%u writes were refused", refused.load());
	nuisance.stop();
}

TEST(DemandTraffic, ends_with_the_region)
{
	std::mt19937 random(seed());
	Holdings before;
	{
		Pair pair;
		Region a(pair.a.pd, length);

		for (int round = 0; round < 50 && !testing::Test::HasFailure(); round++) {
			DemandRegion b(pair.b.pd, length);
			Writer writer(pair.a, a.sge(0, length), b.address(), b.mr.rkey());
			Nuisance nuisance([&] { madvise(b.memory.data(), length, MADV_DONTNEED); });

			usleep(random() % 3000);
			EXPECT_EQ(b.mr.deregister(), 0);
			expect_reason(writer.failure(), BELLHOP_REASON_RKEY_UNKNOWN);
			nuisance.stop();
			pair.reconnect();
		}
	}
	EXPECT_TRUE(before.are_back()) << before.describe() << "; now " << Holdings().describe();
}

/* Whoever has asked for pages is gone when they come. */
TEST(DemandTraffic, is_given_up_at_any_time)
{
	std::mt19937 random(seed());
	Holdings before;

	for (int round = 0; round < 100 && !testing::Test::HasFailure(); round++) {
		Pair pair;
		DemandRegion a(pair.a.pd, 4 * length), b(pair.b.pd, 4 * length);

		for (uint64_t id = 0; id < 4; id++)
			ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
						    .sges = { a.sge(id * length, length) },
						    .remote = b.address(id * length),
						    .rkey = b.mr.rkey(),
						    .id = id }),
				  0);
		usleep(random() % 500);
		switch (random() % 3) {
		case 0:
			EXPECT_EQ(pair.a.qp.destroy(), 0);
			break;
		case 1:
			EXPECT_EQ(pair.a.qp.modify(to_state(IBV_QPS_ERR)), 0);
			for (int i = 0; i < 4; i++)
				pair.a.send_cq.next();
			break;
		default:
			EXPECT_EQ(pair.a.qp.modify(to_state(IBV_QPS_RESET)), 0);
			break;
		}
	}
	EXPECT_TRUE(before.are_back()) << before.describe() << "; now " << Holdings().describe();
}

TEST(DemandTraffic, is_killed_at_any_time)
{
	std::mt19937 random(seed());
	Holdings before;

	for (int round = 0; round < 20 && !testing::Test::HasFailure(); round++) {
		Child child([] {
			Pair pair;
			DemandRegion a(pair.a.pd, length), b(pair.b.pd, length);
			Nuisance nuisance([&] { madvise(b.memory.data(), length, MADV_DONTNEED); });

			for (uint64_t id = 0;; id++) {
				if (post_all(pair, IBV_WR_RDMA_WRITE, a, b, id))
					return 1;
				expect(pair.a.send_cq, pair.a.qp, id);
			}
		});

		usleep(20000 + random() % 20000);
		child.kill();
		EXPECT_EQ(child.wait(), std::optional<int>(SIGKILL));
	}
	EXPECT_TRUE(before.are_back()) << before.describe() << "; now " << Holdings().describe();
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
