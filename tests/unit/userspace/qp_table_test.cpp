// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// qp_table_test.cpp: qp_table.hpp, one thread; qp_table_race_test.cpp races it.
#include <memory>
#include <gtest/gtest.h>
#include "qp_table.hpp"

namespace
{

using bellhop::QpTable;
using bellhop::QueuePair;

// The table does not look at what it holds.
QueuePair *token(std::uintptr_t number)
{
	return reinterpret_cast<QueuePair *>(number * 64);
}

class QpTableTest : public testing::Test
{
protected:
	std::unique_ptr<QpTable> table_ = std::make_unique<QpTable>();
};

TEST_F(QpTableTest, FindsNothingAtFirst)
{
	for (std::uint32_t qpn : { 0U, 1U, 0xfffU, 0x1000U, 0xffffffU, 0x1000000U, 0xffffffffU })
		EXPECT_EQ(table_->find(qpn), nullptr);
}

TEST_F(QpTableTest, FindsByEveryBitOfTheNumber)
{
	for (std::uint32_t bit = 0; bit < 24; bit++)
		ASSERT_TRUE(table_->insert(1U << bit, token(bit + 1)));
	for (std::uint32_t bit = 0; bit < 24; bit++)
		EXPECT_EQ(table_->find(1U << bit), token(bit + 1));
	EXPECT_EQ(table_->find(3), nullptr);
	EXPECT_EQ(table_->find(0x1000001), nullptr) << "bits beyond 24 do not alias";
}

TEST_F(QpTableTest, RefusesNumbersBeyond24Bits)
{
	EXPECT_TRUE(table_->insert(0xffffff, token(1)));
	EXPECT_FALSE(table_->insert(0x1000000, token(2)));
	EXPECT_EQ(table_->find(0xffffff), token(1));
}

TEST_F(QpTableTest, ErasesOneAndKeepsItsNeighbours)
{
	ASSERT_TRUE(table_->insert(0x2000, token(1)));
	ASSERT_TRUE(table_->insert(0x2001, token(2)));
	table_->erase(0x2000);
	EXPECT_EQ(table_->find(0x2000), nullptr);
	EXPECT_EQ(table_->find(0x2001), token(2));
}

TEST_F(QpTableTest, UsesALeafAgainAfterItsLastQp)
{
	for (std::uintptr_t round = 1; round < 4; round++) {
		ASSERT_TRUE(table_->insert(0x3000, token(round)));
		EXPECT_EQ(table_->find(0x3000), token(round));
		table_->erase(0x3000);
		EXPECT_EQ(table_->find(0x3000), nullptr);
	}
}

} // namespace
