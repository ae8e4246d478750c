// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// memory.hpp: memory to move, its regions, and bytes to recognise it by.
#ifndef BELLHOP_VM_MEMORY_HPP
#define BELLHOP_VM_MEMORY_HPP

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>
#include "device.hpp"

namespace vm
{

inline constexpr int access_all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/** Fills @bytes with noise that depends on @seed alone. */
inline void fill(std::span<uint8_t> bytes, uint64_t seed)
{
	uint64_t word = seed * 0x9e3779b97f4a7c15 + 1;

	for (size_t i = 0; i < bytes.size(); i += sizeof(word)) {
		word ^= word << 13;
		word ^= word >> 7;
		word ^= word << 17;
		std::memcpy(&bytes[i], &word, std::min(sizeof(word), bytes.size() - i));
	}
}

/** Whether @bytes are still what fill() has made of them. */
inline bool is_filled(std::span<const uint8_t> bytes, uint64_t seed)
{
	std::vector<uint8_t> expected(bytes.size());

	fill(expected, seed);
	return std::ranges::equal(expected, bytes);
}

/** Whole pages, zeroed. @flags: more for mmap(), such as MAP_HUGETLB. */
class Memory
{
public:
	explicit Memory(size_t length, int flags = 0)
	    : length_(length), start_(mmap(nullptr, length, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0))
	{
		require_errno(start_ != MAP_FAILED, "mmap");
	}

	~Memory()
	{
		munmap(start_, length_);
	}

	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;

	uint8_t *data() const
	{
		return static_cast<uint8_t *>(start_);
	}

	size_t size() const
	{
		return length_;
	}

	std::span<uint8_t> bytes() const
	{
		return { data(), length_ };
	}

private:
	size_t length_;
	void *start_;
};

/** Touches the pages of two pieces of one size in turn, so that no two of either lie side by side.
 */
inline void interleave(const Memory &one, const Memory &other)
{
	const size_t pages = one.size() / 4096;

	for (size_t i = 0; i < pages; i++)
		for (const Memory *memory : { &other, &one })
			memory->data()[(i % 2 ? i : pages - 1 - i) * 4096] = 1;
}

/** A memory region. */
class Mr
{
public:
	Mr(ibv_pd *pd, void *start, size_t length, int access = access_all)
	    : mr_(ibv_reg_mr(pd, start, length, access))
	{
		require_errno(mr_, "ibv_reg_mr");
	}

	Mr(const Pd &pd, void *start, size_t length, int access = access_all)
	    : Mr(pd.get(), start, length, access)
	{
	}

	Mr(const Pd &pd, const Memory &memory, int access = access_all)
	    : Mr(pd, memory.data(), memory.size(), access)
	{
	}

	/** What was registered in another way; its result and errno. */
	explicit Mr(ibv_mr *made) : mr_(made)
	{
		require_errno(mr_, "a registration");
	}

	~Mr()
	{
		if (mr_)
			ibv_dereg_mr(mr_);
	}

	Mr(const Mr &) = delete;
	Mr &operator=(const Mr &) = delete;

	/** Deregisters it now. Returns 0 or an errno, and then it is still there. */
	int deregister()
	{
		const int error = ibv_dereg_mr(mr_);

		if (!error)
			mr_ = nullptr;
		return error;
	}

	ibv_mr *get() const
	{
		return mr_;
	}

	uint32_t lkey() const
	{
		return mr_->lkey;
	}

	uint32_t rkey() const
	{
		return mr_->rkey;
	}

private:
	ibv_mr *mr_;
};

/** Memory and a region over all of it. */
struct Region {
	Region(const Pd &pd, size_t length, int access = access_all, int flags = 0)
	    : memory(length, flags), mr(pd, memory.data(), length, access)
	{
	}

	ibv_sge sge(size_t offset, uint32_t length) const
	{
		return { address(offset), length, mr.lkey() };
	}

	uint64_t address(size_t offset = 0) const
	{
		return reinterpret_cast<uintptr_t>(memory.data()) + offset;
	}

	Memory memory;
	Mr mr;
};

} // namespace vm

#endif
