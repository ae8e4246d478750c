// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* srq_resize.c: gives a shared receive queue another ring (IBA 11.2.3.3). */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>
#include "mapping.h"
#include "proto/shared_ring.h"
#include "srq.h"
#include "ucontext.h"

/* Copied before others have their turn. */
#define STEP_BYTES (64U << 10)

static int make_next(struct bellhop_srq *srq, u32 max_wr, u64 answer, struct ib_udata *udata)
{
	struct bellhop_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct bellhop_ucontext, ibucontext);
	struct bellhop_mapping *mapping;
	struct bellhop_ring_map map;
	int err = 0;

	if (!max_wr || max_wr > BELLHOP_MAX_SRQ_WR)
		return -EINVAL;
	mapping = bellhop_mapping_create_ring(&ucontext->ibucontext, max_wr,
					      bellhop_wqe_recv_stride(&srq->limits), &map);
	if (IS_ERR(mapping))
		return PTR_ERR(mapping);
	/* The command has no answer of its own. */
	if (copy_to_user(u64_to_user_ptr(answer), &map, sizeof(map))) {
		err = -EFAULT;
	} else {
		mutex_lock(&srq->resize_lock);
		swap(srq->next_mapping, mapping);
		srq->next = (struct bellhop_work_ring){
			.hdr = srq->next_mapping->memory,
			.mask = map.slots - 1,
			.stride = map.stride,
		};
		mutex_unlock(&srq->resize_lock);
	}
	bellhop_mapping_destroy(mapping);
	return err;
}

static u32 slots_of(const struct bellhop_work_ring *ring)
{
	return ring->mask + 1;
}

/* Where what waits begins and ends, if the next ring can hold it. */
static int find_waiting(struct bellhop_srq *srq, u32 *first, u32 *end)
{
	int pending;

	lockdep_assert_held(&srq->resize_lock);

	spin_lock_bh(&srq->lock);
	pending = bellhop_ring_pending(&srq->ring);
	*first = srq->ring.head;
	*end = srq->ring.seen;
	if (pending >= 0 && (u32)pending + srq->num_returned > slots_of(&srq->next))
		pending = -EINVAL;
	spin_unlock_bh(&srq->lock);
	return min(pending, 0);
}

/* Only who resizes gives the ring other memory, so the memory stays without the lock. */
static int copy_waiting(struct bellhop_srq *srq, u32 first, u32 end)
{
	u32 most = max(STEP_BYTES / srq->next.stride, 1U);

	while (first != end) {
		u32 count = min(end - first, most);

		if (fatal_signal_pending(current))
			return -EINTR;
		bellhop_shared_ring_copy(&srq->ring, &srq->next, first, count);
		first += count;
		cond_resched();
	}
	return 0;
}

static int take_next(struct bellhop_srq *srq, u32 end, const u32 *limit)
{
	int err = -EINVAL;

	spin_lock_bh(&srq->lock);
	if ((limit ? *limit : srq->limit) <= slots_of(&srq->next) &&
	    end - srq->ring.head + srq->num_returned <= slots_of(&srq->next))
		err = bellhop_shared_ring_move(&srq->ring, &srq->next, end);
	if (!err)
		swap(srq->mapping, srq->next_mapping);
	spin_unlock_bh(&srq->lock);
	return err;
}

/* A ring that it cannot move to stays, to be dropped. */
static int move_to_next(struct bellhop_srq *srq, const u32 *limit)
{
	u32 first, end;
	int err = -EINVAL;

	mutex_lock(&srq->resize_lock);
	if (!srq->next_mapping)
		goto out;
	err = find_waiting(srq, &first, &end)
		      ?: copy_waiting(srq, first, end)
		      ?: take_next(srq, end, limit);
	if (err)
		goto out;
	bellhop_mapping_destroy(srq->next_mapping);
	srq->next_mapping = NULL;
out:
	mutex_unlock(&srq->resize_lock);
	return err;
}

static int drop_next(struct bellhop_srq *srq)
{
	struct bellhop_mapping *unused = NULL;

	mutex_lock(&srq->resize_lock);
	swap(srq->next_mapping, unused);
	mutex_unlock(&srq->resize_lock);
	bellhop_mapping_destroy(unused);
	return 0;
}

int bellhop_srq_resize(struct bellhop_srq *srq, u32 max_wr, const u32 *limit,
		       struct ib_udata *udata)
{
	struct bellhop_modify_srq request;
	int err;

	if (!udata)
		return -EOPNOTSUPP;
	if (udata->inlen < sizeof(request))
		return -EINVAL;
	err = ib_copy_from_udata(&request, udata, sizeof(request));
	if (err)
		return err;
	if (request.reserved || (request.answer && request.step != BELLHOP_RESIZE_MAKE))
		return -EINVAL;
	switch (request.step) {
	case BELLHOP_RESIZE_MAKE:
		return make_next(srq, max_wr, request.answer, udata);
	case BELLHOP_RESIZE_MOVE:
		return move_to_next(srq, limit);
	case BELLHOP_RESIZE_DROP:
		return drop_next(srq);
	default:
		return -EINVAL;
	}
}
