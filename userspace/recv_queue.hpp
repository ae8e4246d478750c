// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// recv_queue.hpp: the receive side of a QP.
#pragma once

#include <cerrno>
#include <cstdint>
#include <infiniband/verbs.h>
#include "kick.hpp"
#include "ring.hpp"
#include "shadow.hpp"
#include "spin_lock.hpp"
#include "wqe.hpp"

namespace bellhop
{

class RecvQueue
{
public:
	// As SendQueue::attach().
	bool attach(void *memory, const bellhop_ring_map &map, const WqeLimits &limits,
		    const Kick &kick, std::uint32_t qpn) noexcept
	{
		ring_.attach(memory, map);
		limits_ = limits;
		kick_ = &kick;
		qpn_ = qpn;
		return shadow_.allocate(ring_.slots());
	}

	// Whether the QP's state lets receives be posted: every one but RESET does.
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

	// As ibv_post_recv(): 0, EINVAL or ENOMEM. What stands before *bad_wr is posted.
	template <bool Locked>
	int post(const ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
	{
		bool published = false;
		int error = 0;
		{
			Guard<Locked> guard(lock_);
			std::uint32_t next = producer_;

			for (; wr; wr = wr->next) {
				error = append(next, *wr);
				if (error) [[unlikely]] {
					*bad_wr = const_cast<ibv_recv_wr *>(wr);
					break;
				}
				next++;
			}
			published = next != producer_;
			if (published) {
				producer_ = next;
				ring_.publish(next);
			}
		}
		if (published)
			kick_if_wanted();
		return error;
	}

	// A completion of entry number index is polled. Returns the entry's wr_id.
	std::uint64_t retire(std::uint32_t index) noexcept
	{
		return shadow_.retire(index);
	}

private:
	int append(std::uint32_t index, const ibv_recv_wr &wr) noexcept
	{
		if (!is_open_) [[unlikely]]
			return EINVAL;
		if (shadow_.is_full(index)) [[unlikely]]
			return ENOMEM;
		int error = encode_recv(ring_.slot(index), wr, limits_);

		if (!error)
			shadow_.remember(index, wr.wr_id);
		return error;
	}

	void kick_if_wanted() noexcept
	{
		fence_before_kick();
		if (ring_.wanted())
			kick_->run(qpn_);
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
