// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shared.hpp: an array that a process shares with the children that it forks afterwards.
#ifndef BELLHOP_VM_SHARED_HPP
#define BELLHOP_VM_SHARED_HPP

#include <cstddef>
#include <sys/mman.h>
#include "require.hpp"

namespace vm
{

/** @length elements of @T, for which zeroed memory must be a value: atomics, and what is made of
 * them. */
template <typename T, size_t length>
class Shared
{
public:
	Shared()
	    : elements_(static_cast<T *>(mmap(nullptr, sizeof(T) * length, PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
	{
		require_errno(elements_ != MAP_FAILED, "mmap");
	}

	~Shared()
	{
		munmap(elements_, sizeof(T) * length);
	}

	Shared(const Shared &) = delete;
	Shared &operator=(const Shared &) = delete;

	T &operator[](size_t i) const
	{
		return elements_[i];
	}

private:
	T *elements_;
};

} // namespace vm

#endif
