// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* mr.c: registers and deregisters memory regions. */
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include "device.h"
#include "mr.h"
#include "pd.h"

/* Optional flags are hints that a copy by the CPU has no use for. */
#define SUPPORTED_ACCESS                                                                           \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |                  \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_OPTIONAL)
#define DECIDING_ACCESS                                                                            \
	(BELLHOP_ACCESS_LOCAL_WRITE | BELLHOP_ACCESS_REMOTE_WRITE | BELLHOP_ACCESS_REMOTE_READ |   \
	 BELLHOP_ACCESS_REMOTE_ATOMIC)

static_assert((int)BELLHOP_ACCESS_LOCAL_WRITE == IB_ACCESS_LOCAL_WRITE);
static_assert((int)BELLHOP_ACCESS_REMOTE_WRITE == IB_ACCESS_REMOTE_WRITE);
static_assert((int)BELLHOP_ACCESS_REMOTE_READ == IB_ACCESS_REMOTE_READ);
static_assert((int)BELLHOP_ACCESS_REMOTE_ATOMIC == IB_ACCESS_REMOTE_ATOMIC);

#ifdef CONFIG_HIGHMEM
#error "payload is reached through the kernel's mapping of all memory, which this kernel has not"
#endif

static struct bellhop_mr *mr_of(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct bellhop_mr, ibmr);
}

/* The pages are pinned from their first byte; the region begins somewhere in the first. */
static int build_extents(struct bellhop_mr *mr)
{
	struct sg_table *table = &mr->umem->sgt_append.sgt;
	u64 skip = ib_umem_offset(mr->umem);
	u64 end = 0;
	struct scatterlist *sg;
	unsigned int i;

	mr->extents = kvmalloc_array(table->orig_nents, sizeof(*mr->extents), GFP_KERNEL_ACCOUNT);
	if (!mr->extents)
		return -ENOMEM;
	for_each_sgtable_sg(table, sg, i) {
		mr->num_extents = bellhop_extent_append(mr->extents, mr->num_extents, end,
							(u8 *)sg_virt(sg) + skip);
		end += sg->length - skip;
		skip = 0;
	}
	return end < mr->region.length ? -EFAULT : 0;
}

static struct bellhop_mr *alloc(struct ib_pd *ibpd, u64 start, u64 length, int access)
{
	struct bellhop_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	enum bellhop_side side;

	if (!mr)
		return NULL;
	mr->region.start = start;
	mr->region.length = length;
	mr->region.pdn = bellhop_pd_number(ibpd);
	mr->region.access = access & DECIDING_ACCESS;
	for (side = 0; side < BELLHOP_SIDES; side++)
		refcount_set(&mr->refs[side].count, 1);
	init_completion(&mr->unused);
	return mr;
}

/* Of a region that nobody could find. */
static void discard(struct bellhop_mr *mr)
{
	kvfree(mr->extents);
	ib_umem_release(mr->umem);
	kfree(mr);
}

static int publish(struct bellhop_mr *mr, struct ib_pd *ibpd)
{
	struct bellhop_keys *keys = &bellhop_device_of(ibpd->device)->keys;
	int index = bellhop_keys_alloc(keys);

	if (index < 0)
		return index;
	mr->region.lkey = bellhop_key_make(index, (u8)get_random_u32());
	mr->ibmr.lkey = mr->region.lkey;
	mr->ibmr.rkey = mr->region.lkey | BELLHOP_KEY_REMOTE;
	bellhop_keys_publish(keys, index, mr);
	return 0;
}

struct ib_mr *bellhop_mr_register(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
				  struct ib_dmah *dmah, struct ib_udata *udata)
{
	struct bellhop_mr *mr;
	int err;

	if (dmah || (access & ~SUPPORTED_ACCESS))
		return ERR_PTR(-EOPNOTSUPP);
	if (bellhop_key_check_region(iova, length))
		return ERR_PTR(-EINVAL);
	mr = alloc(ibpd, iova, length, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get_va(ibpd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		mr->umem = NULL;
		goto err;
	}
	err = build_extents(mr) ?: publish(mr, ibpd);
	if (err)
		goto err;
	return &mr->ibmr;

err:
	discard(mr);
	return ERR_PTR(err);
}

/*
 * All of the kernel's memory, for consumers in the kernel: without a DMA device their
 * addresses are the kernel's own. No user's QP is in the protection domain of one.
 */
struct ib_mr *bellhop_mr_get_dma(struct ib_pd *ibpd, int access)
{
	struct bellhop_mr *mr = alloc(ibpd, 0, U64_MAX, access);
	int err = -ENOMEM;

	if (!mr)
		return ERR_PTR(err);
	mr->extents = kvmalloc_array(1, sizeof(*mr->extents), GFP_KERNEL);
	if (!mr->extents)
		goto err;
	mr->num_extents = bellhop_extent_append(mr->extents, 0, 0, NULL);
	err = publish(mr, ibpd);
	if (err)
		goto err;
	return &mr->ibmr;

err:
	discard(mr);
	return ERR_PTR(err);
}

int bellhop_mr_deregister(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct bellhop_mr *mr = mr_of(ibmr);
	struct bellhop_device *device = bellhop_device_of(ibmr->device);
	enum bellhop_side side;

	bellhop_keys_withdraw(&device->keys, bellhop_key_index(mr->region.lkey));
	/* A reference is held for one bounded copy, so this does not take long. */
	for (side = 0; side < BELLHOP_SIDES; side++)
		bellhop_mr_put(mr, side);
	for (side = 0; side < BELLHOP_SIDES; side++)
		wait_for_completion(&mr->unused);
	kvfree(mr->extents);
	ib_umem_release(mr->umem);
	kfree_rcu(mr, rcu);
	return 0;
}
