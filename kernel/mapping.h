/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* mapping.h: memory of the kernel's that one process may map. */
#ifndef BELLHOP_MAPPING_H
#define BELLHOP_MAPPING_H

#include <rdma/bellhop-abi.h>
#include <rdma/ib_verbs.h>

/**
 * struct bellhop_mapping - pages of the kernel's and the offset that maps them
 * @entry: the core's part, with the offset
 * @memory: the kernel's address
 * @read_only: user space may not write
 * @mm: whose locked memory it counts as; NULL is the kernel's own, which nobody maps
 *
 * Pages that are mapped stay until they are unmapped, even when this is gone.
 */
struct bellhop_mapping {
	struct rdma_user_mmap_entry entry;
	void *memory;
	bool read_only;
	struct mm_struct *mm;
};

/**
 * bellhop_mapping_create() - allocates zeroed memory, charged to the caller's cgroup and
 * counted against its RLIMIT_MEMLOCK
 * @ibucontext: who may map it, or NULL
 * @length: bytes; rounded up to pages
 * @read_only: refuse writable mappings
 *
 * Context: may sleep.
 * Return: the mapping, or an ERR_PTR.
 */
struct bellhop_mapping *bellhop_mapping_create(struct ib_ucontext *ibucontext, size_t length,
					       bool read_only);

/**
 * bellhop_mapping_create_ring() - the same with the room of a ring, which user space may write
 * @ibucontext: who may map it, or NULL
 * @entries: that it holds at least, not 0
 * @stride: bytes of each
 * @map: where it is found, and what it holds
 *
 * Context: may sleep.
 * Return: the mapping, or an ERR_PTR.
 */
struct bellhop_mapping *bellhop_mapping_create_ring(struct ib_ucontext *ibucontext, u32 entries,
						    u32 stride, struct bellhop_ring_map *map);

/**
 * bellhop_mapping_destroy() - no new mappings; frees it when the last mmap() under way is over
 * @mapping: may be NULL
 *
 * Context: may sleep.
 */
void bellhop_mapping_destroy(struct bellhop_mapping *mapping);

/* The argument and length of the mmap() that maps it. */
static inline u64 bellhop_mapping_offset(const struct bellhop_mapping *mapping)
{
	return rdma_user_mmap_get_offset(&mapping->entry);
}

static inline u32 bellhop_mapping_length(const struct bellhop_mapping *mapping)
{
	return mapping->entry.npages << PAGE_SHIFT;
}

/* Operations of struct ib_device_ops. */
int bellhop_mapping_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma);
void bellhop_mapping_free(struct rdma_user_mmap_entry *entry);

#endif
