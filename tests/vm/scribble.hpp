// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// scribble.hpp: fills a process's own rings with what no library would write.
#ifndef BELLHOP_VM_SCRIBBLE_HPP
#define BELLHOP_VM_SCRIBBLE_HPP

#include <atomic>
#include <cstddef>
#include "mappings.hpp"
#include "memory.hpp"
#include <rdma/bellhop-abi.h>

namespace vm
{

/** A ring, and what a library would write into it. */
struct ScribbledRing {
	enum Entries {
		requests,
		datagrams,
		receives,
		completions
	};

	Mapping mapping;
	Entries entries;
	size_t stride;
};

/** What a request could use with success. */
struct Sense {
	ibv_sge sge;
	uint32_t rkey;
	ibv_sge receive; /* where messages may arrive */
	ibv_gid gid;
	std::vector<uint32_t> qpns; /* datagrams to these may arrive */
	std::vector<uint32_t> qkeys; /* with these */
	std::vector<uint32_t> windows = {}; /* rkeys of what may be bound to the memory of @sge */
	std::vector<uint32_t> srqns = {}; /* of XRC: messages to these may arrive */
};

/** Writes nonsense, and now and then half sense, into one ring after another. Not thread safe. */
class Scribbler
{
public:
	Scribbler(std::vector<ScribbledRing> rings, Sense sense, uint32_t seed)
	    : rings_(std::move(rings)), sense_(std::move(sense)), random_(seed)
	{
	}

	/** Stroke after stroke. */
	void scribble_until(const Deadline &end)
	{
		while (!end.passed())
			for (int i = 0; i < 50; i++)
				scribble();
	}

private:
	/* One stroke. */
	void scribble()
	{
		const ScribbledRing &ring = rings_[random_() % rings_.size()];
		const Mapping &mapping = ring.mapping;

		/* Noise in an index ends a QP at once: what lies behind it is to be met more often.
		 */
		const unsigned kind = random_() % 256;

		if (kind < 2)
			noise(mapping, 0, BELLHOP_RING_SLOTS);
		else if (kind < 4)
			store(mapping, (random_() % mapping.length) & ~3u, word());
		else if (kind < 8)
			noise(mapping, entry(ring), 512);
		else if (kind < 128)
			write_index(mapping);
		else
			write_entry(ring);
	}

	bool usually()
	{
		return random_() % 32;
	}

	uint32_t word()
	{
		static constexpr uint32_t edges[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff };

		return random_() % 3 ? random_() : edges[random_() % std::size(edges)];
	}

	static void store(const Mapping &ring, size_t at, uint32_t value)
	{
		std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t *>(ring.start + at))
			.store(value, std::memory_order_relaxed);
	}

	/* Where an entry begins, or could. */
	size_t entry(const ScribbledRing &ring)
	{
		const size_t stride = usually() ? ring.stride : 32;
		const size_t count = (ring.mapping.length - BELLHOP_RING_SLOTS) / stride;

		return BELLHOP_RING_SLOTS + random_() % count * stride;
	}

	/*
	 * Something possible in the words that the kernel reads: producer or consumer, and arm. A
	 * producer that went back would be the QP's end.
	 */
	void write_index(const Mapping &ring)
	{
		const unsigned kind = random_() % 16;

		if (kind < 13)
			std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t *>(ring.start))
				.fetch_add(random_() % 3, std::memory_order_release);
		else if (kind < 14)
			store(ring, 0, random_() % 64);
		else
			store(ring, offsetof(bellhop_cq_hdr, arm), random_());
	}

	void noise(const Mapping &ring, size_t at, size_t bytes)
	{
		for (size_t end = std::min(at + bytes, ring.length); at < end; at += 4)
			store(ring, at, word());
	}

	/* Now and then one that does not belong there. */
	void write_entry(const ScribbledRing &ring)
	{
		switch (usually() ? unsigned(ring.entries)
				  : random_() % ScribbledRing::completions) {
		case ScribbledRing::datagrams:
			write_datagram(ring);
			break;
		case ScribbledRing::receives:
			write_receive(ring);
			break;
		default:
			write_request(ring);
		}
	}

	/* Each field of an entry is wrong now and then; most entries are right in all of them. */
	bellhop_sqe head(unsigned opcode, unsigned num_sge)
	{
		bellhop_sqe head = {};

		head.opcode = usually() ? opcode : random_();
		head.flags = usually() ? random_() % 2 * BELLHOP_SQE_SIGNALED : random_();
		head.num_sge = usually() ? num_sge : random_();
		head.inline_length = usually() ? 0 : random_() % 600;
		head.srqn = !sense_.srqns.empty() ? some(sense_.srqns) : usually() ? 0 : random_();
		head.reserved = usually() ? 0 : random_();
		return head;
	}

	/* Usually of less than @length bytes. */
	bellhop_sge element(const ibv_sge &sge, uint32_t length)
	{
		bellhop_sge element = {};

		element.addr = sge.addr + (usually() ? 0 : random_());
		element.length = usually() ? random_() % length : random_();
		element.lkey = usually() ? sge.lkey : random_();
		return element;
	}

	void write_request(const ScribbledRing &ring)
	{
		struct {
			bellhop_sqe head;
			bellhop_sge list[4];
		} entry = { head(random_() % 10, random_() % 2), {} };

		if (entry.head.opcode >= BELLHOP_WR_LOCAL_INV &&
		    entry.head.opcode <= BELLHOP_WR_SEND_WITH_INV && usually()) {
			write_window_request(ring, entry.head);
			return;
		}
		/* Of a window's bytes, or by the key that it had. */
		entry.head.rkey = random_() % 4 ? sense_.rkey : window();
		entry.head.remote_addr =
			sense_.sge.addr + (usually() ? random_() % sense_.sge.length : random_());
		for (bellhop_sge &place : entry.list)
			place = element(sense_.sge, sense_.sge.length);
		if (entry.head.opcode >= BELLHOP_WR_ATOMIC_CMP_AND_SWP &&
		    entry.head.opcode <= BELLHOP_WR_ATOMIC_FETCH_AND_ADD && usually()) {
			entry.head.num_sge = 1;
			entry.head.remote_addr &= ~uint64_t(7);
			entry.list[0].length = BELLHOP_ATOMIC_BYTES;
			/* It swaps for, or adds, what stands where another's second element does.
			 */
			if (entry.head.opcode == BELLHOP_WR_ATOMIC_FETCH_AND_ADD)
				entry.list[1].length = entry.list[1].lkey = 0;
		}
		copy(ring, entry);
	}

	/* Some window's key: few variants, so that it is met again. */
	uint32_t window()
	{
		if (sense_.windows.empty() || !usually())
			return usually() ? sense_.rkey : random_();
		return (some(sense_.windows) & ~3u) | random_() % 4;
	}

	/* Binds and invalidates; what is bound is a part of what it may be, or a little more. */
	void write_window_request(const ScribbledRing &ring, bellhop_sqe head)
	{
		struct {
			bellhop_sqe head;
			union {
				bellhop_bind bind;
				bellhop_sge list[2];
			};
		} entry = {};

		entry.head = head;
		entry.head.ex = window();
		if (head.opcode == BELLHOP_WR_SEND_WITH_INV) {
			for (bellhop_sge &place : entry.list)
				place = element(sense_.sge, sense_.sge.length);
		} else {
			if (usually())
				entry.head.num_sge = 0;
			entry.bind.addr =
				sense_.sge.addr + (usually() ? random_() % 64 : random_());
			entry.bind.length = usually() ? random_() % sense_.sge.length : random_();
			entry.bind.lkey = usually() ? sense_.sge.lkey : random_();
			entry.bind.access = usually() ? random_() % 256 & 0x2e : random_();
		}
		copy(ring, entry);
	}

	uint32_t some(const std::vector<uint32_t> &numbers)
	{
		return usually() ? numbers[random_() % numbers.size()] : random_();
	}

	/* To anybody, also inline, and longer than a packet, with any key. */
	void write_datagram(const ScribbledRing &ring)
	{
		const bool is_inline = random_() % 4 == 0;
		struct {
			bellhop_sqe head;
			bellhop_av av;
			bellhop_sge list[4];
		} entry = { head(BELLHOP_WR_SEND, is_inline ? 0 : random_() % 3), {}, {} };

		if (is_inline) {
			entry.head.flags |= BELLHOP_SQE_INLINE;
			entry.head.inline_length = random_() % 66; /* 64 are allowed */
		}
		if (random_() % 4 == 0) {
			entry.head.opcode = BELLHOP_WR_SEND_WITH_IMM;
			entry.head.ex = random_();
		}
		std::memcpy(entry.av.dgid, sense_.gid.raw, sizeof(entry.av.dgid));
		if (!usually())
			entry.av.dgid[random_() % sizeof(entry.av.dgid)] ^= random_();
		entry.av.qpn = some(sense_.qpns);
		entry.av.qkey = some(sense_.qkeys);
		entry.av.flow_label = random_();
		entry.av.sgid_index = usually() ? Device::gid_index() : random_();
		entry.av.hop_limit = random_();
		entry.av.traffic_class = random_();
		entry.av.reserved = usually() ? 0 : random_();
		for (bellhop_sge &place : entry.list)
			place = element(sense_.sge, random_() % 8 ? 1024 : sense_.sge.length);
		copy(ring, entry);
	}

	/* Also too short for a datagram's header, or in pieces of any alignment. */
	void write_receive(const ScribbledRing &ring)
	{
		struct {
			bellhop_rqe head;
			bellhop_sge list[4];
		} entry = {};

		entry.head.num_sge = usually() ? 1 + random_() % 2 : random_();
		entry.head.reserved = usually() ? 0 : random_();
		entry.head.wr_id = usually() ? 0 : random_();
		for (bellhop_sge &place : entry.list) {
			place = element(sense_.receive, 2 * BELLHOP_GRH_BYTES);
			place.addr += random_() % 64;
			if (random_() % 8)
				place.length += 2048;
		}
		copy(ring, entry);
	}

	template <typename Entry>
	void copy(const ScribbledRing &ring, const Entry &from)
	{
		const size_t at = entry(ring);

		if (at + sizeof(from) > ring.mapping.length)
			return;
		for (size_t i = 0; i < sizeof(from); i += 4) {
			uint32_t value;

			std::memcpy(&value, reinterpret_cast<const uint8_t *>(&from) + i, 4);
			store(ring.mapping, at + i, value);
		}
	}

	std::vector<ScribbledRing> rings_;
	Sense sense_;
	std::mt19937 random_;
};

} // namespace vm

#endif
