// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// odp_swap.cpp: pages on demand that the kernel has swapped out: requests bring back those that
// they use, with what was in them, and no others.
#include <thread>
#include "command.hpp"
#include "demand.hpp"
#include "ktap.hpp"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

using namespace vm;

static constexpr uint32_t length = 4 << 20;
static constexpr long length_kb = length / 1024;

/* A disk of memory that is swapped to: 64 MiB. */
class SwapDisk
{
public:
	static constexpr const char *disk = "/dev/ram0";

	SwapDisk()
	{
		run_command("modprobe brd rd_nr=1 rd_size=65536", false);
		is_there_ =
			!run_command(std::string("mkswap ") + disk + " && swapon " + disk, false);
	}

	~SwapDisk()
	{
		if (is_there_)
			expect_command(std::string("swapoff ") + disk);
		run_command("rmmod brd", false);
	}

	SwapDisk(const SwapDisk &) = delete;
	SwapDisk &operator=(const SwapDisk &) = delete;

	/** False where the kernel has no such thing. */
	bool is_there() const
	{
		return is_there_;
	}

private:
	bool is_there_;
};

class Swapped : public testing::Test
{
protected:
	void SetUp() override
	{
		if (!swap.is_there())
			GTEST_SKIP() << "nothing can be swapped to";
	}

	/* All of b, but what the kernel has other use for at this moment. */
	void swap_out()
	{
		ASSERT_EQ(madvise(b.memory.data(), length, MADV_PAGEOUT), 0);
		EXPECT_GT(status_kb("VmSwap"), length_kb * 3 / 4);
	}

	void request(ibv_wr_opcode opcode, size_t offset, uint32_t bytes)
	{
		ASSERT_EQ(post(pair.a.qp, { .opcode = opcode,
					    .sges = { a.sge(offset, bytes) },
					    .remote = b.address(offset),
					    .rkey = b.mr.rkey(),
					    .id = 1,
					    .compare_add = 1 }),
			  0);
		expect(pair.a.send_cq, pair.a.qp, 1);
	}

	SwapDisk swap;
	Pair pair;
	Region a{ pair.a.pd, length };
	DemandRegion b{ pair.b.pd, length };
};

TEST_F(Swapped, is_read)
{
	fill(b.memory.bytes(), 1);
	swap_out();
	request(IBV_WR_RDMA_READ, 0, length);
	EXPECT_TRUE(is_filled(a.memory.bytes(), 1));
}

TEST_F(Swapped, is_written_to)
{
	std::vector<uint8_t> expected(length);
	const size_t at = 5 * page + 100;
	const uint32_t bytes = 3 * page;

	fill(b.memory.bytes(), 1);
	fill(expected, 1);
	swap_out();
	fill(a.memory.bytes(), 2);
	request(IBV_WR_RDMA_WRITE, at, bytes);
	std::copy_n(a.memory.data() + at, bytes, expected.begin() + at);
	EXPECT_TRUE(std::ranges::equal(b.memory.bytes(), expected));
}

TEST_F(Swapped, is_changed_by_atomics)
{
	auto *word = reinterpret_cast<uint64_t *>(b.memory.data() + 7 * page);

	fill(b.memory.bytes(), 1);
	*word = 41;
	swap_out();
	request(IBV_WR_ATOMIC_FETCH_AND_ADD, 7 * page, 8);
	EXPECT_EQ(*reinterpret_cast<uint64_t *>(a.memory.data() + 7 * page), 41u);
	EXPECT_EQ(*word, 42u);
}

TEST_F(Swapped, stays_where_it_is_else)
{
	fill(b.memory.bytes(), 1);
	swap_out();
	const long before = status_kb("VmSwap");
	request(IBV_WR_RDMA_READ, 0, page);
	/* What lies next to it is read ahead. */
	EXPECT_GT(status_kb("VmSwap"), before - 256);
	{
		DemandRegion more(pair.b.pd, length);
		Mr again(pair.b.pd, b.memory.data(), length, access_on_demand);

		EXPECT_GT(status_kb("VmSwap"), before - 256) << "to register brings it back";
	}
	request(IBV_WR_RDMA_READ, 0, length);
	EXPECT_TRUE(is_filled(a.memory.bytes(), 1));
	EXPECT_LT(status_kb("VmSwap"), before / 2);
}

TEST_F(Swapped, is_right_while_it_comes_and_goes)
{
	const Deadline end(2 * slowness());
	std::jthread pager([&](const std::stop_token &over) {
		while (!over.stop_requested())
			madvise(b.memory.data(), length, MADV_PAGEOUT);
	});
	int rounds = 0;

	for (; !end.passed() && !testing::Test::HasFailure(); rounds++) {
		fill(a.memory.bytes(), rounds);
		request(IBV_WR_RDMA_WRITE, 0, length);
		std::memset(a.memory.data(), 0, length);
		request(IBV_WR_RDMA_READ, 0, length);
		ASSERT_TRUE(is_filled(a.memory.bytes(), rounds));
	}
	pager.request_stop();
	pager.join();
	EXPECT_GT(rounds, 0);
	note("%d rounds", rounds);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
