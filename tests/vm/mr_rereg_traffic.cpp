// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mr_rereg_traffic.cpp: regions that are changed while requests use them: each sees what was, or
// what is, and nothing is left behind.
#include "endpoint.hpp"
#include "holdings.hpp"
#include "ktap.hpp"
#include "nuisance.hpp"
#include "rereg.hpp"
#include "seed.hpp"
#include "writer.hpp"

using namespace vm;

/*
 * A writer fills b's region again and again while it moves between two memories. Each write that
 * succeeds is whole in one of them, and once a change is made, not a byte more goes to the other.
 */
TEST(Traffic, sees_the_old_or_the_new_memory)
{
	constexpr uint32_t size = 1 << 20;
	std::mt19937 random(seed());
	Pair pair;
	Region a(pair.a.pd, size);
	Memory memories[] = { Memory(size), Memory(size) };
	ibv_mr *mr = ibv_reg_mr(pair.b.pd.get(), memories[0].data(), size, access_all);

	ASSERT_TRUE(mr);
	std::memset(a.memory.data(), 0xaa, size);
	for (int round = 0; round < 30 && !testing::Test::HasFailure(); round++) {
		const Memory &old = memories[round % 2], &now = memories[(round + 1) % 2];
		Writer writer(pair.a, a.sge(0, size), reinterpret_cast<uintptr_t>(old.data()),
			      mr->rkey);

		usleep(random() % 3000);
		ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &now }), 0);
		std::memset(old.data(), 0x55, size);
		std::memset(now.data(), 0x66, size);
		const ibv_wc wc = writer.failure();
		EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR) << ibv_wc_status_str(wc.status);
		for (uint8_t byte : old.bytes())
			ASSERT_EQ(byte, 0x55) << "written after the change";
		for (uint8_t byte : now.bytes())
			ASSERT_EQ(byte, 0x66) << "written by the old key";
		pair.reconnect();
	}
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

/* Access that others do not use comes and goes: their transfers do not notice. */
TEST(Traffic, is_not_disturbed_by_what_it_does_not_need)
{
	constexpr uint32_t size = 256 << 10;
	const int least = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	Pair pair;
	Region a(pair.a.pd, size);
	Memory memory(size);
	ibv_mr *mr = ibv_reg_mr(pair.b.pd.get(), memory.data(), size, access_all);

	ASSERT_TRUE(mr);
	const uint32_t rkey = mr->rkey;
	Nuisance churn([&, count = 0]() mutable {
		require(!rereg(mr, { .flags = access_flags,
				     .access = count++ % 2 ? access_all : least }),
			"ibv_rereg_mr");
	});
	const Deadline end(3);
	for (uint64_t round = 1; !end.passed() && !testing::Test::HasFailure(); round++) {
		fill(a.memory.bytes(), round);
		ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
					    .sges = { a.sge(0, size) },
					    .remote = reinterpret_cast<uintptr_t>(memory.data()),
					    .rkey = rkey,
					    .id = round }),
			  0);
		expect(pair.a.send_cq, pair.a.qp, round);
		EXPECT_EQ(std::memcmp(a.memory.data(), memory.data(), size), 0);
	}
	EXPECT_GT(churn.stop(), 0u);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

/* Nothing stays pinned, whatever was changed. */
TEST(Reregistrations, leave_nothing)
{
	Holdings before;
	{
		std::mt19937 random(seed());
		Device device;
		Pd pds[] = { Pd(device), Pd(device) };
		Memory memory(1 << 20);
		ibv_mr *mr = ibv_reg_mr(pds[0].get(), memory.data(), 4096, 0);

		ASSERT_TRUE(mr);
		for (int i = 0; i < 500; i++) {
			const int flags = random() % 8;
			const size_t offset = random() % (1 << 19);

			ibv_rereg_mr(mr, flags, pds[random() % 2].get(), memory.data() + offset,
				     1 + random() % (1 << 19),
				     flags & access_flags ? random() % 16 : 0);
		}
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	EXPECT_TRUE(before.are_back()) << before.describe() << "; now " << Holdings().describe();
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
