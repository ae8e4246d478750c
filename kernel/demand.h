/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * demand.h: the memory of a process, page by page as it is needed (IBA has none of it; verbs
 * call it on-demand paging).
 *
 * No page is pinned. What is known of one is forgotten when the kernel takes it away from the
 * process, which tells us before and waits: first the pages are not found any more, then a
 * grace period of RCU passes, since who moves bytes holds a spinlock all the while, and only
 * then may the page be used for something else.
 */
#ifndef BELLHOP_DEMAND_H
#define BELLHOP_DEMAND_H

#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/xarray.h>

struct mem_cgroup;

/**
 * struct bellhop_demand - a range of addresses of one process
 * @notifier: tells when a page goes
 * @mm: the process's memory; it may have ended
 * @memcg: who pays for @pages
 * @refs: the region's, and one of each who fetches pages
 * @lock: what is written to @pages, and @gone; taken within the kernel's notifications, so
 * that nothing may be allocated with it that could wait for one
 * @pages: by the address's page number, where the page is in the kernel's mapping, and
 * whether it may be written; read under RCU
 * @start: address of the first byte
 * @gone: the region is
 */
struct bellhop_demand {
	struct mmu_interval_notifier notifier;
	struct mm_struct *mm;
	struct mem_cgroup *memcg;
	refcount_t refs;
	struct mutex lock;
	struct xarray pages;
	u64 start;
	bool gone;
};

/* How bellhop_demand_fetch() gets at pages. */
enum bellhop_fetch {
	BELLHOP_FETCH_READ, /* as if the process read them */
	BELLHOP_FETCH_WRITE, /* as if it wrote them */
	BELLHOP_FETCH_PRESENT, /* only those that it could read at once; of the caller's own */
};

/**
 * bellhop_demand_create() - looks at a range of the caller's addresses
 * @start: the first; nothing needs to be mapped there
 * @length: bytes; U64_MAX with a @start of 0 is all that there are
 *
 * Context: may sleep.
 * Return: without any page yet, or an ERR_PTR.
 */
struct bellhop_demand *bellhop_demand_create(u64 start, u64 length);

/**
 * bellhop_demand_destroy() - ends it; who fetches pages still finds out later
 * @demand: of a region that nobody finds or uses any more; may be NULL
 *
 * Context: may sleep; the locks of no address space are held.
 */
void bellhop_demand_destroy(struct bellhop_demand *demand);

static inline void bellhop_demand_hold(struct bellhop_demand *demand)
{
	refcount_inc(&demand->refs);
}

/* How many fetch its pages, or want to know how that ended. */
static inline unsigned int bellhop_demand_users(const struct bellhop_demand *demand)
{
	return refcount_read(&demand->refs) - 1;
}

/**
 * bellhop_demand_put() - gives a reference back
 * @demand: from bellhop_demand_hold()
 *
 * Context: any but hard interrupts.
 */
void bellhop_demand_put(struct bellhop_demand *demand);

/**
 * bellhop_demand_bytes() - where bytes lie, if they are there
 * @demand: kept there by a reference to its region
 * @offset: from its start; within the region
 * @write: they are to be written
 * @length: how many lie there side by side; 0 when the page is to be fetched first
 *
 * Context: a spinlock is held, which makes this an RCU reader; until it is released, the page
 * stays.
 * Return: the kernel's address; with a @length of 0, nothing.
 */
u8 *bellhop_demand_bytes(struct bellhop_demand *demand, u64 offset, bool write, u64 *length);

/**
 * bellhop_demand_fetch() - gets pages
 * @demand: referenced
 * @offset: of the first byte
 * @length: bytes, not 0
 * @how: see there
 *
 * Context: may sleep, and wait for whatever the process's memory is backed by.
 * Return: of how many bytes, from the first on; or else, without any, -EFAULT when the process
 * itself could not get at them, -EINTR after a fatal signal, -EAGAIN when they go as fast as they
 * come, or another error.
 */
s64 bellhop_demand_fetch(struct bellhop_demand *demand, u64 offset, u64 length,
			 enum bellhop_fetch how);

/**
 * bellhop_demand_fetch_all() - gets all of the pages, though some may go meanwhile
 * @demand: referenced
 * @offset: of the first byte
 * @length: bytes, not 0
 * @how: see there
 *
 * Context: as bellhop_demand_fetch().
 * Return: 0, also when pages are not at hand and nothing else is wanted; or an error of
 * bellhop_demand_fetch().
 */
int bellhop_demand_fetch_all(struct bellhop_demand *demand, u64 offset, u64 length,
			     enum bellhop_fetch how);

#endif
