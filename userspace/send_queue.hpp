// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// send_queue.hpp: the send side of a QP: a list of requests, or a session of ibv_wr_* calls.
//
// Either way entries are written first, then published together, then the kernel is kicked
// once, if it asks for that, and without the lock.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <infiniband/verbs.h>
#include "kick.hpp"
#include "ring.hpp"
#include "shadow.hpp"
#include "spin_lock.hpp"
#include "wqe.hpp"

namespace bellhop
{

class SendQueue
{
public:
	// memory: the mapping of map, or null for a queue without entries; kick: of the QP's
	// context, outlives the queue. Returns false without memory.
	bool attach(void *memory, const bellhop_ring_map &map, const WqeLimits &limits,
		    const Kick &kick, std::uint32_t qpn) noexcept
	{
		ring_.attach(memory, map);
		limits_ = limits;
		kick_ = &kick;
		qpn_ = qpn;
		return shadow_.allocate(ring_.slots());
	}

	// Whether the QP's state lets requests be posted. A QP that fails by itself stays open:
	// the kernel flushes what is posted.
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

	// As ibv_post_send(): 0, EINVAL or ENOMEM. What stands before *bad_wr is posted.
	template <bool Locked>
	int post(const ibv_send_wr *wr, ibv_send_wr **bad_wr) noexcept
	{
		bool published = false;
		int error = 0;
		{
			Guard<Locked> guard(lock_);
			std::uint32_t next = producer_;

			for (; wr; wr = wr->next) {
				error = append(next, *wr);
				if (error) [[unlikely]] {
					*bad_wr = const_cast<ibv_send_wr *>(wr);
					break;
				}
				next++;
			}
			published = publish(next);
		}
		if (published)
			kick_if_needed();
		return error;
	}

	// A completion of entry number index is polled. Returns the entry's wr_id.
	std::uint64_t retire(std::uint32_t index) noexcept
	{
		return shadow_.retire(index);
	}

	// Begins a session. The queue is locked until complete() or abort().
	template <bool Locked>
	void start() noexcept
	{
		if constexpr (Locked)
			lock_.lock();
		session_ = { .next = producer_ };
	}

	// Begins an entry without payload. What is wrong with it is told by complete().
	void build(bellhop_wr_opcode opcode, const ibv_qp_ex &qp, std::uint32_t ex,
		   std::uint32_t rkey, std::uint64_t remote_addr) noexcept
	{
		// Inline is what the payload turns out to be.
		std::uint32_t flags = qp.wr_flags & ~std::uint32_t{ BELLHOP_SQE_INLINE };

		session_.slot = nullptr;
		if (session_.error)
			return;
		if (int error = admit(session_.next)) {
			session_.error = error;
		} else if (flags & ~SQE_FLAGS) {
			session_.error = EINVAL;
		} else {
			session_.slot = ring_.slot(session_.next);
			session_.opcode = static_cast<std::uint8_t>(opcode);
			session_.flags = static_cast<std::uint8_t>(flags);
			write_shape(session_.slot, session_.opcode, session_.flags, 0, 0);
			write_target(session_.slot, ex, rkey, remote_addr);
			shadow_.remember(session_.next, qp.wr_id);
			session_.next++;
		}
	}

	// Gives the entry its payload.
	void set_elements(const ibv_sge *sg_list, std::size_t num_sge) noexcept
	{
		if (!has_entry())
			return;
		if (num_sge > limits_.max_sge) {
			session_.error = EINVAL;
			return;
		}
		write_elements(sqe_payload(session_.slot), sg_list,
			       static_cast<std::uint32_t>(num_sge));
		write_shape(session_.slot, session_.opcode, session_.flags,
			    static_cast<std::uint32_t>(num_sge), 0);
	}

	// The same, with bytes that are taken now.
	void set_inline(const ibv_data_buf *buf_list, std::size_t num_buf) noexcept
	{
		if (!has_entry())
			return;
		InlineWriter writer(session_.slot, limits_.max_inline);
		bool fits = OPCODE_ROWS[session_.opcode].flags & BELLHOP_SQE_INLINE;

		for (std::size_t i = 0; fits && i < num_buf; i++)
			fits = writer.append(buf_list[i].addr, buf_list[i].length);
		if (!fits) {
			session_.error = EINVAL;
			return;
		}
		write_shape(session_.slot, session_.opcode, session_.flags | BELLHOP_SQE_INLINE, 0,
			    writer.length());
	}

	// Ends a session: 0 with all of its entries posted, or EINVAL or ENOMEM with none.
	template <bool Locked>
	int complete() noexcept
	{
		int error = session_.error;
		bool published = !error && publish(session_.next);

		unlock<Locked>();
		if (published)
			kick_if_needed();
		return error;
	}

	// Ends a session and posts nothing: nobody saw its entries.
	template <bool Locked>
	void abort() noexcept
	{
		unlock<Locked>();
	}

private:
	struct Session {
		std::uint32_t next = 0; // number of the next entry
		int error = 0; // the first
		void *slot = nullptr; // the entry that is being built
		std::uint8_t opcode = 0;
		std::uint8_t flags = 0;
	};

	template <bool Locked>
	void unlock() noexcept
	{
		if constexpr (Locked)
			lock_.unlock();
	}

	int admit(std::uint32_t index) noexcept
	{
		if (!is_open_) [[unlikely]]
			return EINVAL;
		return shadow_.is_full(index) ? ENOMEM : 0;
	}

	int append(std::uint32_t index, const ibv_send_wr &wr) noexcept
	{
		int error = admit(index);

		if (!error)
			error = encode_send(ring_.slot(index), wr, limits_);
		if (!error)
			shadow_.remember(index, wr.wr_id);
		return error;
	}

	bool has_entry() noexcept
	{
		if (!session_.slot && !session_.error)
			session_.error = EINVAL;
		return !session_.error;
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

	void kick_if_needed() noexcept
	{
		fence_before_kick();
		if (kick_->is_needed())
			kick_->run(qpn_);
	}

	SpinLock lock_;
	bool is_open_ = false;
	std::uint32_t producer_ = 0;
	WorkRing ring_;
	WqeLimits limits_{};
	const Kick *kick_ = nullptr;
	std::uint32_t qpn_ = 0;
	Session session_;
	Shadow shadow_;
};

} // namespace bellhop
