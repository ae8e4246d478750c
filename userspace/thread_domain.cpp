// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// thread_domain.cpp: a promise that one thread at a time uses what is made in it.
#include "thread_domain.hpp"

#include <cerrno>
#include "heap.hpp"

namespace bellhop
{

ibv_td *alloc_td(ibv_context *context, ibv_td_init_attr *attr) noexcept
{
	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return nullptr;
	}
	auto *td = make<ThreadDomain>().release();

	if (!td) {
		errno = ENOMEM;
		return nullptr;
	}
	td->context = context;
	return td;
}

int dealloc_td(ibv_td *td) noexcept
{
	if (ThreadDomain::of(td)->parents)
		return EBUSY;
	dispose(ThreadDomain::of(td));
	return 0;
}

} // namespace bellhop
