// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* cq.c: makes completion queues and fills them. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/timekeeping.h>
#include "cq.h"
#include "device.h"
#include "inbox.h"
#include "mapping.h"
#include "proto/quota.h"
#include "qp.h"
#include "ucontext.h"

static_assert((int)BELLHOP_WC_RDMA_READ == IB_WC_RDMA_READ);
static_assert((int)BELLHOP_WC_COMP_SWAP == IB_WC_COMP_SWAP);
static_assert((int)BELLHOP_WC_FETCH_ADD == IB_WC_FETCH_ADD);
static_assert((int)BELLHOP_WC_BIND_MW == IB_WC_BIND_MW);
static_assert((int)BELLHOP_WC_LOCAL_INV == IB_WC_LOCAL_INV);
static_assert((int)BELLHOP_WC_RECV_RDMA_WITH_IMM == IB_WC_RECV_RDMA_WITH_IMM);
static_assert((int)BELLHOP_WC_RNR_RETRY_EXC_ERR == IB_WC_RNR_RETRY_EXC_ERR);
static_assert((int)BELLHOP_WC_GRH == IB_WC_GRH);
static_assert((int)BELLHOP_WC_WITH_IMM == IB_WC_WITH_IMM);

static int add_to_inbox(struct bellhop_inbox *inbox, struct bellhop_qp *qp,
			const struct bellhop_completion *completion, bool solicited, bool *fire)
{
	struct ib_wc wc = {
		.wr_id = completion->wr_id,
		.status = completion->status,
		.opcode = completion->opcode,
		.vendor_err = completion->vendor_err,
		.byte_len = completion->byte_len,
		.qp = &qp->ibqp,
		.ex.imm_data = (__force __be32)completion->ex,
		.src_qp = completion->src_qp,
		.wc_flags = completion->wc_flags,
		.sl = completion->sl,
		.port_num = 1,
	};

	if (wc.wc_flags & IB_WC_GRH) {
		wc.wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		wc.network_hdr_type =
			completion->sl == BELLHOP_SL_IPV4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
	}
	if (completion->vlan) {
		wc.wc_flags |= IB_WC_WITH_VLAN;
		wc.vlan_id = completion->vlan - 1;
	}
	return bellhop_inbox_add(inbox, &wc, solicited, fire);
}

static noinline int add_special(struct bellhop_cq *cq, struct bellhop_qp *qp,
				const struct bellhop_completion *completion, bool solicited,
				bool *fire)
{
	int err;

	if (cq->inbox)
		return add_to_inbox(cq->inbox, qp, completion, solicited, fire);
	/* Under the lock, so that no completion is older than the one before. */
	if (completion->wc_flags & BELLHOP_WC_TM_MATCH)
		err = bellhop_ring_push_tagged(&cq->ring, completion, ktime_get_raw_ns(),
					       qp->recv.tmh.tag, qp->recv.tmh.context);
	else
		err = bellhop_ring_push_stamped(&cq->ring, completion, ktime_get_raw_ns(),
						ktime_get_real_ns());
	if (!err)
		*fire = bellhop_ring_fire(&cq->ring, solicited);
	return err;
}

static int add(struct bellhop_cq *cq, struct bellhop_qp *qp,
	       const struct bellhop_completion *completion, bool solicited, bool *fire)
{
	int err;

	if (unlikely(cq->is_special))
		return add_special(cq, qp, completion, solicited, fire);
	err = bellhop_ring_push(&cq->ring, completion);
	if (!err)
		*fire = bellhop_ring_fire(&cq->ring, solicited);
	return err;
}

static noinline void report_overrun(struct bellhop_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ibcq,
	};

	bellhop_counters_count(&bellhop_device_of(cq->ibcq.device)->counters,
			       BELLHOP_COUNTER_CQ_OVERRUNS);
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

int bellhop_cq_push(struct bellhop_cq *cq, struct bellhop_qp *qp,
		    const struct bellhop_completion *completion, bool solicited)
{
	bool fire = false, overrun = false;
	int err = -EOVERFLOW;

	spin_lock(&cq->lock);
	if (!cq->overrun) {
		err = add(cq, qp, completion, solicited, &fire);
		overrun = err;
		cq->overrun = overrun;
	}
	spin_unlock(&cq->lock);

	if (fire && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	if (unlikely(overrun))
		report_overrun(cq);
	return err;
}

static bool is_size(unsigned int cqe)
{
	return cqe && cqe <= BELLHOP_MAX_CQE;
}

/* Takes a place among the device's. @flags: of enum ib_uverbs_ex_create_cq_flags, what may be. */
static int admit(const struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, u32 flags)
{
	if (attr->flags & ~flags)
		return -EOPNOTSUPP;
	if (!is_size(attr->cqe) || attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	return bellhop_quota_take(&bellhop_device_of(ibcq->device)->used.cqs, BELLHOP_MAX_CQ);
}

void bellhop_cq_tag(struct bellhop_cq *cq)
{
	spin_lock_bh(&cq->lock);
	cq->is_special = true;
	spin_unlock_bh(&cq->lock);
}

static void leave(const struct ib_cq *ibcq)
{
	bellhop_quota_give(&bellhop_device_of(ibcq->device)->used.cqs);
}

/* Where the caller may map a ring of @cqe entries or more, and the kernel's end of it. */
static struct bellhop_mapping *create_ring(struct ib_udata *udata, unsigned int cqe,
					   struct bellhop_completion_ring *ring,
					   struct bellhop_ring_map *map)
{
	struct bellhop_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct bellhop_ucontext, ibucontext);
	struct bellhop_mapping *mapping;

	mapping = bellhop_mapping_create_ring(&ucontext->ibucontext, cqe,
					      sizeof(struct bellhop_cqe), map);
	if (IS_ERR(mapping))
		return mapping;
	*ring = (struct bellhop_completion_ring){ .hdr = mapping->memory, .mask = map->slots - 1 };
	return mapping;
}

int bellhop_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		      struct uverbs_attr_bundle *attrs)
{
	struct bellhop_cq *cq = bellhop_cq_of(ibcq);
	struct ib_udata *udata = &attrs->driver_udata;
	struct bellhop_create_cq_resp resp;
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	err = admit(ibcq, attr, IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION);
	if (err)
		return err;

	cq->is_special = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->mapping = create_ring(udata, attr->cqe, &cq->ring, &resp.cq);
	if (IS_ERR(cq->mapping)) {
		err = PTR_ERR(cq->mapping);
		goto err_quota;
	}
	spin_lock_init(&cq->lock);
	ibcq->cqe = resp.cq.slots;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		goto err_mapping;
	return 0;

err_mapping:
	bellhop_mapping_destroy(cq->mapping);
err_quota:
	leave(ibcq);
	return err;
}

int bellhop_cq_create_kernel(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr)
{
	struct bellhop_cq *cq = bellhop_cq_of(ibcq);
	int err;

	err = admit(ibcq, attr, 0);
	if (err)
		return err;
	ibcq->cqe = roundup_pow_of_two(attr->cqe);
	cq->inbox = bellhop_inbox_create(ibcq->cqe);
	if (!cq->inbox) {
		leave(ibcq);
		return -ENOMEM;
	}
	cq->is_special = true;
	spin_lock_init(&cq->lock);
	return 0;
}

int bellhop_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct bellhop_cq *cq = bellhop_cq_of(ibcq);

	bellhop_mapping_destroy(cq->next_mapping);
	bellhop_mapping_destroy(cq->mapping);
	kvfree(cq->inbox);
	leave(ibcq);
	return 0;
}

/*
 * An event is raised with the first completion, which is never later than moderation would have
 * it: to hold it back would take a timer, and save nobody an interrupt.
 */
int bellhop_cq_modify(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct bellhop_cq *cq = bellhop_cq_of(ibcq);

	if (count > BELLHOP_MAX_MODERATION_COUNT || period > BELLHOP_MAX_MODERATION_PERIOD)
		return -EINVAL;
	WRITE_ONCE(cq->moderation_count, count);
	WRITE_ONCE(cq->moderation_period, period);
	return 0;
}

static int make_next(struct bellhop_cq *cq, unsigned int cqe, struct ib_udata *udata)
{
	struct bellhop_resize_cq_resp resp;
	struct bellhop_completion_ring ring;
	struct bellhop_mapping *mapping;
	int err;

	if (!is_size(cqe) || udata->outlen < sizeof(resp))
		return -EINVAL;
	mapping = create_ring(udata, cqe, &ring, &resp.cq);
	if (IS_ERR(mapping))
		return PTR_ERR(mapping);
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (!err) {
		spin_lock_bh(&cq->lock);
		swap(cq->next_mapping, mapping);
		cq->next = ring;
		spin_unlock_bh(&cq->lock);
	}
	bellhop_mapping_destroy(mapping);
	return err;
}

/* Copies nothing to the caller, so that it does not fail when it is done. */
static int move_to_next(struct bellhop_cq *cq)
{
	struct bellhop_mapping *unused = NULL;
	int err = -EINVAL;

	spin_lock_bh(&cq->lock);
	swap(cq->next_mapping, unused);
	if (unused)
		err = bellhop_ring_move(&cq->ring, &cq->next);
	if (!err) {
		swap(cq->mapping, unused);
		cq->ibcq.cqe = (int)cq->ring.mask + 1;
	}
	spin_unlock_bh(&cq->lock);
	bellhop_mapping_destroy(unused);
	return err;
}

static int drop_next(struct bellhop_cq *cq)
{
	struct bellhop_mapping *unused = NULL;

	spin_lock_bh(&cq->lock);
	swap(cq->next_mapping, unused);
	spin_unlock_bh(&cq->lock);
	bellhop_mapping_destroy(unused);
	return 0;
}

int bellhop_cq_resize(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct bellhop_cq *cq = bellhop_cq_of(ibcq);
	struct bellhop_resize_cq request;
	int err;

	if (!udata)
		return -EOPNOTSUPP;
	if (udata->inlen < sizeof(request))
		return -EINVAL;
	err = ib_copy_from_udata(&request, udata, sizeof(request));
	if (err)
		return err;
	if (request.reserved)
		return -EINVAL;
	switch (request.step) {
	case BELLHOP_RESIZE_MAKE:
		return make_next(cq, cqe, udata);
	case BELLHOP_RESIZE_MOVE:
		return move_to_next(cq);
	case BELLHOP_RESIZE_DROP:
		return drop_next(cq);
	default:
		return -EINVAL;
	}
}
