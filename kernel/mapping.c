// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* mapping.c: rings and status pages, on the way to user space. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "mapping.h"

static struct bellhop_mapping *mapping_of(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct bellhop_mapping, entry);
}

struct bellhop_mapping *bellhop_mapping_create(struct ib_ucontext *ibucontext, size_t length,
					       bool read_only)
{
	struct bellhop_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!mapping)
		return ERR_PTR(-ENOMEM);
	length = PAGE_ALIGN(length);
	mapping->read_only = read_only;
	/* Single pages, so that vm_insert_page() can take each. */
	mapping->memory = __vmalloc(length, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!mapping->memory)
		goto err_free;
	err = rdma_user_mmap_entry_insert(ibucontext, &mapping->entry, length);
	if (err)
		goto err_memory;
	return mapping;

err_memory:
	vfree(mapping->memory);
err_free:
	kfree(mapping);
	return ERR_PTR(err);
}

void bellhop_mapping_destroy(struct bellhop_mapping *mapping)
{
	if (mapping)
		rdma_user_mmap_entry_remove(&mapping->entry);
}

void bellhop_mapping_free(struct rdma_user_mmap_entry *entry)
{
	struct bellhop_mapping *mapping = mapping_of(entry);

	vfree(mapping->memory);
	kfree(mapping);
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
