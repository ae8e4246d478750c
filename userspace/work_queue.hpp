// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// work_queue.hpp: what the send and the receive side of a QP have in common.
//
// Entries are written first, then published together, and the kernel is kicked afterwards,
// without the lock.
#pragma once

#include <cerrno>
#include <cstdint>
#include "kick.hpp"
#include "ring.hpp"
#include "shadow.hpp"
#include "spin_lock.hpp"
#include "wqe.hpp"

namespace bellhop
{

class WorkQueue
{
public:
	// memory: the mapping of map, or null for a queue without entries; kick: of the QP's
	// context, outlives the queue; allocator: may be null. Returns false without memory.
	bool attach(void *memory, const bellhop_ring_map &map, const WqeLimits &limits,
		    const Kick &kick, std::uint32_t qpn,
		    const Allocator *allocator = nullptr) noexcept
	{
		ring_.attach(memory, map);
		limits_ = limits;
		kick_ = &kick;
		qpn_ = qpn;
		return shadow_.allocate(ring_.slots(), allocator);
	}

	// Whether the QP's state lets requests be posted.
	template <bool Locked>
	void set_open(bool is_open) noexcept
	{
		Guard<Locked> guard(lock_);

		is_open_ = is_open;
	}

	// The QP is in RESET, and its completions have left the CQ.
	template <bool Locked>
	void reset() noexcept
	{
		Guard<Locked> guard(lock_);

		is_open_ = false;
		producer_ = 0;
		shadow_.reset();
		if (ring_.slots())
			ring_.publish(0);
	}

	// A completion of entry number index is polled. Returns the entry's wr_id.
	std::uint64_t retire(std::uint32_t index) noexcept
	{
		return shadow_.retire(index);
	}

protected:
	// Writes a list of requests, each by encode(slot, request, limits), and publishes them.
	// Returns 0, or the errno of the request that *bad is set to; what stands before it is
	// published. published: whether anything was.
	template <bool Locked, auto Encode, class Request>
	int append(const Request *wr, Request **bad, bool &published) noexcept
	{
		Guard<Locked> guard(lock_);
		std::uint32_t next = producer_;
		int error = 0;

		for (; wr; wr = wr->next) {
			error = admit(next);
			if (!error)
				error = Encode(ring_.slot(next), *wr, limits_);
			if (error) [[unlikely]] {
				*bad = const_cast<Request *>(wr);
				break;
			}
			shadow_.remember(next, wr->wr_id);
			next++;
		}
		published = publish(next);
		return error;
	}

	// Whether entry number index may be written: 0, EINVAL or ENOMEM.
	int admit(std::uint32_t index) noexcept
	{
		if (!is_open_) [[unlikely]]
			return EINVAL;
		return shadow_.is_full(index) ? ENOMEM : 0;
	}

	// Returns whether there was anything to publish.
	bool publish(std::uint32_t next) noexcept
	{
		if (next == producer_)
			return false;
		producer_ = next;
		ring_.publish(next);
		return true;
	}

	SpinLock lock_;
	bool is_open_ = false;
	std::uint32_t producer_ = 0;
	WorkRing ring_;
	WqeLimits limits_{};
	const Kick *kick_ = nullptr;
	std::uint32_t qpn_ = 0;
	Shadow shadow_;
};

} // namespace bellhop
