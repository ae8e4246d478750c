// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * mw.c: allocates, binds and invalidates memory windows.
 *
 * A window that is bound counts in what the region's keys open, which stays until it is zero: the
 * region can then be neither deregistered nor changed.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include "device.h"
#include "mw.h"
#include "pd.h"
#include "qp.h"

static_assert((int)BELLHOP_WINDOW_TYPE_1 == IB_MW_TYPE_1);
static_assert((int)BELLHOP_WINDOW_TYPE_2 == IB_MW_TYPE_2);
static_assert((int)BELLHOP_BIND_REMOTE_WRITE == IB_ACCESS_REMOTE_WRITE);
static_assert((int)BELLHOP_BIND_REMOTE_READ == IB_ACCESS_REMOTE_READ);
static_assert((int)BELLHOP_BIND_REMOTE_ATOMIC == IB_ACCESS_REMOTE_ATOMIC);
static_assert((int)BELLHOP_BIND_ZERO_BASED == IB_ZERO_BASED);

static struct bellhop_mw *mw_of(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct bellhop_mw, ibmw);
}

static struct bellhop_pane *pane_of(struct bellhop_grant *grant)
{
	return container_of(grant, struct bellhop_pane, grant);
}

/* Under RCU. */
static struct bellhop_pane *find(const struct bellhop_device *device, u32 rkey)
{
	struct bellhop_grant *grant = bellhop_keys_find(&device->keys, rkey);

	return grant && grant->is_window ? pane_of(grant) : NULL;
}

enum bellhop_reason bellhop_mw_get(struct bellhop_grant *grant, const struct bellhop_sge *range,
				   u32 pdn, u64 qp_id, u32 access, enum bellhop_side side)
{
	struct bellhop_pane *pane = pane_of(grant);
	enum bellhop_reason reason;

	spin_lock(&pane->lock);
	reason = bellhop_window_check_access(&pane->window, range->lkey, pdn, qp_id, range->addr,
					     range->length, access);
	if (!reason)
		refcount_inc(&grant->refs[side].count);
	spin_unlock(&pane->lock);
	return reason;
}

/*
 * A reader holds a spinlock, copies one bounded piece and does not take the pane's lock before
 * it is done, so this is as if that lock were held by it.
 */
static void wait_for_readers(struct bellhop_pane *pane)
{
	enum bellhop_side side;

	lockdep_assert_held(&pane->lock);

	for (side = 0; side < BELLHOP_SIDES; side++)
		while (refcount_read(&pane->grant.refs[side].count) != 1)
			cpu_relax();
	smp_acquire__after_ctrl_dep(); /* pairs with the release in bellhop_grant_put() */
}

/* Lets go of what the window is bound to, if it is. */
static void detach(struct bellhop_pane *pane)
{
	wait_for_readers(pane);
	if (pane->target)
		bellhop_grant_remove_window(pane->target);
	pane->target = NULL;
}

/* @target: counted already. */
static void attach(struct bellhop_pane *pane, struct bellhop_grant *target,
		   const struct bellhop_bind *bind)
{
	struct bellhop_grant *grant = &pane->grant;

	pane->target = target;
	grant->origin = bellhop_window_origin(&target->region, bind);
	grant->bytes = target->bytes;
	grant->extents = target->extents;
	grant->num_extents = target->num_extents;
	grant->demand = target->demand;
}

/* What the lkey opens, counting the window; NULL with a length of 0. */
static enum bellhop_reason find_target(const struct bellhop_qp *qp, struct bellhop_pane *pane,
				       struct bellhop_grant **target)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	enum bellhop_reason reason;

	/* What is closed is being withdrawn or replaced on another processor, at this moment. */
	for (;; cpu_relax()) {
		*target = wqe->bind.length ? bellhop_keys_find(&qp->device->keys, wqe->bind.lkey)
					   : NULL;
		reason = bellhop_window_check_bind(&pane->window,
						   *target ? &(*target)->region : NULL, &wqe->bind,
						   wqe->head.ex, qp->pdn);
		if (reason || !*target || bellhop_grant_add_window(*target))
			return reason;
	}
}

static enum bellhop_reason bind(const struct bellhop_qp *qp, struct bellhop_pane *pane)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	struct bellhop_grant *target;
	enum bellhop_reason reason;

	lockdep_assert_held(&pane->lock);

	reason = find_target(qp, pane, &target);
	if (reason)
		return reason;
	detach(pane);
	bellhop_window_bind(&pane->window, &wqe->bind, wqe->head.ex, qp->id);
	if (target)
		attach(pane, target, &wqe->bind);
	return BELLHOP_REASON_NONE;
}

enum bellhop_reason bellhop_mw_bind(const struct bellhop_qp *qp)
{
	enum bellhop_reason reason = BELLHOP_REASON_MW_UNKNOWN;
	struct bellhop_pane *pane;

	rcu_read_lock();
	pane = find(qp->device, qp->send.wqe.head.ex);
	if (pane) {
		spin_lock(&pane->lock);
		reason = bind(qp, pane);
		spin_unlock(&pane->lock);
	}
	rcu_read_unlock();
	return reason;
}

enum bellhop_reason bellhop_mw_invalidate(const struct bellhop_qp *qp, u32 rkey)
{
	enum bellhop_reason reason = BELLHOP_REASON_MW_UNKNOWN;
	struct bellhop_pane *pane;

	rcu_read_lock();
	pane = find(qp->device, rkey);
	if (pane) {
		spin_lock(&pane->lock);
		reason = bellhop_window_check_invalidate(&pane->window, rkey, qp->pdn, qp->id);
		if (!reason) {
			detach(pane);
			bellhop_window_unbind(&pane->window, BELLHOP_WINDOW_FREE);
		}
		spin_unlock(&pane->lock);
	}
	rcu_read_unlock();
	return reason;
}

int bellhop_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct bellhop_keys *keys = &bellhop_device_of(ibmw->device)->keys;
	struct bellhop_pane *pane = kzalloc(sizeof(*pane), GFP_KERNEL_ACCOUNT);
	int index;

	if (!pane)
		return -ENOMEM;
	index = bellhop_keys_alloc(keys);
	if (index < 0) {
		kfree(pane);
		return index;
	}
	bellhop_grant_init(&pane->grant);
	pane->grant.is_window = true;
	spin_lock_init(&pane->lock);
	pane->window.type = (enum bellhop_window_type)ibmw->type;
	pane->window.region.pdn = bellhop_pd_number(ibmw->pd);
	pane->window.region.rkey =
		bellhop_key_make(index, (u8)get_random_u32()) | BELLHOP_KEY_REMOTE;
	ibmw->rkey = pane->window.region.rkey;
	mw_of(ibmw)->pane = pane;
	bellhop_keys_publish(keys, index, &pane->grant);
	return 0;
}

int bellhop_mw_dealloc(struct ib_mw *ibmw)
{
	struct bellhop_keys *keys = &bellhop_device_of(ibmw->device)->keys;
	struct bellhop_pane *pane = mw_of(ibmw)->pane;

	bellhop_keys_withdraw(keys, bellhop_key_index(ibmw->rkey));
	spin_lock_bh(&pane->lock);
	detach(pane);
	bellhop_window_unbind(&pane->window, BELLHOP_WINDOW_GONE);
	spin_unlock_bh(&pane->lock);
	kfree_rcu(pane, grant.rcu);
	return 0;
}
