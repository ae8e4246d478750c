// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shadow.hpp: what the library remembers of the entries that are on their way.
//
// One wr_id per slot, in memory that the kernel does not see, and the account of free slots.
// A slot is taken when an entry is posted and freed when a completion of it, or of a later
// entry of the same queue, is polled. The poster and the poller hold different locks, so
// each writes an index of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include "block.hpp"

namespace bellhop
{

class Shadow
{
public:
	Shadow() noexcept = default;
	Shadow(const Shadow &) = delete;
	Shadow &operator=(const Shadow &) = delete;

	// Once; slots: 0 or a power of two; allocator: may be null. Returns false without memory.
	bool allocate(std::uint32_t slots, const Allocator *allocator = nullptr) noexcept
	{
		slots_ = slots;
		if (!slots)
			return true;
		if (!block_.allocate(slots * sizeof(*wr_ids_), ResourceType::QP, allocator))
			return false;
		wr_ids_ = static_cast<std::uint64_t *>(block_.memory());
		return true;
	}

	// Poster: whether entry number index must wait for a completion to be polled.
	bool is_full(std::uint32_t index) noexcept
	{
		if (index - seen_retired_ < slots_)
			return false;
		// Acquire: the poller has read the wr_id that is about to be overwritten.
		seen_retired_ = retired_.load(std::memory_order_acquire);
		return index - seen_retired_ >= slots_;
	}

	// Poster: remembers entry number index. The queue must not be full.
	void remember(std::uint32_t index, std::uint64_t wr_id) noexcept
	{
		wr_ids_[index & (slots_ - 1)] = wr_id;
	}

	// Poller: frees entry number index and all before it. Returns its wr_id. The queue must
	// have slots.
	std::uint64_t retire(std::uint32_t index) noexcept
	{
		std::uint64_t wr_id = wr_ids_[index & (slots_ - 1)];

		retired_.store(index + 1, std::memory_order_release);
		return wr_id;
	}

	// With neither a poster nor a poller: as at the beginning.
	void reset() noexcept
	{
		seen_retired_ = 0;
		retired_.store(0, std::memory_order_relaxed);
	}

	std::uint32_t slots() const noexcept
	{
		return slots_;
	}

private:
	Block block_;
	std::uint64_t *wr_ids_ = nullptr;
	std::uint32_t slots_ = 0;
	std::uint32_t seen_retired_ = 0; // poster: retired_ as last read
	alignas(64) std::atomic<std::uint32_t> retired_ = 0; // poller: entries that are over
};

} // namespace bellhop
