// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * mr.c: registers, reregisters and deregisters memory regions.
 *
 * What the keys of a region open is replaced as a whole: a copy under way has a reference to what
 * was there before, the next one finds the other.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_umem.h>
#include "device.h"
#include "dmabuf.h"
#include "mr.h"
#include "null.h"
#include "pd.h"

#ifdef CONFIG_HIGHMEM
#error "payload is reached through the kernel's mapping of all memory, which this kernel has not"
#endif

/* The pages are pinned from their first byte; the region begins somewhere in the first. */
static int build_extents(struct bellhop_grant *grant, struct ib_umem *umem)
{
	struct sg_table *table = &umem->sgt_append.sgt;
	u64 skip = ib_umem_offset(umem);
	u64 end = 0;
	struct scatterlist *sg;
	unsigned int i;

	grant->extents =
		kvmalloc_array(table->orig_nents, sizeof(*grant->extents), GFP_KERNEL_ACCOUNT);
	if (!grant->extents)
		return -ENOMEM;
	for_each_sgtable_sg(table, sg, i) {
		grant->num_extents = bellhop_extent_append(grant->extents, grant->num_extents, end,
							   (u8 *)sg_virt(sg) + skip);
		end += sg->length - skip;
		skip = 0;
	}
	return end < grant->bytes ? -EFAULT : 0;
}

static struct ib_umem *pin(struct ib_pd *ibpd, struct bellhop_grant *grant, u64 start, int access)
{
	struct ib_umem *umem = ib_umem_get_va(ibpd->device, start, grant->bytes, access);
	int err;

	if (IS_ERR(umem))
		return umem;
	err = build_extents(grant, umem);
	if (err) {
		ib_umem_release(umem);
		return ERR_PTR(err);
	}
	return umem;
}

/* Puts memory behind an entry. */
static int back(struct ib_pd *ibpd, struct bellhop_grant *grant, u64 start, int access,
		struct bellhop_backing *backing)
{
	if (access & IB_ACCESS_ON_DEMAND) {
		grant->demand = bellhop_demand_create(start, grant->bytes);
		if (IS_ERR(grant->demand))
			return PTR_ERR(grant->demand);
		backing->demand = grant->demand;
		return 0;
	}
	backing->umem = pin(ibpd, grant, start, access);
	return PTR_ERR_OR_ZERO(backing->umem);
}

static void unback(const struct bellhop_backing *backing)
{
	ib_umem_release(backing->umem);
	bellhop_demand_destroy(backing->demand);
	bellhop_dmabuf_close(backing->dmabuf);
}

/* Who asks for huge pages of pages on demand need not be told that there are none. */
static bool is_supported(int access)
{
	if (access & IB_ACCESS_ON_DEMAND)
		access &= ~(IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB);
	return !(access & ~BELLHOP_MR_ACCESS);
}

static bool can_exist(u64 start, u64 length, u64 iova)
{
	return !bellhop_key_check_region(iova, length) && !bellhop_key_check_region(start, length);
}

static void set_keys(struct bellhop_grant *grant, u32 lkey)
{
	grant->region.lkey = lkey;
	grant->region.rkey = lkey | BELLHOP_KEY_REMOTE;
}

/* From here on the keys open @grant, which is the region's. */
static void adopt(struct bellhop_mr *mr, struct bellhop_keys *keys, struct bellhop_grant *grant)
{
	mr->grant = grant;
	mr->ibmr.lkey = grant->region.lkey;
	mr->ibmr.rkey = grant->region.rkey;
	bellhop_keys_publish(keys, bellhop_key_index(grant->region.lkey), grant);
}

static int publish(struct bellhop_mr *mr, struct ib_pd *ibpd, struct bellhop_grant *grant)
{
	struct bellhop_keys *keys = &bellhop_device_of(ibpd->device)->keys;
	int index = bellhop_keys_alloc(keys);

	if (index < 0)
		return index;
	set_keys(grant, bellhop_key_make(index, (u8)get_random_u32()));
	adopt(mr, keys, grant);
	return 0;
}

/* What the library asks for beside verbs' own. */
static int get_kind(struct ib_udata *udata, u32 *kind)
{
	struct bellhop_reg_mr request;
	int err;

	*kind = BELLHOP_MR_MEMORY;
	if (!udata->inlen)
		return 0;
	if (udata->inlen < sizeof(request))
		return -EINVAL;
	err = ib_copy_from_udata(&request, udata, sizeof(request));
	if (err)
		return err;
	*kind = request.kind;
	return request.reserved || request.kind > BELLHOP_MR_NULL ? -EINVAL : 0;
}

struct ib_mr *bellhop_mr_register(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
				  struct ib_dmah *dmah, struct ib_udata *udata)
{
	struct bellhop_grant *grant;
	struct bellhop_mr *mr;
	u32 kind;
	int err;

	err = get_kind(udata, &kind);
	if (err)
		return ERR_PTR(err);
	if (kind == BELLHOP_MR_NULL)
		return start || iova || length != U64_MAX || access != IB_ACCESS_LOCAL_WRITE
			       ? ERR_PTR(-EINVAL)
			       : bellhop_null_register(ibpd);
	if (dmah || !is_supported(access))
		return ERR_PTR(-EOPNOTSUPP);
	if (!can_exist(start, length, iova))
		return ERR_PTR(-EINVAL);
	err = -ENOMEM;
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	grant = bellhop_grant_alloc(bellhop_pd_number(ibpd), iova, length, access);
	if (!mr || !grant)
		goto err_free;
	mr->access = access;
	err = back(ibpd, grant, start, access, &mr->backing);
	if (err)
		goto err_free;
	err = publish(mr, ibpd, grant);
	if (err)
		goto err_backing;
	return &mr->ibmr;

err_backing:
	unback(&mr->backing);
err_free:
	bellhop_grant_discard(grant);
	kfree(mr);
	return ERR_PTR(err);
}

struct ib_mr *bellhop_mr_create(struct ib_pd *ibpd, struct bellhop_grant *grant, int access)
{
	struct bellhop_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!mr || !grant)
		goto err;
	mr->access = access;
	mr->ibmr.iova = grant->region.start;
	mr->ibmr.length = grant->region.length;
	err = publish(mr, ibpd, grant);
	if (err)
		goto err;
	return &mr->ibmr;

err:
	bellhop_grant_discard(grant);
	kfree(mr);
	return ERR_PTR(err);
}

/*
 * All of the kernel's memory, for consumers in the kernel: without a DMA device their
 * addresses are the kernel's own. No user's QP is in the protection domain of one.
 */
struct ib_mr *bellhop_mr_get_dma(struct ib_pd *ibpd, int access)
{
	struct bellhop_grant *grant =
		bellhop_grant_alloc_piece(bellhop_pd_number(ibpd), NULL, 0, U64_MAX, access);

	return bellhop_mr_create(ibpd, grant, access);
}

/* Of a process. */
static bool has_memory(const struct bellhop_backing *backing)
{
	return backing->umem || backing->demand;
}

static u64 first_address(const struct bellhop_backing *backing)
{
	return backing->umem ? backing->umem->address : backing->demand->start;
}

static struct mm_struct *owner(const struct bellhop_backing *backing)
{
	return backing->umem ? backing->umem->owning_mm : backing->demand->mm;
}

/*
 * Pages that were pinned to be read, maybe of a file that must not change, are not to be written.
 * Those on demand are looked at anew to be written.
 */
static bool must_back_again(const struct bellhop_mr *mr, int access)
{
	const struct ib_umem *umem = mr->backing.umem;

	return ((mr->access ^ access) & IB_ACCESS_ON_DEMAND) ||
	       (umem && ib_access_writable(access) && !umem->writable);
}

/* As the region is, but for what @flags change; with memory of its own in @backing, or else none.
 */
static struct bellhop_grant *make_anew(struct bellhop_mr *mr, int flags, u64 start, u64 length,
				       u64 iova, int access, struct ib_pd *ibpd,
				       struct bellhop_backing *backing)
{
	const struct bellhop_grant *old = mr->grant;
	struct bellhop_grant *grant;

	if (!(flags & IB_MR_REREG_TRANS)) {
		start = first_address(&mr->backing);
		length = old->region.length;
		iova = old->region.start;
	}
	grant = bellhop_grant_alloc(bellhop_pd_number(ibpd), iova, length, access);
	if (!grant)
		return ERR_PTR(-ENOMEM);
	if (flags & IB_MR_REREG_TRANS || must_back_again(mr, access)) {
		int err = back(ibpd, grant, start, access, backing);

		if (err) {
			bellhop_grant_discard(grant);
			return ERR_PTR(err);
		}
		/* A message under way must not go on in other pages: it has the other key. */
		set_keys(grant, bellhop_key_next(old->region.lkey));
	} else {
		grant->extents = old->extents;
		grant->num_extents = old->num_extents;
		grant->demand = old->demand;
		set_keys(grant, old->region.lkey);
	}
	return grant;
}

/* Returns false when windows are bound to what the keys open now. */
static bool replace(struct bellhop_mr *mr, struct bellhop_grant *grant)
{
	bool closed;

	preempt_disable();
	closed = bellhop_grant_close(mr->grant);
	if (closed)
		adopt(mr, &bellhop_device_of(mr->ibmr.device)->keys, grant);
	preempt_enable();
	return closed;
}

/* Likewise. */
static bool withdraw(struct bellhop_mr *mr)
{
	struct bellhop_keys *keys = &bellhop_device_of(mr->ibmr.device)->keys;
	bool closed;

	preempt_disable();
	closed = bellhop_grant_close(mr->grant);
	if (closed)
		bellhop_keys_withdraw(keys, bellhop_key_index(mr->grant->region.lkey));
	preempt_enable();
	return closed;
}

/* Of what make_anew() has made. */
static void drop(struct bellhop_grant *grant, const struct bellhop_backing *backing)
{
	if (!has_memory(backing))
		grant->extents = NULL;
	bellhop_grant_discard(grant);
	unback(backing);
}

/*
 * The old pages stay, and stay counted as locked, until the new ones are there: a failure leaves
 * all as it was, though verbs let it end the region. The keys change when the pages do.
 */
struct ib_mr *bellhop_mr_reregister(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				    int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct bellhop_mr *mr = bellhop_mr_of(ibmr);
	struct bellhop_grant *grant, *old = mr->grant;
	struct bellhop_backing backing = {};

	/* Only the pages of a process can be others, or be pinned otherwise. */
	if (!has_memory(&mr->backing))
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (!is_supported(access))
		return ERR_PTR(-EOPNOTSUPP);
	if ((flags & IB_MR_REREG_TRANS) && !can_exist(start, length, iova))
		return ERR_PTR(-EINVAL);
	/* Addresses of another process, which has inherited the file, say nothing of these pages.
	 */
	if (!(flags & IB_MR_REREG_TRANS) && must_back_again(mr, access) &&
	    owner(&mr->backing) != current->mm)
		return ERR_PTR(-EINVAL);

	grant = make_anew(mr, flags, start, length, iova, access,
			  flags & IB_MR_REREG_PD ? ibpd : ibmr->pd, &backing);
	if (IS_ERR(grant))
		return ERR_CAST(grant);
	if (!replace(mr, grant)) {
		drop(grant, &backing);
		return ERR_PTR(-EBUSY);
	}
	mr->access = access;
	bellhop_grant_retire(old);
	if (has_memory(&backing)) {
		kvfree(old->extents);
		unback(&mr->backing);
		mr->backing = backing;
	}
	kfree_rcu(old, rcu);
	return NULL;
}

int bellhop_mr_deregister(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct bellhop_mr *mr = bellhop_mr_of(ibmr);
	struct bellhop_grant *grant = mr->grant;

	/* Verbs want windows to be unbound first; when a context ends, the core comes again. */
	if (!withdraw(mr))
		return -EBUSY;
	bellhop_grant_retire(grant);
	kvfree(grant->extents);
	kfree_rcu(grant, rcu);
	unback(&mr->backing);
	kfree(mr);
	return 0;
}
