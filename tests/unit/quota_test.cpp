// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// quota_test.cpp: quota.h: as many as the device says, and no more.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

extern "C" {
#include "quota.h"
}

TEST(quota, take__as_many_as_may_be)
{
	u32 used = 0;

	for (u32 i = 0; i < 5; i++)
		EXPECT_EQ(bellhop_quota_take(&used, 5), 0);
	EXPECT_EQ(bellhop_quota_take(&used, 5), -ENOMEM);
	EXPECT_EQ(used, 5u);
}

TEST(quota, take__none_where_none_may_be)
{
	u32 used = 0;

	EXPECT_EQ(bellhop_quota_take(&used, 0), -ENOMEM);
	EXPECT_EQ(used, 0u);
}

TEST(quota, take_some__until_all_is_taken)
{
	constexpr u32 all = 4u << 20;
	const auto is_left = [](u32 used, u32 count) {
		const u32 before = used;
		const bool taken = !bellhop_quota_take_some(&used, count, all);

		EXPECT_EQ(used, taken ? before + count : before);
		return taken;
	};

	EXPECT_TRUE(is_left(0, all));
	EXPECT_FALSE(is_left(1, all));
	EXPECT_TRUE(is_left(all - 4096, 4096));
	EXPECT_FALSE(is_left(all - 4096, 4097));
	EXPECT_FALSE(is_left(all, 1));
	EXPECT_FALSE(is_left(4096, ~0u));
}

TEST(quota, give_some__makes_room_for_as_many)
{
	u32 used = 10;

	bellhop_quota_give_some(&used, 4);
	EXPECT_EQ(used, 6u);
	EXPECT_EQ(bellhop_quota_take_some(&used, 5, 10), -ENOMEM);
	EXPECT_EQ(bellhop_quota_take_some(&used, 4, 10), 0);
}

TEST(quota, give__makes_room_for_one)
{
	u32 used = 3;

	bellhop_quota_give(&used);
	EXPECT_EQ(bellhop_quota_take(&used, 3), 0);
	EXPECT_EQ(bellhop_quota_take(&used, 3), -ENOMEM);
}

TEST(quota, take__by_many_at_once)
{
	constexpr u32 most = 7;
	u32 used = 0;
	std::atomic<u32> held = 0, worst = 0;
	std::vector<std::thread> threads;

	for (int t = 0; t < 4; t++)
		threads.emplace_back([&] {
			for (int i = 0; i < 20000; i++) {
				if (bellhop_quota_take(&used, most))
					continue;
				const u32 now = ++held;
				if (now > worst)
					worst = now;
				held--;
				bellhop_quota_give(&used);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	EXPECT_EQ(used, 0u);
	EXPECT_LE(worst, most);
}
