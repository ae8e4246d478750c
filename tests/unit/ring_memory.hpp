// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ring_memory.hpp: the memory of one ring, not a byte longer than its mapping holds entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include <rdma/bellhop-abi.h>

// Header is bellhop_wq_hdr or bellhop_cq_hdr. Starts zeroed, as the kernel's pages do.
template <typename Header>
class RingMemory
{
public:
	// slots: a power of two. stride: bytes from slot to slot.
	RingMemory(std::uint32_t slots, std::uint32_t stride)
	    : stride_{ stride }, length_{ BELLHOP_RING_SLOTS + std::size_t{ slots } * stride },
	      memory_{ static_cast<std::byte *>(::operator new(length_, kAlignment)) }
	{
		std::memset(memory_.get(), 0, length_);
	}

	Header *hdr()
	{
		return reinterpret_cast<Header *>(memory_.get());
	}
	std::byte *bytes()
	{
		return memory_.get();
	}
	std::size_t length() const
	{
		return length_;
	}

	// index: of the slot, already masked.
	std::byte *slot(std::uint32_t index)
	{
		return memory_.get() + BELLHOP_RING_SLOTS + std::size_t{ index } * stride_;
	}

private:
	static constexpr std::align_val_t kAlignment{ 64 };

	struct Free {
		void operator()(std::byte *memory) const
		{
			::operator delete(memory, kAlignment);
		}
	};

	std::uint32_t stride_;
	std::size_t length_;
	std::unique_ptr<std::byte, Free> memory_;
};
