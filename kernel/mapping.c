// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* mapping.c: rings and status pages, on the way to user space. */
#include <linux/capability.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "mapping.h"

static struct bellhop_mapping *mapping_of(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct bellhop_mapping, entry);
}

/* As ib_umem_get() counts what a process registers: the sum of both has one limit. */
static int charge(struct bellhop_mapping *mapping, size_t length)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	s64 pages = length >> PAGE_SHIFT;

	if (atomic64_add_return(pages, &current->mm->pinned_vm) > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages, &current->mm->pinned_vm);
		return -ENOMEM;
	}
	/* The memory can outlive the process, and be given back by another. */
	mapping->mm = current->mm;
	mmgrab(mapping->mm);
	return 0;
}

static void uncharge(struct bellhop_mapping *mapping, size_t length)
{
	atomic64_sub(length >> PAGE_SHIFT, &mapping->mm->pinned_vm);
	mmdrop(mapping->mm);
}

struct bellhop_mapping *bellhop_mapping_create(struct ib_ucontext *ibucontext, size_t length,
					       bool read_only)
{
	struct bellhop_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	int err;

	if (!mapping)
		return ERR_PTR(-ENOMEM);
	length = PAGE_ALIGN(length);
	mapping->read_only = read_only;
	if (ibucontext) {
		err = charge(mapping, length);
		if (err)
			goto err_free;
	}
	err = -ENOMEM;
	/* Single pages, so that vm_insert_page() can take each. */
	mapping->memory = __vmalloc(length, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!mapping->memory)
		goto err_charge;
	if (!ibucontext)
		return mapping;
	err = rdma_user_mmap_entry_insert(ibucontext, &mapping->entry, length);
	if (err)
		goto err_memory;
	return mapping;

err_memory:
	vfree(mapping->memory);
err_charge:
	if (ibucontext)
		uncharge(mapping, length);
err_free:
	kfree(mapping);
	return ERR_PTR(err);
}

struct bellhop_mapping *bellhop_mapping_create_ring(struct ib_ucontext *ibucontext, u32 entries,
						    u32 stride, struct bellhop_ring_map *map)
{
	u32 slots = roundup_pow_of_two(entries);
	struct bellhop_mapping *mapping;

	mapping = bellhop_mapping_create(ibucontext, BELLHOP_RING_SLOTS + (size_t)slots * stride,
					 false);
	if (IS_ERR(mapping))
		return mapping;
	*map = (struct bellhop_ring_map){ .slots = slots, .stride = stride };
	if (ibucontext) {
		map->offset = bellhop_mapping_offset(mapping);
		map->length = bellhop_mapping_length(mapping);
	}
	return mapping;
}

static void release(struct bellhop_mapping *mapping)
{
	vfree(mapping->memory);
	if (mapping->mm)
		uncharge(mapping, mapping->entry.npages << PAGE_SHIFT);
	kfree(mapping);
}

void bellhop_mapping_destroy(struct bellhop_mapping *mapping)
{
	if (!mapping)
		return;
	if (mapping->mm)
		rdma_user_mmap_entry_remove(&mapping->entry);
	else
		release(mapping);
}

void bellhop_mapping_free(struct rdma_user_mmap_entry *entry)
{
	release(mapping_of(entry));
}

static int insert_pages(struct vm_area_struct *vma, const struct bellhop_mapping *mapping)
{
	unsigned long offset;
	int err = 0;

	for (offset = 0; !err && offset < vma->vm_end - vma->vm_start; offset += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + offset,
				     vmalloc_to_page(mapping->memory + offset));
	return err;
}

int bellhop_mapping_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	const struct bellhop_mapping *mapping;
	int err;

	/* Checks that the mapping is shared and as long as what it maps. */
	entry = rdma_user_mmap_entry_get(ibucontext, vma);
	if (!entry)
		return -EINVAL;
	mapping = mapping_of(entry);

	err = -EPERM;
	if (vma->vm_flags & VM_EXEC)
		goto out;
	if (mapping->read_only) {
		if (vma->vm_flags & VM_WRITE)
			goto out;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	vm_flags_clear(vma, VM_MAYEXEC);
	/* A child of fork() would post behind the parent's back; a longer mapping has no pages. */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	err = insert_pages(vma, mapping);
out:
	rdma_user_mmap_entry_put(entry);
	return err;
}
