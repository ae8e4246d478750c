/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * mm.h: vm_flags_set() and vm_flags_clear(), which 6.3 brought, and get_user_pages_remote() without
 * the argument that 6.5 has dropped.
 */
#include_next <linux/mm.h>

#ifndef BELLHOP_COMPAT_MM_H
#define BELLHOP_COMPAT_MM_H
#ifndef BELLHOP_HAVE_VM_FLAGS_SET

static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}

#endif /* !BELLHOP_HAVE_VM_FLAGS_SET */

#ifdef BELLHOP_HAVE_GUP_VMAS
#define get_user_pages_remote(mm, start, nr_pages, gup_flags, pages, locked)                       \
	get_user_pages_remote(mm, start, nr_pages, gup_flags, pages, NULL, locked)
#endif
#endif
