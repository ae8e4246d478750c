// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// block.hpp: memory of the library's own, from the program's allocator where it has named one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include "verbs_abi.hpp"

namespace bellhop
{

// What a parent domain says about memory that is allocated in it. Outlives what is.
struct Allocator {
	ibv_pd *pd = nullptr;
	void *context = nullptr;
	decltype(ibv_parent_domain_init_attr::alloc) alloc = nullptr; // null: there is none
	decltype(ibv_parent_domain_init_attr::free) free = nullptr;
};

// What memory is for, as the program's allocator is told.
enum class ResourceType : std::uint64_t {
	QP = 1,
};

class Block
{
public:
	Block() noexcept = default;
	Block(const Block &) = delete;
	Block &operator=(const Block &) = delete;
	~Block()
	{
		if (allocator_)
			allocator_->free(allocator_->pd, allocator_->context, memory_,
					 static_cast<std::uint64_t>(type_));
		else
			std::free(memory_);
	}

	// Once; allocator: may be null. The memory is zeroed. Returns false without memory.
	bool allocate(std::size_t size, ResourceType type, const Allocator *allocator) noexcept
	{
		void *memory = IBV_ALLOCATOR_USE_DEFAULT;

		if (allocator && allocator->alloc)
			memory = allocator->alloc(allocator->pd, allocator->context, size,
						  alignof(std::max_align_t),
						  static_cast<std::uint64_t>(type));
		if (memory == IBV_ALLOCATOR_USE_DEFAULT) {
			memory_ = std::calloc(1, size);
			return memory_;
		}
		if (!memory)
			return false;
		std::memset(memory, 0, size);
		memory_ = memory;
		type_ = type;
		allocator_ = allocator;
		return true;
	}

	void *memory() const noexcept
	{
		return memory_;
	}

private:
	void *memory_ = nullptr;
	ResourceType type_{};
	const Allocator *allocator_ = nullptr; // whose memory it is; null: the C library's
};

} // namespace bellhop
