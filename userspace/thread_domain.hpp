// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// thread_domain.hpp: a promise that one thread at a time uses what is made in it.
#pragma once

#include <atomic>
#include "verbs_abi.hpp"

namespace bellhop
{

struct ThreadDomain : ibv_td {
	std::atomic<unsigned> parents = 0; // parent domains that refer to it

	static ThreadDomain *of(ibv_td *td) noexcept
	{
		return static_cast<ThreadDomain *>(td);
	}
};

// Returns null and sets errno: EOPNOTSUPP for attributes that are not known, or ENOMEM.
ibv_td *alloc_td(ibv_context *context, ibv_td_init_attr *attr) noexcept;

// Returns 0, or EBUSY while a parent domain refers to it.
int dealloc_td(ibv_td *td) noexcept;

} // namespace bellhop
