// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shared_queue.hpp: shared receive queues.
//
// The kernel copies an entry when a message takes it, and its slot is free from then on; what is
// to be remembered of it is in the entry, and comes back in the completion.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include "mapping.hpp"
#include "pd.hpp"
#include "ring.hpp"
#include "spin_lock.hpp"
#include "verbs_abi.hpp"
#include "wqe.hpp"

namespace bellhop
{

class SharedQueue : public verbs_srq
{
public:
	// is_locked: more than one thread may post; domain: where it is made, null for nowhere.
	explicit SharedQueue(bool is_locked, ibv_pd *domain = nullptr) noexcept
	    : verbs_srq{}, domain_(domain), is_locked_(is_locked)
	{
	}

	static SharedQueue *of(ibv_srq *srq) noexcept
	{
		return static_cast<SharedQueue *>(reinterpret_cast<verbs_srq *>(srq));
	}

	bool is_locked() const noexcept
	{
		return is_locked_;
	}

	// Maps the ring of an SRQ that the kernel has just made. Returns 0 or an errno.
	int map(const bellhop_ring_map &map, std::uint32_t max_sge) noexcept
	{
		int error = mapping_.map(srq.context->cmd_fd, map.offset, map.length,
					 PROT_READ | PROT_WRITE);

		if (!error)
			attach(mapping_.memory(), map, max_sge);
		return error;
	}

	// The same with memory that is there already.
	void attach(void *memory, const bellhop_ring_map &map, std::uint32_t max_sge) noexcept
	{
		ring_.attach(memory, map);
		limits_ = { .max_sge = max_sge, .max_inline = 0 };
	}

	// As ibv_modify_srq() with IBV_SRQ_MAX_WR. Returns 0 or an errno, and then all is as
	// before.
	template <bool Locked>
	int resize(const ibv_srq_attr &attr, int attr_mask) noexcept
	{
		Guard<Locked> guard(lock_);

		return resize(attr, attr_mask);
	}

	// Another ring, to which the kernel has moved what it had not taken.
	void move(void *memory, const bellhop_ring_map &map) noexcept
	{
		ring_.attach(memory, map);
	}

	// As ibv_post_srq_recv(): 0, EINVAL or ENOMEM. What stands before *bad_wr is posted.
	template <bool Locked>
	int post(const ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
	{
		Guard<Locked> guard(lock_);
		std::uint32_t next = producer_;
		int error = 0;

		for (; wr; wr = wr->next) {
			error = is_full(next) ? ENOMEM
					      : encode_recv(ring_.slot(next), *wr, limits_);
			if (error) [[unlikely]] {
				*bad_wr = const_cast<ibv_recv_wr *>(wr);
				break;
			}
			write_wr_id(ring_.slot(next), wr->wr_id);
			next++;
		}
		if (next != producer_) {
			producer_ = next;
			ring_.publish(next);
		}
		return error;
	}

	// What one more tagged buffer is called.
	std::uint32_t new_tag_handle() noexcept
	{
		return last_tag_handle_.fetch_add(1, std::memory_order_relaxed) + 1;
	}

private:
	int resize(const ibv_srq_attr &attr, int attr_mask) noexcept;

	// Whether entry number index must wait for a message to take one.
	bool is_full(std::uint32_t index) noexcept
	{
		if (index - taken_ < ring_.slots())
			return false;
		taken_ = ring_.taken();
		return index - taken_ >= ring_.slots();
	}

	SpinLock lock_;
	DomainUse domain_;
	bool is_locked_;
	std::uint32_t producer_ = 0;
	std::uint32_t taken_ = 0; // as last read
	std::atomic<std::uint32_t> last_tag_handle_ = 0;
	WorkRing ring_;
	WqeLimits limits_{};
	Mapping mapping_;
};

// Operations of libibverbs. Those that create return null and set errno; the others return 0
// or an errno.
ibv_srq *create_srq(ibv_pd *pd, ibv_srq_init_attr *attr) noexcept;
ibv_srq *create_srq_ex(ibv_context *context, ibv_srq_init_attr_ex *attr) noexcept;
int get_srq_num(ibv_srq *srq, std::uint32_t *srq_num) noexcept;
int modify_srq(ibv_srq *srq, ibv_srq_attr *attr, int attr_mask) noexcept;
int query_srq(ibv_srq *srq, ibv_srq_attr *attr) noexcept;
int destroy_srq(ibv_srq *srq) noexcept;
int post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept;

} // namespace bellhop
