/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* ib_umem.h: ib_umem_get_va(), the name that 7.3 gave to ib_umem_get(). */
#include_next <rdma/ib_umem.h>

#ifndef BELLHOP_COMPAT_IB_UMEM_H
#define BELLHOP_COMPAT_IB_UMEM_H
#ifndef BELLHOP_HAVE_UMEM_GET_VA

static inline struct ib_umem *ib_umem_get_va(struct ib_device *ibdev, unsigned long addr,
					     size_t size, int access)
{
	return ib_umem_get(ibdev, addr, size, access);
}

#endif /* !BELLHOP_HAVE_UMEM_GET_VA */
#endif
