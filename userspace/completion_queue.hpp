// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// completion_queue.hpp: completion queues.
//
// A completion is read once and its entry's slot is freed then. Completions of QPs that are
// gone are passed over; those of an SRQ with a number need no QP, which may be another process's.
// The kernel gets the slots back once per poll, or per session of the ibv_cq_ex calls.
//
// When the queue is resized, later completions go to another ring. The one before is read to its
// end first, however often that happens meanwhile.
#pragma once

#include <cerrno>
#include <cstdint>
#include "heap.hpp"
#include "mapping.hpp"
#include "pd.hpp"
#include "qp_table.hpp"
#include "queue_pair.hpp"
#include "ring.hpp"
#include "spin_lock.hpp"
#include "verbs_abi.hpp"

namespace bellhop
{

// A ring to be read when the one before is empty.
struct NextRing {
	Mapping mapping;
	CompletionRing ring;
	Owned<NextRing> next;
};

class CompletionQueue : public verbs_cq
{
public:
	// is_locked: more than one thread may poll; qps: the context's, outlives the queue; domain:
	// where it is made, null for nowhere.
	CompletionQueue(bool is_locked, const QpTable &qps, ibv_pd *domain = nullptr) noexcept
	    : verbs_cq{}, domain_(domain), is_locked_(is_locked), qps_(qps)
	{
	}

	static CompletionQueue *of(ibv_cq *cq) noexcept
	{
		return static_cast<CompletionQueue *>(reinterpret_cast<verbs_cq *>(cq));
	}
	static CompletionQueue *of(ibv_cq_ex *cq) noexcept
	{
		return of(ibv_cq_ex_to_cq(cq));
	}

	bool is_locked() const noexcept
	{
		return is_locked_;
	}

	// Maps the ring from the uverbs file. Returns 0 or an errno.
	int attach(int fd, const bellhop_ring_map &map) noexcept
	{
		int error = mapping_.map(fd, map.offset, map.length, PROT_READ | PROT_WRITE);

		if (!error)
			attach(mapping_.memory(), map);
		return error;
	}

	// The same with memory that is there already.
	void attach(void *memory, const bellhop_ring_map &map) noexcept
	{
		ring_.attach(memory, map);
	}

	// As ibv_poll_cq(). Returns how many completions were written to wc.
	template <bool Locked>
	int poll(int num_entries, ibv_wc *wc) noexcept
	{
		Guard<Locked> guard(lock_);
		int polled = take(num_entries, wc);

		return polled == num_entries || !next_ ? polled : follow(polled, num_entries, wc);
	}

	// As ibv_start_poll(): 0, with the queue locked until end(); or ENOENT or EINVAL, with
	// the queue not locked.
	template <bool Locked>
	int start(const ibv_poll_cq_attr &attr) noexcept
	{
		if (attr.comp_mask)
			return EINVAL;
		if constexpr (Locked)
			lock_.lock();
		int error = next();

		if (error)
			end<Locked>();
		return error;
	}

	// As ibv_next_poll(): 0 or ENOENT. Either way end() is still to come.
	int next() noexcept
	{
		do {
			while (const bellhop_cqe *cqe = ring_.front()) {
				QueuePair *qp = qps_.find(cqe->qpn);

				current_ = *cqe;
				ring_.pop();
				if (!qp && !is_shared(current_))
					continue;
				cq_ex.status = static_cast<ibv_wc_status>(current_.status);
				cq_ex.wr_id = qp ? retire(current_, *qp) : current_.wr_id;
				current_.qpn &= BELLHOP_QPN_MAX;
				return 0;
			}
		} while (next_ && advance());
		return ENOENT;
	}

	template <bool Locked>
	void end() noexcept
	{
		ring_.publish();
		if constexpr (Locked)
			lock_.unlock();
	}

	// The completion that start() or next() has found.
	const bellhop_cqe &current() const noexcept
	{
		return current_;
	}

	template <bool Locked>
	void arm(bool solicited_only) noexcept
	{
		Guard<Locked> guard(lock_);

		newest().arm(solicited_only);
	}

	// Takes out the completions of a QP that gets no more of them.
	void remove(std::uint32_t qpn) noexcept
	{
		is_locked_ ? remove<true>(qpn) : remove<false>(qpn);
	}

	// The same of an SRQ with a number.
	void remove_shared(std::uint32_t srqn) noexcept
	{
		is_locked_ ? remove_shared<true>(srqn) : remove_shared<false>(srqn);
	}

	// As ibv_resize_cq(). Returns 0 or an errno, and then all is as before.
	template <bool Locked>
	int resize(int cqe) noexcept
	{
		Guard<Locked> guard(lock_);

		return resize(cqe);
	}

	// The ring that the kernel fills from now on; it is attached.
	void append(Owned<NextRing> next) noexcept
	{
		next->ring.follow(newest());
		Owned<NextRing> *last = &next_;
		while (*last)
			last = &(*last)->next;
		*last = std::move(next);
	}

private:
	template <bool Locked>
	void remove(std::uint32_t qpn) noexcept
	{
		Guard<Locked> guard(lock_);

		ring_.remove(qpn);
		for (NextRing *after = next_.get(); after; after = after->next.get())
			after->ring.remove(qpn);
	}

	template <bool Locked>
	void remove_shared(std::uint32_t srqn) noexcept
	{
		Guard<Locked> guard(lock_);

		ring_.remove_shared(srqn);
		for (NextRing *after = next_.get(); after; after = after->next.get())
			after->ring.remove_shared(srqn);
	}

	int resize(int cqe) noexcept;

	// The ring that the kernel fills.
	CompletionRing &newest() noexcept
	{
		CompletionRing *ring = &ring_;

		for (NextRing *after = next_.get(); after; after = after->next.get())
			ring = &after->ring;
		return *ring;
	}

	// Takes completions out of the ring, as far as it has them. Returns how many.
	[[gnu::always_inline]] int take(int num_entries, ibv_wc *wc) noexcept
	{
		int polled = 0;

		while (polled < num_entries) {
			const bellhop_cqe *cqe = ring_.front();

			if (!cqe)
				break;
			if (QueuePair *qp = qps_.find(cqe->qpn)) [[likely]]
				fill(wc[polled++], *cqe, retire(*cqe, *qp));
			else if (is_shared(*cqe))
				fill_shared(wc[polled++], *cqe);
			ring_.pop();
		}
		ring_.publish();
		return polled;
	}

	// Goes on where take() has ended with an empty ring. Returns how many there are then.
	[[gnu::cold]] int follow(int polled, int num_entries, ibv_wc *wc) noexcept;

	// The ring is empty, and will stay so: the one behind it takes its place. False if there is
	// none.
	bool advance() noexcept;

	static std::uint64_t retire(const bellhop_cqe &cqe, QueuePair &qp) noexcept
	{
		if (!(cqe.opcode & BELLHOP_WC_RECV))
			return qp.send.retire(cqe.wqe_index);
		return qp.qp.srq ? cqe.wr_id : qp.recv.retire(cqe.wqe_index);
	}

	// Of an SRQ with a number.
	static bool is_shared(const bellhop_cqe &cqe) noexcept
	{
		return cqe.qpn & BELLHOP_CQE_SRQ;
	}

	[[gnu::cold]] static void fill_shared(ibv_wc &wc, const bellhop_cqe &cqe) noexcept
	{
		fill(wc, cqe, cqe.wr_id);
		wc.qp_num &= BELLHOP_QPN_MAX;
	}

	static void fill(ibv_wc &wc, const bellhop_cqe &cqe, std::uint64_t wr_id) noexcept
	{
		wc.wr_id = wr_id;
		wc.status = static_cast<ibv_wc_status>(cqe.status);
		wc.opcode = static_cast<ibv_wc_opcode>(cqe.opcode);
		wc.vendor_err = cqe.vendor_err;
		wc.byte_len = cqe.byte_len;
		wc.imm_data = cqe.ex;
		wc.qp_num = cqe.qpn;
		wc.src_qp = cqe.src_qp;
		wc.wc_flags = cqe.wc_flags;
		wc.pkey_index = 0;
		wc.slid = 0;
		wc.sl = cqe.sl;
		wc.dlid_path_bits = 0;
	}

	DomainUse domain_;
	SpinLock lock_;
	bool is_locked_;
	const QpTable &qps_;
	CompletionRing ring_;
	Owned<NextRing> next_;
	bellhop_cqe current_{};
	Mapping mapping_;
};

// Operations of libibverbs. Those that create return null and set errno; poll_cq returns a
// count; the others return 0 or an errno.
ibv_cq *create_cq(ibv_context *context, int cqe, ibv_comp_channel *channel,
		  int comp_vector) noexcept;
ibv_cq_ex *create_cq_ex(ibv_context *context, ibv_cq_init_attr_ex *attr) noexcept;
int destroy_cq(ibv_cq *cq) noexcept;
int modify_cq(ibv_cq *cq, ibv_modify_cq_attr *attr) noexcept;
int poll_cq(ibv_cq *cq, int num_entries, ibv_wc *wc) noexcept;
int req_notify_cq(ibv_cq *cq, int solicited_only) noexcept;
int resize_cq(ibv_cq *cq, int cqe) noexcept;

} // namespace bellhop
