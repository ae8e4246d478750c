// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// raw.hpp: queues whose rings are mapped once more beside the library, and used without it: by many
// threads at once, and after the library believes that they are gone.
#ifndef BELLHOP_VM_RAW_HPP
#define BELLHOP_VM_RAW_HPP

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <rdma/bellhop-abi.h>
#include "qp.hpp"
#include "mappings.hpp"

namespace vm
{

/** A second mapping of a ring; it stays when the first goes. */
class Ring
{
public:
	Ring(int file, off_t offset, size_t length)
	    : length_(length),
	      start_(static_cast<uint8_t *>(
		      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset)))
	{
		require_errno(start_ != MAP_FAILED, "mmap of a ring");
	}

	~Ring()
	{
		munmap(start_, length_);
	}

	Ring(const Ring &) = delete;
	Ring &operator=(const Ring &) = delete;

	uint8_t *slot(size_t index, size_t stride) const
	{
		return start_ + BELLHOP_RING_SLOTS + index * stride;
	}

	/** The index that is the library's to write. */
	std::atomic_ref<uint32_t> index() const
	{
		return std::atomic_ref(*reinterpret_cast<uint32_t *>(start_));
	}

private:
	size_t length_;
	uint8_t *start_;
};

/** A CQ that is drained by hand. */
class RawCq
{
public:
	static constexpr uint32_t slots = 4096;

	/** Takes completions from a ring. One thread. */
	class View
	{
	public:
		View(const Ring &ring, uint32_t consumer, uint32_t slots = RawCq::slots)
		    : ring_(ring), consumer_(consumer), slots_(slots)
		{
		}

		/** Takes what is there and calls @take for each. */
		void drain(const std::function<void(const bellhop_cqe &)> &take)
		{
			for (;; consumer_++) {
				auto *cqe = reinterpret_cast<bellhop_cqe *>(
					ring_.slot(consumer_ % slots_, sizeof(bellhop_cqe)));

				if (std::atomic_ref(cqe->phase).load(std::memory_order_acquire) !=
				    !(consumer_ & slots_))
					break;
				take(*cqe);
			}
			ring_.index().store(consumer_, std::memory_order_release);
		}

	private:
		const Ring &ring_;
		uint32_t consumer_;
		uint32_t slots_;
	};

	explicit RawCq(const Device &device)
	{
		std::vector<Mapping> maps =
			new_mappings([&] { cq = std::make_unique<Cq>(device, slots); });

		require(maps.size() == 1, "a CQ has one ring");
		map_ = maps[0];
		ring_ = std::make_unique<Ring>(device.get()->cmd_fd, map_.offset, map_.length);
		view_ = std::make_unique<View>(*ring_, 0);
	}

	void drain(const std::function<void(const bellhop_cqe &)> &take)
	{
		const std::lock_guard guard(mutex_);

		view_->drain(take);
		for (Next &next : next_) {
			view_ = std::make_unique<View>(*next.ring, 0, next.slots);
			ring_ = std::move(next.ring);
			view_->drain(take);
		}
		next_.clear();
	}

	/** Beside who drains. Returns 0 or an errno. */
	int resize(int entries)
	{
		const std::lock_guard guard(mutex_);
		int error = 0;
		std::vector<Mapping> maps =
			new_mappings([&] { error = ibv_resize_cq(cq->get(), entries); });

		if (error)
			return error;
		require(maps.size() == 1, "a CQ that is resized has another ring");
		next_.push_back({ std::make_unique<Ring>(cq->get()->context->cmd_fd, maps[0].offset,
							 maps[0].length),
				  static_cast<uint32_t>(cq->get()->cqe) });
		return 0;
	}

	/** The library's mapping. */
	const Mapping &map() const
	{
		return map_;
	}

	std::unique_ptr<Cq> cq;

private:
	struct Next {
		std::unique_ptr<Ring> ring;
		uint32_t slots;
	};

	Mapping map_;
	std::mutex mutex_; /* what follows */
	std::unique_ptr<Ring> ring_;
	std::unique_ptr<View> view_;
	std::vector<Next> next_;
};

/**
 * A QP whose rings hold sound requests in all of their slots: one that is connected to itself, or a
 * UD QP that sends to itself until it is told otherwise.
 */
class RawQp
{
public:
	static constexpr uint32_t send_slots = 256, recv_slots = 64;
	static constexpr uint32_t qkey = 0x22222222;

	/** A send entry of a UD QP. */
	struct Datagram {
		bellhop_sqe head;
		bellhop_av av;
		bellhop_sge sge;
	};

	RawQp(const Device &device, const Pd &pd, const RawCq &cq, ibv_qp_type type = IBV_QPT_RC)
	    : sends_datagrams(type == IBV_QPT_UD), reads_(type == IBV_QPT_RC),
	      file_(device.get()->cmd_fd)
	{
		const ibv_qp_cap cap = { send_slots, recv_slots, 1, 1, 0 };
		std::vector<Mapping> maps = new_mappings([&] {
			qp = std::make_unique<Qp>(device, pd.get(), *cq.cq, *cq.cq,
						  QpShape{ .cap = cap, .type = type });
		});

		require(maps.size() == 2, "a QP has two rings");
		own_ = { maps[0], maps[1] };
		send = std::make_unique<Ring>(file_, maps[0].offset, maps[0].length);
		recv = std::make_unique<Ring>(file_, maps[1].offset, maps[1].length);
		qpn = qp->get()->qp_num;
	}

	/** Requests between the two halves of a region, of all kinds; every eighth completes
	 * visibly. */
	void fill(const Region &region, std::mt19937 &random)
	{
		const uint32_t half = region.memory.size() / 2;

		for (uint32_t i = 0; i < send_slots; i++) {
			if (sends_datagrams)
				fill_datagram(i, region, random);
			else
				fill_request(i, region, random);
		}
		for (uint32_t i = 0; i < recv_slots; i++) {
			struct {
				bellhop_rqe head;
				bellhop_sge sge;
			} entry = {};

			entry.head.num_sge = 1;
			entry.sge = { region.address(half), half, region.mr.lkey() };
			std::memcpy(recv->slot(i, recv_stride), &entry, sizeof(entry));
		}
	}

	Datagram &datagram(uint32_t slot) const
	{
		return *reinterpret_cast<Datagram *>(
			send->slot(slot % send_slots, datagram_stride));
	}

	/** Another QP number for a datagram that may be executed at this moment. */
	void aim(uint32_t slot, uint32_t number) const
	{
		std::atomic_ref(datagram(slot).av.qpn).store(number, std::memory_order_relaxed);
	}

	/** The same with another address, which may be read while it is half of this. */
	void aim(uint32_t slot, uint32_t number, const ibv_gid &gid) const
	{
		std::memcpy(datagram(slot).av.dgid, gid.raw, sizeof(gid.raw));
		aim(slot, number);
	}

	/** Begins again at the first slot, as the library does when the QP is reset. */
	void rewind() const
	{
		send->index().store(0);
		recv->index().store(0);
	}

	/** The library's mappings. */
	const Mapping &send_map() const
	{
		return own_[0];
	}

	const Mapping &recv_map() const
	{
		return own_[1];
	}

	/** The library's own mappings of the rings become inaccessible memory. */
	void unmap_library() const
	{
		for (const Mapping &mapping : own_)
			require_errno(mmap(mapping.start, mapping.length, PROT_NONE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
					   0) == mapping.start,
				      "mmap over a ring");
	}

	/** RESET to RTS. Returns 0 or an errno. */
	int cycle(const Path &path) const
	{
		int error = qp->modify(to_state(IBV_QPS_RESET));

		rewind();
		if (!error && sends_datagrams)
			return qp->open(qkey);
		if (!error)
			error = qp->modify(to_init(path));
		if (!error)
			error = qp->modify(to_rtr(qp->address(), path));
		return error ? error : qp->modify(to_rts(path));
	}

	std::unique_ptr<Qp> qp;
	std::unique_ptr<Ring> send, recv;
	uint32_t qpn;
	const bool sends_datagrams;
	std::atomic<bool> open = false; /* a hint: requests are executed */

private:
	static constexpr size_t send_stride = 64, datagram_stride = 128, recv_stride = 32;

	void fill_request(uint32_t slot, const Region &region, std::mt19937 &random) const
	{
		struct {
			bellhop_sqe head;
			bellhop_sge sge;
		} entry = {};
		const uint32_t half = region.memory.size() / 2;
		const uint32_t length = random() % 8 ? random() % 2048 : random() % half;

		/* A send needs a receive, and waits for it on a reliable connection. */
		entry.head.opcode = random() % 16 == 0	     ? BELLHOP_WR_SEND
				    : reads_ && random() % 2 ? BELLHOP_WR_RDMA_READ
							     : BELLHOP_WR_RDMA_WRITE;
		entry.head.flags = slot % 8 ? 0 : BELLHOP_SQE_SIGNALED;
		entry.head.num_sge = 1;
		if (entry.head.opcode != BELLHOP_WR_SEND) {
			entry.head.rkey = region.mr.rkey();
			entry.head.remote_addr = region.address(half);
		}
		entry.sge = { region.address(), length, region.mr.lkey() };
		std::memcpy(send->slot(slot, send_stride), &entry, sizeof(entry));
	}

	void fill_datagram(uint32_t slot, const Region &region, std::mt19937 &random) const
	{
		Datagram &entry = datagram(slot);

		entry.head.opcode = random() % 2 ? BELLHOP_WR_SEND : BELLHOP_WR_SEND_WITH_IMM;
		entry.head.flags = slot % 8 ? 0 : BELLHOP_SQE_SIGNALED;
		entry.head.num_sge = 1;
		std::memcpy(entry.av.dgid, qp->address().gid.raw, sizeof(entry.av.dgid));
		entry.av.qpn = qpn;
		entry.av.qkey = qkey;
		entry.av.sgid_index = Device::gid_index();
		entry.sge = { region.address(), static_cast<uint32_t>(random() % 2048),
			      region.mr.lkey() };
	}

	bool reads_;
	int file_;
	std::array<Mapping, 2> own_ = {};
};

} // namespace vm

#endif
