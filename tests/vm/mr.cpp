// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mr.cpp: what may be registered, what may not, and what the keys are like.
#include <memory>
#include <set>
#include <sys/resource.h>
#include "child.hpp"
#include "endpoint.hpp"
#include "request.hpp"

using namespace vm;

class Registration : public testing::Test
{
protected:
	/** Expects @error, or success for 0, from a registration. */
	void expect_result(int error, void *start, size_t length, int access)
	{
		errno = 0;
		ibv_mr *mr = ibv_reg_mr(pd.get(), start, length, access);

		EXPECT_EQ(mr ? 0 : errno, error) << (mr ? "registered" : std::strerror(errno));
		if (mr)
			EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}

	Device device;
	Pd pd{ device };
	Memory memory{ 64 << 10 };
};

TEST_F(Registration, with_access_that_makes_sense)
{
	for (int access : { 0, int(IBV_ACCESS_LOCAL_WRITE), int(IBV_ACCESS_REMOTE_READ), access_all,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE })
		expect_result(0, memory.data(), memory.size(), access);
}

/* IBA 10.6.3.1: who may write from afar must be able to write at home. */
TEST_F(Registration, of_remote_writes_without_local_ones)
{
	expect_result(EINVAL, memory.data(), memory.size(), IBV_ACCESS_REMOTE_WRITE);
	expect_result(EINVAL, memory.data(), memory.size(), IBV_ACCESS_REMOTE_ATOMIC);
}

TEST_F(Registration, with_access_that_is_unknown)
{
	errno = 0;
	ibv_mr *mr = ibv_reg_mr(pd.get(), memory.data(), memory.size(), 1 << 15);
	EXPECT_EQ(mr, nullptr);
	EXPECT_TRUE(errno == EINVAL || errno == EOPNOTSUPP) << std::strerror(errno);
}

/* Optional flags are hints. */
TEST_F(Registration, with_relaxed_ordering)
{
	expect_result(0, memory.data(), memory.size(), access_all | IBV_ACCESS_RELAXED_ORDERING);
}

TEST_F(Registration, of_unmapped_memory)
{
	void *hole = mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(hole, MAP_FAILED);
	ASSERT_EQ(munmap(hole, 8192), 0);
	expect_result(EFAULT, hole, 4096, access_all);
	expect_result(EFAULT, hole, 4096, 0);
}

TEST_F(Registration, of_memory_with_a_hole_at_its_end)
{
	ASSERT_EQ(munmap(memory.data() + memory.size() - 4096, 4096), 0);
	expect_result(EFAULT, memory.data(), memory.size(), access_all);
	expect_result(0, memory.data(), memory.size() - 4096, access_all);
}

TEST_F(Registration, of_read_only_memory)
{
	ASSERT_EQ(mprotect(memory.data(), memory.size(), PROT_READ), 0);
	expect_result(EFAULT, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
	expect_result(0, memory.data(), memory.size(), 0);
}

TEST_F(Registration, of_nothing)
{
	expect_result(EINVAL, memory.data(), 0, access_all);
}

TEST_F(Registration, over_the_end_of_all_addresses)
{
	errno = 0;
	EXPECT_EQ(ibv_reg_mr(pd.get(), memory.data(), ~size_t(0), access_all), nullptr);
	EXPECT_EQ(ibv_reg_mr(pd.get(), reinterpret_cast<void *>(~uintptr_t(0) - 100), 4096,
			     access_all),
		  nullptr);
}

/* A process may not pin more than it is allowed to lock. */
TEST(Limit, of_locked_memory)
{
	Child child([] {
		const rlimit limit = { 64 << 10, 64 << 10 };
		Device device;
		Pd pd(device);
		Memory memory(1 << 20);

		require_errno(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
		require_errno(!setgid(65534) && !setuid(65534), "setuid");
		if (ibv_reg_mr(pd.get(), memory.data(), memory.size(), access_all))
			return 1;
		if (errno != ENOMEM)
			return 2;
		/* As much as it may, again and again: what was unpinned is given back. */
		for (int i = 0; i < 50; i++) {
			ibv_mr *mr = ibv_reg_mr(pd.get(), memory.data(), 32 << 10, access_all);

			if (!mr || ibv_dereg_mr(mr))
				return 3;
		}
		return 0;
	});
	std::optional<int> status = child.wait();

	ASSERT_TRUE(status);
	ASSERT_TRUE(WIFEXITED(*status));
	EXPECT_EQ(WEXITSTATUS(*status), 0)
		<< "1: it was registered, 2: errno is not ENOMEM, 3: less was refused";
}

class Keys : public Registration
{
};

TEST_F(Keys, of_both_kinds_differ_in_the_top_bit)
{
	Mr mr(pd, memory.data(), memory.size());

	if (!is_bellhop())
		GTEST_SKIP() << "a promise of bellhop's";
	EXPECT_EQ(mr.lkey() ^ mr.rkey(), 1u << 31);
}

TEST_F(Keys, of_what_is_gone_are_not_used_again_at_once)
{
	constexpr int count = 1000;
	std::set<uint32_t> seen;

	for (int i = 0; i < count; i++) {
		Mr mr(pd, memory.data(), 4096);

		/* The low byte is the variant: an index counts as used whatever it is. */
		EXPECT_TRUE(seen.insert(mr.lkey() >> 8).second) << "registration " << i;
	}
}

TEST_F(Keys, of_regions_side_by_side_differ)
{
	std::vector<std::unique_ptr<Mr>> mrs;
	std::set<uint32_t> seen;

	for (int i = 0; i < 500; i++) {
		mrs.push_back(std::make_unique<Mr>(pd, memory.data(), 4096));
		EXPECT_TRUE(seen.insert(mrs.back()->lkey()).second);
		if (mrs.back()->rkey() != mrs.back()->lkey())
			EXPECT_TRUE(seen.insert(mrs.back()->rkey()).second);
	}
}

/* A region may be known by other addresses than its own, even from 0. */
class Iova : public testing::TestWithParam<uint64_t>
{
};

TEST_P(Iova, is_what_requests_use)
{
	constexpr uint32_t length = 8192;
	Pair pair;
	Memory memory(2 * length);
	Region b(pair.b.pd, length);
	/* Only the offset in the page has to be the same. */
	uint8_t *start = memory.data() + GetParam() % 4096;
	ibv_mr *mr = ibv_reg_mr_iova(pair.a.pd.get(), start, length, GetParam(), access_all);

	ASSERT_NE(mr, nullptr) << std::strerror(errno);
	fill(b.memory.bytes(), 1);
	ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_READ,
				    .sges = { { GetParam(), length, mr->lkey } },
				    .remote = b.address(),
				    .rkey = b.mr.rkey(),
				    .id = 1 }),
		  0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(std::memcmp(start, b.memory.data(), length), 0);

	std::memset(start, 0, length);
	ASSERT_EQ(post(pair.b.qp, { .opcode = IBV_WR_RDMA_WRITE,
				    .sges = { b.sge(100, 1000) },
				    .remote = GetParam() + length - 1000,
				    .rkey = mr->rkey,
				    .id = 2 }),
		  0);
	expect(pair.b.send_cq, pair.b.qp, 2);
	EXPECT_EQ(std::memcmp(start + length - 1000, b.memory.data() + 100, 1000), 0);

	/* And its own addresses are nothing. */
	ASSERT_EQ(post(pair.b.qp, { .opcode = IBV_WR_RDMA_WRITE,
				    .sges = { b.sge(0, 10) },
				    .remote = reinterpret_cast<uintptr_t>(start),
				    .rkey = mr->rkey,
				    .id = 3 }),
		  0);
	expect_reason(expect(pair.b.send_cq, pair.b.qp, 3, IBV_WC_REM_ACCESS_ERR),
		      BELLHOP_REASON_RKEY_RANGE);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

INSTANTIATE_TEST_SUITE_P(of, Iova, testing::Values(0, 0x1000, 0x123, 0xffff'ffff'ffff'0000),
			 [](const auto &info) { return std::to_string(info.param); });

/* Memory that is unmapped stays pinned: what was registered is what is moved. */
TEST(Pinning, outlives_the_mapping)
{
	Pair pair;
	Region b(pair.b.pd, 8192);
	void *start =
		mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(start, MAP_FAILED);
	Mr mr(pair.a.pd, start, 8192);
	fill({ static_cast<uint8_t *>(start), 8192 }, 3);
	std::vector<uint8_t> sent(8192);
	std::memcpy(sent.data(), start, 8192);
	ASSERT_EQ(munmap(start, 8192), 0);
	ASSERT_EQ(post(pair.a.qp,
		       { .opcode = IBV_WR_RDMA_WRITE,
			 .sges = { { reinterpret_cast<uintptr_t>(start), 8192, mr.lkey() } },
			 .remote = b.address(),
			 .rkey = b.mr.rkey(),
			 .id = 1 }),
		  0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(std::memcmp(sent.data(), b.memory.data(), 8192), 0);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
