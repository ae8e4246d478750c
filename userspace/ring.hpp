// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ring.hpp: the library's ends of the rings that it shares with the kernel.
//
// The drawing of who stores and loads what in which order stands in the kernel's ring.h. The
// letters of the barriers are the same on both sides, and each names its partner:
//
//	(A) release the producer of an SQ or RQ		pairs with (B), the kernel's acquire
//	(D) acquire a completion's phase		pairs with (C), the kernel's release
//	(E) release the consumer of a CQ		pairs with (F), the kernel's acquire
//	(G) fence between producer and need_kick/wanted	pairs with (H), the kernel's fence
//	(L) acquire the entries of an SRQ that are taken	pairs with (K), the kernel's release
//	(I) fence between arm and the next poll		pairs with (J), the kernel's fence
//
// Indices run freely and wrap at 32 bits; only to find a slot they are masked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <rdma/bellhop-abi.h>

namespace bellhop
{

// The library's own words in shared memory have one writer, who holds the queue's lock.
inline std::uint32_t load_shared(const std::uint32_t &word, std::memory_order order) noexcept
{
	// The cast is for atomic_ref, which in C++20 has no form for what is only read.
	return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t &>(word)).load(order);
}

inline void store_shared(std::uint32_t &word, std::uint32_t value, std::memory_order order) noexcept
{
	std::atomic_ref<std::uint32_t>(word).store(value, order);
}

// After publishing work, before asking whether the kernel sleeps. (G), pairs with (H).
inline void fence_before_kick() noexcept
{
	std::atomic_thread_fence(std::memory_order_seq_cst);
}

// The producing end of an SQ, RQ or SRQ. Not thread safe: the queue's lock is the caller's.
class WorkRing
{
public:
	// memory: the mapping of map, or null for a queue without entries.
	void attach(void *memory, const bellhop_ring_map &map) noexcept
	{
		hdr_ = static_cast<bellhop_wq_hdr *>(memory);
		slots_ = memory ? map.slots : 0;
		stride_ = map.stride;
	}

	std::uint32_t slots() const noexcept
	{
		return slots_;
	}

	// Where entry number index goes. The ring must have slots.
	void *slot(std::uint32_t index) const noexcept
	{
		return reinterpret_cast<std::byte *>(hdr_) + BELLHOP_RING_SLOTS +
		       std::size_t{ index & (slots_ - 1) } * stride_;
	}

	// Shows the kernel all entries before producer.
	void publish(std::uint32_t producer) noexcept
	{
		store_shared(hdr_->producer, producer, std::memory_order_release); // (A)
	}

	// Whether the kernel waits for entries of this ring; call fence_before_kick() first.
	bool wanted() const noexcept
	{
		return load_shared(hdr_->wanted, std::memory_order_relaxed);
	}

	// How many entries of an SRQ were taken, whose slots are free.
	std::uint32_t taken() const noexcept
	{
		return load_shared(hdr_->taken, std::memory_order_acquire); // (L)
	}

private:
	bellhop_wq_hdr *hdr_ = nullptr;
	std::uint32_t slots_ = 0;
	std::uint32_t stride_ = 0;
};

// The consuming end of a CQ. Not thread safe: the queue's lock is the caller's.
class CompletionRing
{
public:
	// memory: the mapping of map.
	void attach(void *memory, const bellhop_ring_map &map) noexcept
	{
		hdr_ = static_cast<bellhop_cq_hdr *>(memory);
		entries_ = reinterpret_cast<bellhop_cqe *>(static_cast<std::byte *>(memory) +
							   BELLHOP_RING_SLOTS);
		slots_ = map.slots;
	}

	// Takes over the requests for events of a ring that completions went to before.
	void follow(const CompletionRing &before) noexcept
	{
		arm_ = before.arm_;
	}

	// Whether the kernel has left it for another one.
	bool is_left() const noexcept
	{
		return load_shared(hdr_->moved, std::memory_order_relaxed);
	}

	// The oldest completion that was not taken, or null. An empty ring costs one cache line.
	const bellhop_cqe *front() const noexcept
	{
		return filled(consumer_);
	}

	void pop() noexcept
	{
		consumer_++;
	}

	// Gives the kernel the slots of all that was popped.
	void publish() noexcept
	{
		if (published_ == consumer_)
			return;
		published_ = consumer_;
		store_shared(hdr_->consumer, consumer_, std::memory_order_release); // (E)
	}

	// Blanks the completions of a QP that gets no more of them: 0 is nobody's number.
	void remove(std::uint32_t qpn) noexcept
	{
		remove_if([qpn](const bellhop_cqe &cqe) { return cqe.qpn == qpn; });
	}

	// The same of an SRQ that gets no more of them.
	void remove_shared(std::uint32_t srqn) noexcept
	{
		remove_if([srqn](const bellhop_cqe &cqe) {
			return (cqe.qpn & BELLHOP_CQE_SRQ) && cqe.wqe_index == srqn;
		});
	}

	// Asks for an event with the next completion, or the next solicited one. A request for
	// any completion that is not answered yet covers both, and stays.
	void arm(bool solicited_only) noexcept
	{
		std::uint32_t fired = load_shared(hdr_->fired, std::memory_order_relaxed);

		if (arm_ == fired || (arm_ & BELLHOP_CQ_ARM_MASK) != BELLHOP_CQ_ARM_NEXT) {
			arm_ = (arm_ & ~std::uint32_t{ BELLHOP_CQ_ARM_MASK }) +
			       (BELLHOP_CQ_ARM_MASK + 1) +
			       (solicited_only ? BELLHOP_CQ_ARM_SOLICITED : BELLHOP_CQ_ARM_NEXT);
			store_shared(hdr_->arm, arm_, std::memory_order_relaxed);
		}
		std::atomic_thread_fence(std::memory_order_seq_cst); // (I)
	}

private:
	template <class Condition>
	void remove_if(Condition is_meant) noexcept
	{
		for (std::uint32_t i = 0; i < slots_; i++) {
			bellhop_cqe *cqe = filled(consumer_ + i);

			if (!cqe)
				return;
			if (is_meant(*cqe))
				cqe->qpn = 0;
		}
	}

	// Entry number index, if it was written on the pass that index belongs to.
	bellhop_cqe *filled(std::uint32_t index) const noexcept
	{
		bellhop_cqe *cqe = &entries_[index & (slots_ - 1)];
		std::uint32_t phase = !(index & slots_);

		return load_shared(cqe->phase, std::memory_order_acquire) == phase // (D)
			       ? cqe
			       : nullptr;
	}

	bellhop_cq_hdr *hdr_ = nullptr;
	bellhop_cqe *entries_ = nullptr;
	std::uint32_t slots_ = 0;
	std::uint32_t consumer_ = 0;
	std::uint32_t published_ = 0;
	std::uint32_t arm_ = 0;
};

} // namespace bellhop
