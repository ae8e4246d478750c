// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mr_traffic.cpp: regions that go while requests use them; once dereg returns, not a byte more is
// moved.
#include <list>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "nuisance.hpp"
#include "request.hpp"
#include "seed.hpp"
#include "writer.hpp"

using namespace vm;

static constexpr uint32_t length = 1 << 20;

/*
 * A writer fills a region of b's again and again; the region is deregistered at some moment, and
 * its memory, which is its owner's alone from then on, must keep what the owner puts there.
 */
static void deregister_under_writes(std::mt19937 &random)
{
	Pair pair;
	Region a(pair.a.pd, length);
	Memory memory(length);
	Mr mr(pair.b.pd, memory.data(), length);

	std::memset(a.memory.data(), 0xaa, length);
	Writer writer(pair.a, a.sge(0, length), reinterpret_cast<uintptr_t>(memory.data()),
		      mr.rkey());
	usleep(random() % 5000);
	EXPECT_EQ(mr.deregister(), 0);
	std::memset(memory.data(), 0x55, length);
	expect_reason(writer.failure(), BELLHOP_REASON_RKEY_UNKNOWN);
	EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
	for (uint8_t byte : memory.bytes())
		ASSERT_EQ(byte, 0x55) << "written after the region was gone";
}

TEST(Deregistration, under_writes)
{
	std::mt19937 random(seed());

	for (int round = 0; round < 15 && !HasFailure(); round++)
		deregister_under_writes(random);
}

/* The region that is sent from goes: the sender learns it, the receiver's memory holds no third
 * value. */
TEST(Deregistration, of_what_is_sent)
{
	std::mt19937 random(seed());

	for (int round = 0; round < 15 && !HasFailure(); round++) {
		Pair pair;
		Memory memory(length);
		Mr mr(pair.a.pd, memory.data(), length);
		Region b(pair.b.pd, length);
		const ibv_sge sge = { reinterpret_cast<uintptr_t>(memory.data()), length,
				      mr.lkey() };
		std::atomic<uint32_t> sends = 0;

		std::memset(memory.data(), 0xaa, length);
		std::future<ibv_wc_status> failure = std::async(std::launch::async, [&] {
			for (;;) {
				require(!post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
							   .sges = { sge },
							   .remote = b.address(),
							   .rkey = b.mr.rkey() }),
					"ibv_post_send");
				ibv_wc wc = pair.a.send_cq.next();
				if (wc.status != IBV_WC_SUCCESS)
					return wc.status;
				sends++;
			}
		});
		const Deadline deadline(patience);
		while (!sends && !deadline.passed())
			std::this_thread::yield();
		usleep(random() % 5000);
		EXPECT_EQ(mr.deregister(), 0);
		std::memset(memory.data(), 0x55, length);
		EXPECT_EQ(failure.get(), IBV_WC_LOC_PROT_ERR);
		EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
		for (uint8_t byte : b.memory.bytes())
			ASSERT_EQ(byte, 0xaa) << "read after the region was gone";
	}
}

/* Others register and deregister all the time; traffic on regions that stay is not disturbed. */
TEST(Deregistration, of_other_regions)
{
	Pair pair;
	Region a(pair.a.pd, 64 << 10), b(pair.b.pd, 64 << 10);
	Memory memories[] = { Memory(256 << 10), Memory(256 << 10), Memory(256 << 10) };
	std::list<Nuisance> churn;

	for (const Memory &memory : memories)
		churn.emplace_back([&] { Mr(pair.b.pd, memory.data(), memory.size()); });
	const Deadline end(3);
	for (uint64_t round = 1; !end.passed() && !HasFailure(); round++) {
		fill(a.memory.bytes(), round);
		ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
					    .sges = { a.sge(0, 64 << 10) },
					    .remote = b.address(),
					    .rkey = b.mr.rkey(),
					    .id = round }),
			  0);
		expect(pair.a.send_cq, pair.a.qp, round);
		EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), 64 << 10), 0);
	}
	for (Nuisance &nuisance : churn)
		EXPECT_GT(nuisance.stop(), 0u);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
