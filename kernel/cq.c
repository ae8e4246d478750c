// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* cq.c: makes completion queues and fills them. */
#include <linux/log2.h>
#include "cq.h"
#include "mapping.h"
#include "ucontext.h"

int bellhop_cq_push(struct bellhop_cq *cq, const struct bellhop_completion *completion,
		    bool solicited)
{
	bool fire = false, overrun = false;
	int err = -EOVERFLOW;

	spin_lock(&cq->lock);
	if (!cq->overrun) {
		err = bellhop_ring_push(&cq->ring, completion);
		overrun = err;
		cq->overrun = overrun;
		if (!overrun)
			fire = bellhop_ring_fire(&cq->ring, solicited);
	}
	spin_unlock(&cq->lock);

	if (fire && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	if (overrun && cq->ibcq.event_handler) {
		struct ib_event event = {
			.device = cq->ibcq.device,
			.event = IB_EVENT_CQ_ERR,
			.element.cq = &cq->ibcq,
		};

		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
	}
	return err;
}

int bellhop_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		      struct uverbs_attr_bundle *attrs)
{
	struct bellhop_cq *cq = bellhop_cq_of(ibcq);
	struct ib_udata *udata = &attrs->driver_udata;
	struct bellhop_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct bellhop_ucontext, ibucontext);
	struct bellhop_create_cq_resp resp = {};
	size_t length;
	u32 slots;
	int err;

	if (!ucontext || attr->flags)
		return -EOPNOTSUPP;
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	if (!attr->cqe || attr->cqe > BELLHOP_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;

	slots = roundup_pow_of_two(attr->cqe);
	length = BELLHOP_RING_SLOTS + (size_t)slots * sizeof(struct bellhop_cqe);
	cq->mapping = bellhop_mapping_create(&ucontext->ibucontext, length, false);
	if (IS_ERR(cq->mapping))
		return PTR_ERR(cq->mapping);
	spin_lock_init(&cq->lock);
	cq->ring.hdr = cq->mapping->memory;
	cq->ring.mask = slots - 1;
	ibcq->cqe = slots;

	resp.cq.offset = bellhop_mapping_offset(cq->mapping);
	resp.cq.length = bellhop_mapping_length(cq->mapping);
	resp.cq.slots = slots;
	resp.cq.stride = sizeof(struct bellhop_cqe);
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		bellhop_mapping_destroy(cq->mapping);
	return err;
}

int bellhop_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	bellhop_mapping_destroy(bellhop_cq_of(ibcq)->mapping);
	return 0;
}
