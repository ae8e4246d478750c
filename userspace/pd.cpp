// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// pd.cpp: protection domains, and parent domains that join one with a thread domain.
#include "pd.hpp"

#include <cerrno>
#include "heap.hpp"

namespace bellhop
{

namespace
{

int check(const ibv_parent_domain_init_attr &attr) noexcept
{
	constexpr std::uint32_t KNOWN =
		IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;

	if (attr.comp_mask & ~KNOWN)
		return EOPNOTSUPP;
	if (!attr.pd || ProtectionDomain::of(attr.pd)->is_parent())
		return EINVAL;
	if ((attr.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) &&
	    (!attr.alloc || !attr.free))
		return EINVAL;
	return 0;
}

} // namespace

ibv_pd *alloc_pd(ibv_context *context) noexcept
{
	auto pd = make<ProtectionDomain>();
	Request<ib_uverbs_alloc_pd> request{};
	ib_uverbs_alloc_pd_resp response{};
	int error = !pd ? ENOMEM
			: ibv_cmd_alloc_pd(context, pd.get(), &request, sizeof(request), &response,
					   sizeof(response));

	if (error) {
		errno = error;
		return nullptr;
	}
	return pd.release();
}

ibv_pd *alloc_parent_domain(ibv_context *context, ibv_parent_domain_init_attr *attr) noexcept
{
	if (int error = check(*attr)) {
		errno = error;
		return nullptr;
	}
	auto *parent = make<ProtectionDomain>().release();

	if (!parent) {
		errno = ENOMEM;
		return nullptr;
	}
	parent->context = context;
	parent->handle = attr->pd->handle;
	parent->protects = ProtectionDomain::of(attr->pd);
	parent->protects->users++;
	parent->allocator.pd = parent;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		parent->allocator.alloc = attr->alloc;
		parent->allocator.free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		parent->allocator.context = attr->pd_context;
	if (attr->td) {
		parent->td = ThreadDomain::of(attr->td);
		parent->td->parents++;
	}
	return parent;
}

int dealloc_pd(ibv_pd *ibv_pd) noexcept
{
	auto *pd = ProtectionDomain::of(ibv_pd);

	if (pd->users)
		return EBUSY;
	if (pd->is_parent()) {
		pd->protects->users--;
		if (pd->td)
			pd->td->parents--;
	} else if (int error = ibv_cmd_dealloc_pd(pd)) {
		return error;
	}
	dispose(pd);
	return 0;
}

ibv_pd *import_pd(ibv_context *context, std::uint32_t handle) noexcept
{
	auto *pd = make<ProtectionDomain>().release();

	if (!pd) {
		errno = ENOMEM;
		return nullptr;
	}
	pd->context = context;
	pd->handle = handle;
	return pd;
}

void unimport_pd(ibv_pd *pd) noexcept
{
	dispose(ProtectionDomain::of(pd));
}

} // namespace bellhop
