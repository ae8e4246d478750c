// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// block_test.cpp: memory from a program's allocator, and parent domains that are in use.
#include <array>
#include <cerrno>
#include <gtest/gtest.h>
#include "block.hpp"
#include "completion_queue.hpp"
#include "pd.hpp"
#include "shadow.hpp"
#include "shared_queue.hpp"

namespace
{

using bellhop::Allocator;
using bellhop::Block;
using bellhop::ProtectionDomain;
using bellhop::ResourceType;

// A program's allocator, which has one piece to give.
struct Piece {
	alignas(16) std::array<std::uint8_t, 4096> bytes;
	void *answer = bytes.data();
	unsigned given = 0;
	unsigned taken_back = 0;
	std::uint64_t type = 0;
	ibv_pd *pd = nullptr;
};

void *give(ibv_pd *pd, void *context, std::size_t size, std::size_t alignment, std::uint64_t type)
{
	auto *piece = static_cast<Piece *>(context);

	EXPECT_LE(size, piece->bytes.size());
	EXPECT_EQ(16 % alignment, 0U);
	piece->given++;
	piece->type = type;
	piece->pd = pd;
	return piece->answer;
}

void take_back(ibv_pd *pd, void *context, void *memory, std::uint64_t type)
{
	auto *piece = static_cast<Piece *>(context);

	EXPECT_EQ(memory, piece->bytes.data());
	EXPECT_EQ(type, piece->type);
	EXPECT_EQ(pd, piece->pd);
	piece->taken_back++;
}

class BlockTest : public testing::Test
{
protected:
	BlockTest()
	{
		piece_.bytes.fill(0xaa);
	}

	Piece piece_;
	Allocator allocator_{ .pd = nullptr, .context = &piece_, .alloc = give, .free = take_back };
};

TEST_F(BlockTest, ComesFromTheAllocatorAndGoesBack)
{
	{
		Block block;

		ASSERT_TRUE(block.allocate(64, ResourceType::QP, &allocator_));
		EXPECT_EQ(block.memory(), piece_.bytes.data());
		EXPECT_EQ(piece_.bytes[63], 0) << "zeroed";
		EXPECT_EQ(piece_.bytes[64], 0xaa);
		EXPECT_EQ(piece_.taken_back, 0U);
	}
	EXPECT_EQ(piece_.given, 1U);
	EXPECT_EQ(piece_.taken_back, 1U);
}

TEST_F(BlockTest, IsTheLibrarysWhereTheAllocatorSaysSo)
{
	piece_.answer = IBV_ALLOCATOR_USE_DEFAULT;
	{
		Block block;

		ASSERT_TRUE(block.allocate(64, ResourceType::QP, &allocator_));
		EXPECT_NE(block.memory(), IBV_ALLOCATOR_USE_DEFAULT);
	}
	EXPECT_EQ(piece_.given, 1U);
	EXPECT_EQ(piece_.taken_back, 0U);
}

TEST_F(BlockTest, FailsWhereTheAllocatorDoes)
{
	piece_.answer = nullptr;
	{
		bellhop::Shadow shadow;

		EXPECT_FALSE(shadow.allocate(8, &allocator_));
	}
	EXPECT_EQ(piece_.taken_back, 0U);
}

TEST(Block, IsTheLibrarysWithoutAnAllocator)
{
	Allocator none;
	Block one;
	Block other;

	EXPECT_TRUE(one.allocate(64, ResourceType::QP, nullptr));
	EXPECT_TRUE(other.allocate(64, ResourceType::QP, &none));
}

class DomainTest : public BlockTest
{
protected:
	DomainTest()
	{
		ibv_parent_domain_init_attr attr{};

		attr.pd = &pd_;
		attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
		attr.alloc = give;
		attr.free = take_back;
		attr.pd_context = &piece_;
		domain_ = bellhop::alloc_parent_domain(nullptr, &attr);
	}
	~DomainTest() override
	{
		EXPECT_EQ(bellhop::dealloc_pd(domain_), 0);
	}

	ProtectionDomain pd_{};
	ibv_pd *domain_;
};

TEST_F(DomainTest, GivesAQueuePairsMemory)
{
	ASSERT_NE(domain_, nullptr);
	{
		bellhop::DomainUse use(domain_);
		bellhop::Shadow shadow;

		ASSERT_TRUE(shadow.allocate(8, use.allocator()));
		EXPECT_EQ(piece_.given, 1U);
		EXPECT_EQ(piece_.pd, domain_);
	}
	EXPECT_EQ(piece_.taken_back, 1U);
}

TEST_F(DomainTest, StaysWhileAnythingIsMadeInIt)
{
	ASSERT_NE(domain_, nullptr);
	{
		bellhop::QueuePair qp(true, domain_);

		EXPECT_EQ(bellhop::dealloc_pd(domain_), EBUSY);
	}
	{
		bellhop::SharedQueue srq(true, domain_);

		EXPECT_EQ(bellhop::dealloc_pd(domain_), EBUSY);
	}
	bellhop::QpTable qps;
	bellhop::CompletionQueue cq(true, qps, domain_);

	EXPECT_EQ(bellhop::dealloc_pd(domain_), EBUSY);
}

TEST(DomainUse, OfAPlainPdIsTheKernels)
{
	ProtectionDomain pd{};
	bellhop::DomainUse use(&pd);

	EXPECT_EQ(use.allocator(), nullptr);
	EXPECT_EQ(pd.users, 0U);
}

} // namespace
