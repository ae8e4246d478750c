// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// scribble.hpp: finds a process's own rings and kick files, and fills them with what no library
// would write.
#ifndef BELLHOP_VM_SCRIBBLE_HPP
#define BELLHOP_VM_SCRIBBLE_HPP

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include "memory.hpp"
#include <rdma/bellhop-abi.h>

namespace vm
{

/** A mapping of the device's file. */
struct Mapping {
	uint8_t *start;
	size_t length;
	off_t offset; /* in the file */
	bool writable;
};

/** All of them, from /proc/self/maps. */
inline std::vector<Mapping> find_mappings()
{
	std::ifstream maps("/proc/self/maps");
	std::vector<Mapping> found;
	std::string line;

	while (std::getline(maps, line)) {
		unsigned long start, end, offset;
		char rights[5];

		if (line.find("/dev/infiniband/uverbs") != std::string::npos &&
		    std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &start, &end, rights, &offset) ==
			    4)
			found.push_back({ reinterpret_cast<uint8_t *>(start), end - start,
					  static_cast<off_t>(offset), rights[1] == 'w' });
	}
	return found;
}

/** The kick files, from /proc/self/fd. */
inline std::vector<int> find_kicks()
{
	std::vector<int> found;

	for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
		std::error_code error;
		const std::string target = std::filesystem::read_symlink(entry, error).string();

		if (target.find("bellhop_kick") != std::string::npos)
			found.push_back(std::stoi(entry.path().filename()));
	}
	return found;
}

/** Writes nonsense, and now and then half sense, into one ring after another. Not thread safe. */
class Scribbler
{
public:
	/** @sge is one that a request could use. */
	Scribbler(std::vector<Mapping> rings, ibv_sge sge, uint32_t rkey, uint32_t seed)
	    : rings_(std::move(rings)), sge_(sge), rkey_(rkey), random_(seed)
	{
	}

	/** One stroke. */
	void scribble()
	{
		const Mapping &ring = rings_[random_() % rings_.size()];

		/* Noise in an index ends a QP at once: what lies behind it is to be met more often.
		 */
		const unsigned kind = random_() % 256;

		if (kind < 2)
			noise(ring, 0, BELLHOP_RING_SLOTS);
		else if (kind < 4)
			store(ring, (random_() % ring.length) & ~3u, word());
		else if (kind < 24)
			noise(ring, entry(ring), 512);
		else if (kind < 128)
			write_index(ring);
		else
			write_entry(ring);
	}

private:
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

	/* Where an entry may begin. The stride is not told; these are likely ones. */
	size_t entry(const Mapping &ring)
	{
		static constexpr size_t strides[] = { 32, 64, 96, 128 };
		const size_t stride = strides[random_() % std::size(strides)];
		const size_t count = (ring.length - BELLHOP_RING_SLOTS) / stride;

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

	/* A send or receive entry that is right but for some of its fields. */
	void write_entry(const Mapping &ring)
	{
		bellhop_sqe head = {};
		bellhop_sge list[4] = {};
		const size_t at = entry(ring);

		if (at + sizeof(head) + sizeof(list) > ring.length)
			return;
		/* Each field is wrong now and then; most entries are right in all of them. */
		head.opcode = usually() ? random_() % 5 : random_();
		head.flags = usually() ? random_() % 2 * BELLHOP_SQE_SIGNALED : random_();
		head.num_sge = usually() ? random_() % 2 : random_();
		head.inline_length = usually() ? 0 : random_() % 600;
		head.rkey = usually() ? rkey_ : random_();
		head.remote_addr = sge_.addr + (usually() ? random_() % sge_.length : random_());
		head.reserved = usually() ? 0 : random_();
		for (bellhop_sge &element : list) {
			element.addr = sge_.addr + (usually() ? 0 : random_());
			element.length = usually() ? random_() % sge_.length : random_();
			element.lkey = usually() ? sge_.lkey : random_();
		}
		copy(ring, at, &head, sizeof(head));
		copy(ring, at + sizeof(head), list, sizeof(list));
	}

	static void copy(const Mapping &ring, size_t at, const void *from, size_t bytes)
	{
		for (size_t i = 0; i < bytes; i += 4) {
			uint32_t value;

			std::memcpy(&value, static_cast<const uint8_t *>(from) + i, 4);
			store(ring, at + i, value);
		}
	}

	std::vector<Mapping> rings_;
	ibv_sge sge_;
	uint32_t rkey_;
	std::mt19937 random_;
};

} // namespace vm

#endif
