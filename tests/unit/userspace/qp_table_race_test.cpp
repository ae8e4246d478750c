// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// qp_table_race_test.cpp: qp_table.hpp, looked up in while others come and go.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
#include <gtest/gtest.h>
#include "qp_table.hpp"

namespace
{

using bellhop::QpTable;
using bellhop::QueuePair;

QueuePair *token(std::uintptr_t number)
{
	return reinterpret_cast<QueuePair *>(number * 64);
}

TEST(QpTableRace, AQpIsFoundWhileItsNeighboursComeAndGo)
{
	constexpr std::uint32_t STAYS = 0x5000;
	auto table = std::make_unique<QpTable>();
	std::vector<std::thread> threads;
	std::atomic<bool> done = false;
	std::atomic<int> refused = 0;

	ASSERT_TRUE(table->insert(STAYS, token(1)));
	for (std::uint32_t t = 1; t <= 2; t++)
		threads.emplace_back([&, t] {
			// In the same leaf, and in one that empties and fills.
			for (int i = 0; i < 5000; i++)
				for (std::uint32_t qpn : { STAYS + t, 0x7000 + t }) {
					if (table->insert(qpn, token(t + 1)))
						table->erase(qpn);
					else
						refused++;
				}
		});
	std::uint64_t lost = 0;
	std::thread poller([&] {
		while (!done)
			lost += table->find(STAYS) != token(1);
	});

	for (auto &thread : threads)
		thread.join();
	done = true;
	poller.join();
	EXPECT_EQ(lost, 0U);
	EXPECT_EQ(refused, 0);
	EXPECT_EQ(table->find(STAYS + 1), nullptr);
	EXPECT_EQ(table->find(0x7001), nullptr);
}

} // namespace
