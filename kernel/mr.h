/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* mr.h: memory regions: pinned pages and their keys. */
#ifndef BELLHOP_MR_H
#define BELLHOP_MR_H

#include <rdma/ib_verbs.h>
#include "grant.h"

#define BELLHOP_MAX_MR BELLHOP_KEYS_MAX

/* What a region may be asked for. Optional flags are hints that a copy by the CPU has no use for.
 */
#define BELLHOP_MR_ACCESS                                                                          \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |                  \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ACCESS_OPTIONAL)

struct bellhop_dmabuf;
struct ib_dmah;
struct ib_umem;

/**
 * struct bellhop_backing - the memory of a region: one of these, or none where it is the kernel's
 * @umem: pinned pages of a process
 * @demand: its pages on demand
 * @dmabuf: what another driver exports
 */
struct bellhop_backing {
	struct ib_umem *umem;
	struct bellhop_demand *demand;
	struct bellhop_dmabuf *dmabuf;
};

/**
 * struct bellhop_mr - a memory region
 * @ibmr: the core's part
 * @grant: what its keys open now; owned
 * @backing: the memory
 * @access: enum ib_access_flags, as asked for
 *
 * All of it is under the lock that the core holds during each command of the region.
 */
struct bellhop_mr {
	struct ib_mr ibmr;
	struct bellhop_grant *grant;
	struct bellhop_backing backing;
	int access;
};

static inline struct bellhop_mr *bellhop_mr_of(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct bellhop_mr, ibmr);
}

/**
 * bellhop_mr_create() - a region of memory that is not a process's
 * @ibpd: its protection domain
 * @grant: what its keys are to open, which outlives the region; NULL when there was no memory for
 * it; the region's, or discarded
 * @access: enum ib_access_flags
 *
 * Context: may sleep.
 * Return: the region, or an ERR_PTR.
 */
struct ib_mr *bellhop_mr_create(struct ib_pd *ibpd, struct bellhop_grant *grant, int access);

/* Operations of struct ib_device_ops. */
struct ib_mr *bellhop_mr_register(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
				  struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *bellhop_mr_reregister(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				    int access, struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *bellhop_mr_get_dma(struct ib_pd *ibpd, int access);
int bellhop_mr_deregister(struct ib_mr *ibmr, struct ib_udata *udata);

#endif
