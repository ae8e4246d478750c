// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* demand.c: finds, fetches and forgets the pages of a process. */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "demand.h"

/* Tags of what is known of a page. One that is going is not found, but not forgotten yet. */
#define READABLE 0
#define WRITABLE 1
#define GOING 3

/* Pages at a time, at most. */
#define BATCH 16U

/* How often pages may go while they are being fetched. */
#define PATIENCE 1000U

static struct bellhop_demand *demand_of(struct mmu_interval_notifier *notifier)
{
	return container_of(notifier, struct bellhop_demand, notifier);
}

/* What will go, so that no reader finds it from here on; writable pages keep that in mind. */
static bool hide(struct bellhop_demand *demand, unsigned long first, unsigned long last)
{
	unsigned long index;
	bool any = false;
	void *entry;

	lockdep_assert_held(&demand->lock);

	xa_for_each_range(&demand->pages, index, entry, first, last)
	{
		any = true;
		if (xa_pointer_tag(entry) == WRITABLE)
			/* In the place of another, for which nothing is allocated. */
			xa_store(&demand->pages, index,
				 xa_tag_pointer(xa_untag_pointer(entry), GOING), GFP_NOWAIT);
		else
			xa_erase(&demand->pages, index);
	}
	return any;
}

/* Of what is hidden, and that nobody writes any more. */
static void forget(struct bellhop_demand *demand, unsigned long first, unsigned long last)
{
	unsigned long index;
	void *entry;

	lockdep_assert_held(&demand->lock);

	xa_for_each_range(&demand->pages, index, entry, first, last)
	{
		set_page_dirty(compound_head(virt_to_page(xa_untag_pointer(entry))));
		xa_erase(&demand->pages, index);
	}
}

static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct bellhop_demand *demand = demand_of(notifier);
	unsigned long first = range->start >> PAGE_SHIFT;
	unsigned long last = (range->end - 1) >> PAGE_SHIFT;

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&demand->lock);
	mmu_interval_set_seq(notifier, seq);
	if (hide(demand, first, last)) {
		synchronize_rcu_expedited();
		forget(demand, first, last);
	}
	mutex_unlock(&demand->lock);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

struct bellhop_demand *bellhop_demand_create(u64 start, u64 length)
{
	struct bellhop_demand *demand = kzalloc(sizeof(*demand), GFP_KERNEL_ACCOUNT);
	u64 first = round_down(start, PAGE_SIZE);
	u64 end = length == U64_MAX ? U64_MAX : start + length;
	int err;

	if (!demand)
		return ERR_PTR(-ENOMEM);
	refcount_set(&demand->refs, 1);
	mutex_init(&demand->lock);
	xa_init_flags(&demand->pages, XA_FLAGS_ACCOUNT);
	demand->start = start;
	err = mmu_interval_notifier_insert(&demand->notifier, current->mm, first, end - first,
					   &notifier_ops);
	if (err) {
		kfree(demand);
		return ERR_PTR(err);
	}
	demand->mm = current->mm;
	mmgrab(demand->mm);
	demand->memcg = get_mem_cgroup_from_mm(demand->mm);
	return demand;
}

void bellhop_demand_put(struct bellhop_demand *demand)
{
	if (!refcount_dec_and_test(&demand->refs))
		return;
	mem_cgroup_put(demand->memcg);
	mmdrop(demand->mm);
	kfree(demand);
}

void bellhop_demand_destroy(struct bellhop_demand *demand)
{
	if (!demand)
		return;
	mutex_lock(&demand->lock);
	demand->gone = true;
	mutex_unlock(&demand->lock);
	/* Until here the pages that are known could go. */
	mmu_interval_notifier_remove(&demand->notifier);
	xa_destroy(&demand->pages);
	bellhop_demand_put(demand);
}

static unsigned long index_of(const struct bellhop_demand *demand, u64 offset)
{
	return (unsigned long)(demand->start + offset) >> PAGE_SHIFT;
}

u8 *bellhop_demand_bytes(struct bellhop_demand *demand, u64 offset, bool write, u64 *length)
{
	void *entry = xa_load(&demand->pages, index_of(demand, offset));
	unsigned int tag = xa_pointer_tag(entry);
	unsigned long within = offset_in_page(demand->start + offset);

	if (!entry || tag == GOING || (write && tag != WRITABLE)) {
		*length = 0;
		return NULL;
	}
	*length = PAGE_SIZE - within;
	return (u8 *)xa_untag_pointer(entry) + within;
}

/* What can be allocated is, while notifications need not wait for it. */
static int reserve(struct bellhop_demand *demand, unsigned long first, unsigned int count)
{
	struct mem_cgroup *other = set_active_memcg(demand->memcg);
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < count; i++)
		err = xa_reserve(&demand->pages, first + i, GFP_KERNEL);
	set_active_memcg(other);
	return err;
}

static void release(struct bellhop_demand *demand, unsigned long first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		xa_release(&demand->pages, first + i);
}

static int store(struct bellhop_demand *demand, unsigned long index, struct page *page, bool write)
{
	void *old = xa_load(&demand->pages, index);

	lockdep_assert_held(&demand->lock);

	/* Somebody who wants to write was here, too. */
	if (old && xa_pointer_tag(old) == WRITABLE)
		return 0;
	return xa_err(xa_store(&demand->pages, index,
			       xa_tag_pointer(page_address(page), write ? WRITABLE : READABLE),
			       GFP_NOWAIT));
}

/* Unless they went again since @seq: -EAGAIN. */
static int publish(struct bellhop_demand *demand, unsigned long seq, unsigned long first,
		   struct page **pages, unsigned int count, bool write)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&demand->lock);
	if (demand->gone)
		err = -EFAULT;
	else if (mmu_interval_read_retry(&demand->notifier, seq))
		err = -EAGAIN;
	/* Another who was here for the same page may have released what was reserved. */
	for (i = 0; !err && i < count; i++)
		err = store(demand, first + i, pages[i], write) ? -EAGAIN : 0;
	mutex_unlock(&demand->lock);
	return err;
}

/* Returns how many, from the first on, or an error. */
static long get_pages(const struct bellhop_demand *demand, unsigned long first, unsigned int count,
		      enum bellhop_fetch how, struct page **pages)
{
	unsigned long address = first << PAGE_SHIFT;
	long got;

	if (how == BELLHOP_FETCH_PRESENT)
		return get_user_pages_fast_only(address, count, 0, pages);
	got = get_user_pages_remote(demand->mm, address, count,
				    how == BELLHOP_FETCH_WRITE ? FOLL_WRITE : 0, pages, NULL);
	return got ?: -EFAULT;
}

/* What get_and_publish() does, with room for all of them. */
static long get_and_publish(struct bellhop_demand *demand, unsigned long first, unsigned int count,
			    enum bellhop_fetch how)
{
	unsigned long seq = mmu_interval_read_begin(&demand->notifier);
	struct page *pages[BATCH];
	long got = get_pages(demand, first, count, how, pages);
	long i;
	int err;

	if (got <= 0)
		return got;
	err = publish(demand, seq, first, pages, got, how == BELLHOP_FETCH_WRITE);
	/* The notifier's word is enough to keep them. */
	for (i = 0; i < got; i++)
		put_page(pages[i]);
	return err ?: got;
}

/*
 * Returns how many pages there are now, from the first on; or an error. Nothing else is done
 * between the look at the notifier and publishing, and the address space does not change
 * meanwhile: who changes it again and again would be faster each time.
 */
static long fetch_some(struct bellhop_demand *demand, unsigned long first, unsigned int count,
		       enum bellhop_fetch how)
{
	long got = reserve(demand, first, count);

	if (!got)
		got = mmap_read_lock_killable(demand->mm);
	if (!got) {
		got = get_and_publish(demand, first, count, how);
		mmap_read_unlock(demand->mm);
	}
	if (got < (long)count)
		release(demand, first, count);
	return got;
}

/*
 * Returns how many pages there are now, from the first on; or, without any, an error. When pages
 * go, those that were there already may be gone as well: it is the requester's turn to use what is
 * left, and fewer pages at a time are less likely to be met.
 */
static s64 fetch(struct bellhop_demand *demand, unsigned long first, unsigned long count,
		 enum bellhop_fetch how)
{
	unsigned int batch = BATCH;
	unsigned long done = 0;
	unsigned int tries = 0;
	long got;

	while (done < count && tries < PATIENCE) {
		if (fatal_signal_pending(current))
			return done ?: -EINTR;
		got = fetch_some(demand, first + done, min_t(unsigned long, count - done, batch),
				 how);
		if (got <= 0 && (done || got != -EAGAIN))
			return done ?: got;
		if (got > 0) {
			done += got;
		} else {
			tries++;
			batch = max(batch / 2, 1U);
		}
		cond_resched();
	}
	return done ?: -EAGAIN;
}

s64 bellhop_demand_fetch(struct bellhop_demand *demand, u64 offset, u64 length,
			 enum bellhop_fetch how)
{
	unsigned long first = index_of(demand, offset);
	unsigned long count = index_of(demand, offset + length - 1) - first + 1;
	s64 got;

	if (how == BELLHOP_FETCH_PRESENT && demand->mm != current->mm)
		return -EINVAL;
	if (!mmget_not_zero(demand->mm))
		return -EFAULT;
	got = fetch(demand, first, count, how);
	mmput(demand->mm);
	if (got <= 0)
		return got;
	return min_t(u64, length, (got << PAGE_SHIFT) - offset_in_page(demand->start + offset));
}

int bellhop_demand_fetch_all(struct bellhop_demand *demand, u64 offset, u64 length,
			     enum bellhop_fetch how)
{
	u64 done = 0;
	s64 got;

	while (done < length) {
		got = bellhop_demand_fetch(demand, offset + done, length - done, how);
		if (got <= 0)
			return got;
		done += got;
	}
	return 0;
}
