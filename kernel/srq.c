// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* srq.c: makes shared receive queues and takes their entries (IBA 10.2.9). */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "cq.h"
#include "device.h"
#include "mapping.h"
#include "pd.h"
#include "proto/quota.h"
#include "srq.h"
#include "tag.h"
#include "ucontext.h"
#include "xrcd.h"

/**
 * struct bellhop_returned - an entry that was taken and not used
 * @list: of struct bellhop_srq
 * @wqe: the entry
 */
struct bellhop_returned {
	struct list_head list;
	struct bellhop_recv_wqe wqe;
};

static void raise_event(struct bellhop_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.event = type,
		.element.srq = &srq->ibsrq,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/* Whether to tell that it runs low. @pending: as bellhop_ring_pending() has it. */
static bool passes_limit(struct bellhop_srq *srq, int pending)
{
	u32 left = (u32)max(pending, 0) + srq->num_returned;

	lockdep_assert_held(&srq->lock);

	if (left >= srq->limit)
		return false;
	srq->limit = 0;
	return true;
}

/* The next entry of the ring, of which so many are pending. */
static enum bellhop_reason take_pending(struct bellhop_srq *srq, int pending,
					struct bellhop_recv_wqe *wqe)
{
	enum bellhop_reason reason;

	if (pending <= 0)
		return pending ? BELLHOP_REASON_RING_INDEX : BELLHOP_REASON_RNR;
	reason = bellhop_wqe_decode_recv(wqe, bellhop_ring_front(&srq->ring), &srq->limits);
	bellhop_ring_take(&srq->ring);
	bellhop_ring_free(&srq->ring);
	return reason ? BELLHOP_REASON_RECV_FAULTY : BELLHOP_REASON_NONE;
}

enum bellhop_reason bellhop_srq_take(struct bellhop_srq *srq, struct bellhop_recv_wqe *wqe)
{
	enum bellhop_reason reason = BELLHOP_REASON_NONE;
	struct bellhop_returned *returned;
	bool is_low, fails;
	int pending;

	spin_lock(&srq->lock);
	pending = bellhop_ring_pending(&srq->ring);
	returned = list_first_entry_or_null(&srq->returned, struct bellhop_returned, list);
	if (returned) {
		list_del(&returned->list);
		srq->num_returned--;
		*wqe = returned->wqe;
	} else {
		reason = take_pending(srq, pending, wqe);
		pending--;
	}
	fails = reason == BELLHOP_REASON_RING_INDEX && !srq->failed;
	srq->failed |= fails;
	is_low = passes_limit(srq, pending);
	spin_unlock(&srq->lock);

	kfree(returned);
	if (fails)
		raise_event(srq, IB_EVENT_SRQ_ERR);
	if (is_low)
		raise_event(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return reason;
}

int bellhop_srq_give_back(struct bellhop_srq *srq, const struct bellhop_recv_wqe *wqe)
{
	struct bellhop_returned *returned = kmalloc(sizeof(*returned), GFP_ATOMIC | __GFP_NOWARN);

	if (!returned)
		return -ENOMEM;
	returned->wqe = *wqe;
	spin_lock(&srq->lock);
	list_add(&returned->list, &srq->returned);
	srq->num_returned++;
	spin_unlock(&srq->lock);
	return 0;
}

static int check(const struct ib_srq_init_attr *attr)
{
	if (attr->srq_type != IB_SRQT_BASIC && !ib_srq_has_cq(attr->srq_type))
		return -EOPNOTSUPP;
	if (ib_srq_has_cq(attr->srq_type) && !attr->ext.cq)
		return -EINVAL;
	if (attr->srq_type == IB_SRQT_XRC && !attr->ext.xrc.xrcd)
		return -EINVAL;
	if (attr->srq_type == IB_SRQT_TM &&
	    (!attr->ext.tag_matching.max_num_tags ||
	     attr->ext.tag_matching.max_num_tags > BELLHOP_MAX_TAGS))
		return -EINVAL;
	if (!attr->attr.max_wr || attr->attr.max_wr > BELLHOP_MAX_SRQ_WR ||
	    attr->attr.max_sge > BELLHOP_MAX_SGE)
		return -EINVAL;
	return 0;
}

/* What only some types have. */
static int make_special(struct bellhop_srq *srq, const struct ib_srq_init_attr *attr)
{
	int err;

	if (!ib_srq_has_cq(attr->srq_type))
		return 0;
	if (attr->srq_type == IB_SRQT_TM) {
		srq->tags = bellhop_tag_create(attr->ext.tag_matching.max_num_tags);
		if (IS_ERR(srq->tags))
			return PTR_ERR(srq->tags);
		bellhop_cq_tag(bellhop_cq_of(attr->ext.cq));
	}
	err = bellhop_xrcd_publish(srq);
	if (err)
		bellhop_tag_destroy(srq->tags);
	return err;
}

static void end_special(struct bellhop_srq *srq)
{
	if (srq->listed)
		bellhop_xrcd_withdraw(srq);
	bellhop_tag_destroy(srq->tags);
}

int bellhop_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct bellhop_srq *srq = bellhop_srq_of(ibsrq);
	struct bellhop_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct bellhop_ucontext, ibucontext);
	u32 *used = &bellhop_device_of(ibsrq->device)->used.srqs;
	struct bellhop_create_srq_resp resp = {};
	int err;

	err = check(attr);
	if (err)
		return err;
	if (attr->srq_type == IB_SRQT_TM && !ucontext)
		return -EOPNOTSUPP;
	if (ucontext && udata->outlen < sizeof(resp))
		return -EINVAL;
	err = bellhop_quota_take(used, BELLHOP_MAX_SRQ);
	if (err)
		return err;

	srq->pdn = bellhop_pd_number(ibsrq->pd);
	srq->limits.max_sge = attr->attr.max_sge;
	mutex_init(&srq->resize_lock);
	spin_lock_init(&srq->lock);
	spin_lock_init(&srq->post_lock);
	INIT_LIST_HEAD(&srq->returned);
	srq->ring.stride = bellhop_wqe_recv_stride(&srq->limits);
	srq->mapping = bellhop_mapping_create_ring(ucontext ? &ucontext->ibucontext : NULL,
						   attr->attr.max_wr, srq->ring.stride, &resp.srq);
	if (IS_ERR(srq->mapping)) {
		err = PTR_ERR(srq->mapping);
		goto err_quota;
	}
	srq->ring.hdr = srq->mapping->memory;
	srq->ring.mask = resp.srq.slots - 1;
	attr->attr.max_wr = resp.srq.slots;
	err = make_special(srq, attr);
	if (err)
		goto err_mapping;
	resp.srqn = srq->listed ? ibsrq->ext.xrc.srq_num : 0;
	err = ucontext ? ib_copy_to_udata(udata, &resp, sizeof(resp)) : 0;
	if (err)
		goto err_special;
	return 0;

err_special:
	end_special(srq);
err_mapping:
	bellhop_mapping_destroy(srq->mapping);
err_quota:
	bellhop_quota_give(used);
	return err;
}

static int set_limit(struct bellhop_srq *srq, u32 limit)
{
	bool is_low = false;
	int err = -EINVAL;

	spin_lock_bh(&srq->lock);
	if (limit <= srq->ring.mask + 1) {
		err = 0;
		srq->limit = limit;
		/* What is below it already is told at once: nothing else might come to tell it. */
		is_low = passes_limit(srq, bellhop_ring_pending(&srq->ring));
	}
	spin_unlock_bh(&srq->lock);
	if (is_low)
		raise_event(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return err;
}

int bellhop_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		       struct ib_udata *udata)
{
	struct bellhop_srq *srq = bellhop_srq_of(ibsrq);
	const u32 *limit = mask & IB_SRQ_LIMIT ? &attr->srq_limit : NULL;
	int err = 0;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	if (mask & IB_SRQ_MAX_WR)
		err = bellhop_srq_resize(srq, attr->max_wr, limit, udata);
	return err || !limit ? err : set_limit(srq, *limit);
}

int bellhop_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct bellhop_srq *srq = bellhop_srq_of(ibsrq);

	attr->max_sge = srq->limits.max_sge;
	spin_lock_bh(&srq->lock);
	attr->max_wr = srq->ring.mask + 1;
	attr->srq_limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

int bellhop_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct bellhop_srq *srq = bellhop_srq_of(ibsrq);
	struct bellhop_returned *returned, *next;

	/* No QP takes from it any more: the core has counted them, but for those of XRC. */
	end_special(srq);
	list_for_each_entry_safe(returned, next, &srq->returned, list) kfree(returned);
	bellhop_mapping_destroy(srq->next_mapping);
	bellhop_mapping_destroy(srq->mapping);
	bellhop_quota_give(&bellhop_device_of(ibsrq->device)->used.srqs);
	return 0;
}
