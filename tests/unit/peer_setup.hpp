// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// peer_setup.hpp: what both ends of a simulated connection know.
#pragma once

#include <span>

extern "C" {
#include "service.h"
#include "retry.h"
}
#include "wire_packet.hpp"

namespace wire
{

/** How a pair of peers is set up. */
struct Setup {
	bellhop_service service = BELLHOP_SERVICE_RC;
	u32 mtu = 1024;
	u32 window = 128;
	u32 max_rd_atomic = 4;
	u32 max_length = 24 << 10; /* of a message */
	u32 psns[2] = { 0xfffff0, 0x123 };
	unsigned not_ready = 0; /* how often, of 2^16, a message finds receives, and is told none */
	bool repairs = false; /* the requesters understand what a repair is */
	u8 retry_cnt = 7;
	u8 timeout = 8; /* about a millisecond; 14 is 67 */

	bool is_reliable() const
	{
		return service & BELLHOP_SERVICES_RELIABLE;
	}
};

/* Requests under way, answers to be sent, reads that are kept. */
constexpr u32 kDepth = 16, kKeep = 8;

/** A message. */
struct Work {
	u8 wr;
	u32 length;
	u64 seed; /* of its bytes */
	u64 number;
	u64 word = 0; /* of an atomic operation: what must be found, or what is written */
};

inline u8 noise(u64 seed, u32 at)
{
	return u8((seed * 0x9e3779b97f4a7c15 + u64(at) * 0x2545f4914f6cdd1d) >> 56);
}

/** A place for each message that may be under way, with bytes between them that nobody changes. */
class Area
{
public:
	explicit Area(u32 max_length)
	    : length_(max_length), stride_(max_length + kGuard), bytes_(kDepth * stride_, kCanary)
	{
	}

	/** Where a place begins, for those who name it by a number. */
	u64 address(u32 place) const
	{
		return u64(place % kDepth) * stride_;
	}

	bool has(u64 address, u32 bytes) const
	{
		return address % stride_ <= length_ && bytes <= length_ - address % stride_ &&
		       address < bytes_.size();
	}

	void put(u64 address, std::span<const u8> from)
	{
		if (!from.empty())
			std::memcpy(&bytes_[address], from.data(), from.size());
	}

	u8 operator[](u64 address) const
	{
		return bytes_[address];
	}

	/** Whether a message is there, whole and as it was. */
	bool holds(u32 place, const Work &work) const
	{
		for (u32 i = 0; i < work.length; i++)
			if (bytes_[address(place) + i] != noise(work.seed, i))
				return false;
		return true;
	}

	bool has_its_guards() const
	{
		for (u32 place = 0; place < kDepth; place++)
			for (u32 i = length_; i < stride_; i++)
				if (bytes_[address(place) + i] != kCanary)
					return false;
		return true;
	}

private:
	static constexpr u32 kGuard = 64;
	static constexpr u8 kCanary = 0xc5;

	const u32 length_, stride_;
	Bytes bytes_;
};

} // namespace wire
