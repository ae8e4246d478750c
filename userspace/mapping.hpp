// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mapping.hpp: a piece of the kernel's memory, mapped for as long as this object lives.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <utility>

namespace bellhop
{

class Mapping
{
public:
	Mapping() noexcept = default;
	Mapping(const Mapping &) = delete;
	Mapping &operator=(const Mapping &) = delete;
	~Mapping()
	{
		// Taking memory away can itself need memory, and what stays mapped keeps the
		// context, and the kernel's module, until the process ends.
		for (int tries = 3; memory_ && tries && munmap(memory_, length_); tries--)
			;
	}

	// fd: the uverbs file; offset and length: as a create response has them; protection: as
	// for mmap(). A length of 0 maps nothing. Returns 0 or an errno.
	int map(int fd, std::uint64_t offset, std::uint32_t length, int protection) noexcept
	{
		if (!length)
			return 0;
		void *memory = mmap(nullptr, length, protection, MAP_SHARED, fd,
				    static_cast<off_t>(offset));

		if (memory == MAP_FAILED)
			return errno;
		memory_ = memory;
		length_ = length;
		return 0;
	}

	void swap(Mapping &other) noexcept
	{
		std::swap(memory_, other.memory_);
		std::swap(length_, other.length_);
	}

	// Null when nothing is mapped.
	void *memory() const noexcept
	{
		return memory_;
	}

private:
	void *memory_ = nullptr;
	std::size_t length_ = 0;
};

} // namespace bellhop
