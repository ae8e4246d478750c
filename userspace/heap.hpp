// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// heap.hpp: objects on the heap, from C's allocator.
//
// C++'s own would tie this library, which any program in C may load, to one C++ runtime.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

namespace bellhop
{

// Destroys and frees what make() has made; null is fine.
template <class T>
void dispose(T *object) noexcept
{
	if (!object)
		return;
	std::destroy_at(object);
	std::free(object);
}

struct Disposer {
	template <class T>
	void operator()(T *object) const noexcept
	{
		dispose(object);
	}
};

template <class T>
using Owned = std::unique_ptr<T, Disposer>;

// Returns null without memory.
template <class T, class... Args>
Owned<T> make(Args &&...args) noexcept
{
	// NOLINTNEXTLINE(misc-redundant-expression): they are equal for some T.
	static_assert(sizeof(T) % alignof(T) == 0);
	void *memory = std::aligned_alloc(alignof(T), sizeof(T));

	if (!memory)
		return nullptr;
	return Owned<T>(std::construct_at(static_cast<T *>(memory), std::forward<Args>(args)...));
}

} // namespace bellhop
