// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// odp_advise.cpp: ibv_advise_mr(): pages on demand are there before they are needed.
#include <algorithm>
#include "demand.hpp"
#include "ktap.hpp"

using namespace vm;

static constexpr uint32_t length = 1 << 20;

class Advice : public testing::Test
{
protected:
	int advise(ibv_advise_mr_advice advice, unsigned flags, std::vector<ibv_sge> sges,
		   const Pd *of = nullptr)
	{
		return ibv_advise_mr((of ? *of : pd).get(), advice, flags, sges.data(),
				     static_cast<int>(sges.size()));
	}

	/* How many pages the process has of it. */
	size_t present(const Memory &memory)
	{
		std::vector<unsigned char> pages(memory.size() / page);

		require_errno(!mincore(memory.data(), memory.size(), pages.data()), "mincore");
		return static_cast<size_t>(std::ranges::count_if(
			pages, [](unsigned char is_there) { return is_there & 1; }));
	}

	Device device;
	Pd pd{ device };
	DemandRegion region{ pd, length };
};

TEST_F(Advice, fetches_pages_to_be_written)
{
	ASSERT_EQ(present(region.memory), 0u);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH,
			 { region.sge(0, length / 2) }),
		  0);
	EXPECT_EQ(present(region.memory), length / page / 2);
}

TEST_F(Advice, fetches_pages_to_be_read)
{
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			 { region.sge(page - 1, 2), region.sge(length - 1, 1) }),
		  0);
	EXPECT_EQ(present(region.memory), 3u);
}

TEST_F(Advice, fetches_without_waiting)
{
	const Deadline deadline(patience);

	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, { region.sge(0, length) }), 0);
	while (present(region.memory) < length / page && !deadline.passed())
		usleep(1000);
	EXPECT_EQ(present(region.memory), length / page);
}

TEST_F(Advice, brings_no_page_that_is_not_at_hand)
{
	region.memory.data()[0] = 1;
	for (unsigned flags : { 0u, unsigned(IBV_ADVISE_MR_FLAG_FLUSH) })
		EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, flags,
				 { region.sge(0, length) }),
			  0);
	EXPECT_EQ(present(region.memory), 1u);
}

TEST_F(Advice, of_nothing)
{
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			 { region.sge(0, 0) }),
		  0);
	EXPECT_EQ(present(region.memory), 0u);
}

TEST_F(Advice, is_refused_for_what_is_not_there)
{
	const unsigned flush = IBV_ADVISE_MR_FLAG_FLUSH;
	Region pinned(pd, page);
	DemandRegion read_only(pd, page, IBV_ACCESS_ON_DEMAND);
	Pd other(device);

	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, flush,
			 { { region.address(), page, region.mr.lkey() ^ 1 } }),
		  ENOENT);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, flush, { { region.address(), page, 0 } }),
		  ENOENT);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, flush, { region.sge(0, page) }, &other),
		  EPERM);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, flush, { read_only.sge(0, page) }),
		  EPERM);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, flush, { read_only.sge(0, page) }), 0);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, flush, { region.sge(1, length) }), EFAULT);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, flush, { pinned.sge(0, page) }), EINVAL);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 2, { region.sge(0, page) }), EINVAL);
	EXPECT_EQ(advise(static_cast<ibv_advise_mr_advice>(77), flush, { region.sge(0, page) }),
		  EOPNOTSUPP);
	ASSERT_EQ(munmap(region.memory.data() + page, page), 0);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, flush, { region.sge(0, length) }), EFAULT);
	map_anew(region.memory.data() + page, page);
}

/* All addresses there are do not take all time there is. */
TEST_F(Advice, of_the_whole_address_space_ends)
{
	Mr all(pd, nullptr, SIZE_MAX, access_on_demand);

	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			 { { 0, UINT32_MAX, all.lkey() } }),
		  EFAULT);
	EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, { { 0, UINT32_MAX, all.lkey() } }),
		  0);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
