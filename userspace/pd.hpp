// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// pd.hpp: protection domains, and parent domains that join one with a thread domain.
#pragma once

#include <atomic>
#include "block.hpp"
#include "thread_domain.hpp"
#include "verbs_abi.hpp"

namespace bellhop
{

// A parent domain carries the handle of its PD, so that the kernel takes it for that.
struct ProtectionDomain : ibv_pd {
	ProtectionDomain *protects = nullptr; // of a parent domain: its PD
	ThreadDomain *td = nullptr; // of a parent domain: its thread domain, if any
	Allocator allocator; // of a parent domain
	std::atomic<unsigned> users = 0; // parent domains of it; of one: what was made in it

	static ProtectionDomain *of(ibv_pd *pd) noexcept
	{
		return static_cast<ProtectionDomain *>(pd);
	}

	bool is_parent() const noexcept
	{
		return protects;
	}
	bool is_single_threaded() const noexcept
	{
		return td;
	}
};

// Keeps a parent domain for as long as this object lives; an ordinary PD the kernel keeps.
class DomainUse
{
public:
	// pd: may be null.
	explicit DomainUse(ibv_pd *pd) noexcept
	    : domain_(pd && ProtectionDomain::of(pd)->is_parent() ? ProtectionDomain::of(pd)
								  : nullptr)
	{
		if (domain_)
			domain_->users++;
	}
	DomainUse(const DomainUse &) = delete;
	DomainUse &operator=(const DomainUse &) = delete;
	~DomainUse()
	{
		if (domain_)
			domain_->users--;
	}

	// Null when there is none.
	const Allocator *allocator() const noexcept
	{
		return domain_ ? &domain_->allocator : nullptr;
	}

private:
	ProtectionDomain *domain_;
};

// Both return null and set errno.
ibv_pd *alloc_pd(ibv_context *context) noexcept;
ibv_pd *alloc_parent_domain(ibv_context *context, ibv_parent_domain_init_attr *attr) noexcept;

// Of either kind. Returns 0 or an errno: EBUSY while something refers to it.
int dealloc_pd(ibv_pd *pd) noexcept;

// A PD that the kernel has already, under its handle; whether there is one shows when it is used.
// Returns null and sets errno.
ibv_pd *import_pd(ibv_context *context, std::uint32_t handle) noexcept;

// The kernel keeps it.
void unimport_pd(ibv_pd *pd) noexcept;

} // namespace bellhop
