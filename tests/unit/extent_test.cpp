// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// extent_test.cpp: extent.h and extent.c: runs that are built, and found again.
#include <random>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "extent.h"
}

namespace
{

constexpr u64 kPage = 4096;

// Addresses only; nothing behind them is touched.
u8 *at(u64 address)
{
	return reinterpret_cast<u8 *>(address);
}

std::vector<bellhop_extent> runs_at(const std::vector<u64> &offsets)
{
	std::vector<bellhop_extent> runs;

	for (u64 offset : offsets)
		runs.push_back({ offset, nullptr });
	return runs;
}

} // namespace

TEST(extent, append__the_first_run_begins_at_zero)
{
	bellhop_extent runs[1] = { { 99, at(99) } };

	EXPECT_EQ(bellhop_extent_append(runs, 0, 0, at(0x10000)), 1u);
	EXPECT_EQ(runs[0].offset, 0u);
	EXPECT_EQ(runs[0].memory, at(0x10000));
}

TEST(extent, append__what_follows_in_memory_joins)
{
	bellhop_extent runs[1];
	u32 count = bellhop_extent_append(runs, 0, 0, at(0x10000));

	for (u64 page = 1; page < 5; page++)
		EXPECT_EQ(bellhop_extent_append(runs, count, page * kPage,
						at(0x10000 + page * kPage)),
			  1u);
	EXPECT_EQ(runs[0].offset, 0u);
	EXPECT_EQ(runs[0].memory, at(0x10000));
}

TEST(extent, append__anything_else_begins_a_run)
{
	struct {
		const char *what;
		u64 memory;
	} const cases[] = {
		{ "a hole", 0x10000 + 2 * kPage },
		{ "backwards", 0x10000 - kPage },
		{ "the same page again", 0x10000 },
		{ "one byte off", 0x10000 + kPage + 1 },
	};

	for (const auto &c : cases) {
		bellhop_extent runs[2];
		u32 count = bellhop_extent_append(runs, 0, 0, at(0x10000));

		EXPECT_EQ(bellhop_extent_append(runs, count, kPage, at(c.memory)), 2u) << c.what;
		EXPECT_EQ(runs[1].offset, kPage) << c.what;
		EXPECT_EQ(runs[1].memory, at(c.memory)) << c.what;
	}
}

TEST(extent, append__joins_the_last_run_only)
{
	bellhop_extent runs[3];
	u32 count = bellhop_extent_append(runs, 0, 0, at(0x10000));

	count = bellhop_extent_append(runs, count, kPage, at(0x80000));
	/* would continue the first run */
	count = bellhop_extent_append(runs, count, 2 * kPage, at(0x10000 + kPage));
	EXPECT_EQ(count, 3u);
	/* continues the third, whose offset is not zero */
	count = bellhop_extent_append(runs, count, 3 * kPage, at(0x10000 + 2 * kPage));
	EXPECT_EQ(count, 3u);
}

TEST(extent, append__a_first_page_that_begins_in_its_middle)
{
	bellhop_extent runs[2];
	u32 count = bellhop_extent_append(runs, 0, 0, at(0x10000 + 100));

	EXPECT_EQ(bellhop_extent_append(runs, count, kPage - 100, at(0x10000 + kPage)), 1u);
}

TEST(extent, find__one_run_holds_everything)
{
	auto runs = runs_at({ 0 });

	for (u64 offset : { u64{ 0 }, u64{ 1 }, ~u64{ 0 } })
		EXPECT_EQ(bellhop_extent_find(runs.data(), 1, offset), 0u);
}

TEST(extent, find__first_and_last_byte_of_each_run)
{
	auto runs = runs_at({ 0, 1, 4096, 8192, 1ULL << 32, ~0ULL });

	for (u32 i = 0; i < runs.size(); i++) {
		EXPECT_EQ(bellhop_extent_find(runs.data(), u32(runs.size()), runs[i].offset), i);
		if (i) {
			EXPECT_EQ(bellhop_extent_find(runs.data(), u32(runs.size()),
						      runs[i].offset - 1),
				  i - 1);
		}
	}
}

TEST(extent, find__agrees_with_looking_at_each_run)
{
	std::mt19937_64 random{ 1 };

	for (u32 count = 1; count <= 70; count++) {
		std::vector<u64> offsets{ 0 };

		while (offsets.size() < count)
			offsets.push_back(offsets.back() + 1 + random() % 5);
		auto runs = runs_at(offsets);
		for (u64 offset = 0; offset < offsets.back() + 3; offset++) {
			u32 expected = 0;

			for (u32 i = 0; i < count; i++)
				if (offsets[i] <= offset)
					expected = i;
			ASSERT_EQ(bellhop_extent_find(runs.data(), count, offset), expected)
				<< offset << " of " << count << " runs";
		}
	}
}

TEST(extent, find__a_region_of_2_gib_in_single_pages)
{
	constexpr u32 kCount = 524288;
	std::vector<bellhop_extent> runs(kCount);

	for (u32 i = 0; i < kCount; i++)
		runs[i] = { i * kPage, nullptr };
	for (u32 i = 0; i < kCount; i += 997) {
		EXPECT_EQ(bellhop_extent_find(runs.data(), kCount, i * kPage), i);
		EXPECT_EQ(bellhop_extent_find(runs.data(), kCount, i * kPage + kPage - 1), i);
	}
	EXPECT_EQ(bellhop_extent_find(runs.data(), kCount, kCount * kPage - 1), kCount - 1);
}
