// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// send_queue.hpp: the send side of a QP: a list of requests, or a session of ibv_wr_* calls.
//
// Open from RTS on. A QP that fails by itself stays open: the kernel flushes what is posted.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <infiniband/verbs.h>
#include "work_queue.hpp"

namespace bellhop
{

class SendQueue : public WorkQueue
{
public:
	// As ibv_post_send(): 0, EINVAL or ENOMEM. What stands before *bad_wr is posted.
	template <bool Locked>
	int post(const ibv_send_wr *wr, ibv_send_wr **bad_wr) noexcept
	{
		bool published;
		int error = append<Locked, encode_send>(wr, bad_wr, published);

		if (published)
			kick_if_needed();
		return error;
	}

	// Binds a window of type 1: 0, EINVAL or ENOMEM.
	template <bool Locked>
	int bind(const BindRequest &request) noexcept
	{
		BindRequest *bad;
		bool published;
		int error = append<Locked, encode_bind>(&request, &bad, published);

		if (published)
			kick_if_needed();
		return error;
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

		check_address();
		session_.slot = nullptr;
		if (session_.error)
			return;
		if (int error = admit(session_.next)) {
			session_.error = error;
		} else if ((flags & ~OPCODE_ROWS[opcode].flags) ||
			   !(OPCODE_ROWS[opcode].services & limits_.service)) {
			session_.error = EINVAL;
		} else {
			session_.slot = ring_.slot(session_.next);
			session_.opcode = static_cast<std::uint8_t>(opcode);
			session_.flags = static_cast<std::uint8_t>(flags);
			write_shape(session_.slot, session_.opcode, session_.flags, 0, 0);
			write_target(session_.slot, ex, rkey, remote_addr);
			session_.has_address =
				!limits_.is_addressed() || is_local(OPCODE_ROWS[opcode]);
			shadow_.remember(session_.next, qp.wr_id);
			session_.next++;
		}
	}

	// Gives an atomic what it works with.
	void set_operands(std::uint64_t compare_add, std::uint64_t swap) noexcept
	{
		if (has_entry())
			write_operands(session_.slot, compare_add, swap);
	}

	// Says what a window is bound to.
	void set_bind(const ibv_mw *mw, std::uint32_t rkey, const ibv_mw_bind_info &info) noexcept
	{
		if (has_entry() && !(may_bind(mw, rkey) && write_bind(session_.slot, info)))
			session_.error = EINVAL;
	}

	// Gives a datagram its address.
	void set_address(ibv_ah *ah, std::uint32_t qpn, std::uint32_t qkey) noexcept
	{
		if (!has_entry())
			return;
		if (limits_.is_datagram() && write_address(session_.slot, ah, qpn, qkey))
			session_.has_address = true;
		else
			session_.error = EINVAL;
	}

	// Says which SRQ an entry of XRC is for.
	void set_srqn(std::uint32_t srqn) noexcept
	{
		if (!has_entry())
			return;
		if (limits_.srqn_bits() && srqn <= BELLHOP_SRQN_MAX) {
			static_cast<bellhop_sqe *>(session_.slot)->srqn = srqn;
			session_.has_address = true;
		} else {
			session_.error = EINVAL;
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
		write_elements(sqe_payload(session_.slot, limits_), sg_list,
			       static_cast<std::uint32_t>(num_sge));
		write_shape(session_.slot, session_.opcode, session_.flags,
			    static_cast<std::uint32_t>(num_sge), 0);
	}

	// The same, with bytes that are taken now.
	void set_inline(const ibv_data_buf *buf_list, std::size_t num_buf) noexcept
	{
		if (!has_entry())
			return;
		InlineWriter writer(session_.slot, limits_);
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
		check_address();
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
		bool has_address = true;
	};

	// An entry ends: its slot must not have the address of the one that was there before.
	void check_address() noexcept
	{
		if (!session_.has_address && !session_.error)
			session_.error = EINVAL;
	}

	template <bool Locked>
	void unlock() noexcept
	{
		if constexpr (Locked)
			lock_.unlock();
	}

	bool has_entry() noexcept
	{
		if (!session_.slot && !session_.error)
			session_.error = EINVAL;
		return !session_.error;
	}

	void kick_if_needed() noexcept
	{
		fence_before_kick();
		if (kick_->is_needed())
			kick_->run(qpn_);
	}

	Session session_;
};

} // namespace bellhop
