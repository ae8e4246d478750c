// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* fault.c: fetches pages for requesters that are told when it is done. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "fault.h"
#include "run.h"

/*
 * A requester uses what has come before it needs more: of many pages the first might be gone again
 * when the last has come. A responder loses the packets that come before the pages do.
 */
#define REQUESTER_BYTES (1U << 16)
#define RESPONDER_BYTES (1U << 20)

/* Of one region; each may take long, and who waits for it may give up and ask for another. */
#define MAX_FETCHES 256U

/**
 * struct bellhop_fault - pages that are being fetched
 * @work: the worker
 * @refs: of the worker, and of who wants to know how it ended
 * @need: what for; its demand is referenced
 * @qpn: who is to be woken, or 0
 * @done: it has ended; written by the worker after @got
 * @got: 0 or more; or an error
 */
struct bellhop_fault {
	struct work_struct work;
	refcount_t refs;
	struct bellhop_need need;
	u32 qpn;
	bool done;
	s64 got;
};

static struct workqueue_struct *workqueue;

int bellhop_fault_init(void)
{
	/* As many at a time as there can be, since any of them may wait for long. */
	workqueue = alloc_workqueue("bellhop_fault", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return workqueue ? 0 : -ENOMEM;
}

void bellhop_fault_exit(void)
{
	destroy_workqueue(workqueue);
}

void bellhop_fault_put(struct bellhop_fault *fault)
{
	if (!fault || !refcount_dec_and_test(&fault->refs))
		return;
	bellhop_demand_put(fault->need.demand);
	kfree(fault);
}

static void work(struct work_struct *work)
{
	struct bellhop_fault *fault = container_of(work, struct bellhop_fault, work);
	const struct bellhop_need *need = &fault->need;
	u32 qpn = fault->qpn;

	fault->got =
		qpn ? bellhop_demand_fetch(need->demand, need->offset, need->length, need->how)
		    : bellhop_demand_fetch_all(need->demand, need->offset, need->length, need->how);
	smp_store_release(&fault->done, true); /* pairs with is_done() */
	bellhop_fault_put(fault);
	bellhop_run_resume(qpn);
	module_put(THIS_MODULE);
}

struct bellhop_fault *bellhop_fault_start(const struct bellhop_need *need, u32 qpn)
{
	struct bellhop_fault *fault;

	if (bellhop_demand_users(need->demand) >= MAX_FETCHES)
		return NULL;
	fault = kzalloc(sizeof(*fault), GFP_NOWAIT | __GFP_NOWARN);
	if (!fault)
		return NULL;
	INIT_WORK(&fault->work, work);
	refcount_set(&fault->refs, 2);
	fault->need = *need;
	fault->qpn = qpn;
	bellhop_demand_hold(need->demand);
	/* Its region may go, and all else with it, but not the code. */
	__module_get(THIS_MODULE);
	queue_work(workqueue, &fault->work);
	return fault;
}

static bool is_done(const struct bellhop_fault *fault)
{
	return smp_load_acquire(&fault->done); /* pairs with work() */
}

/* Fetches it, too. */
static bool covers(const struct bellhop_fault *fault, const struct bellhop_need *need)
{
	return fault->need.demand == need->demand && fault->need.offset <= need->offset &&
	       need->offset - fault->need.offset < fault->need.length &&
	       (fault->need.how == need->how || fault->need.how == BELLHOP_FETCH_WRITE);
}

/* It was for the same byte, and that could not be had; that others took it away says nothing. */
static bool has_failed(const struct bellhop_fault *fault, const struct bellhop_need *need)
{
	return fault->need.offset == need->offset && fault->need.how == need->how &&
	       fault->got < 0 && fault->got != -EAGAIN;
}

bool bellhop_fault_raise(struct bellhop_fault **place, const struct bellhop_need *need, u32 qpn)
{
	struct bellhop_fault *last = *place;
	struct bellhop_need some = *need;
	bool failed = false;

	if (last && covers(last, need)) {
		if (!is_done(last))
			return true;
		failed = has_failed(last, need);
	}
	bellhop_fault_put(last);
	some.length = min_t(u64, need->length, qpn ? REQUESTER_BYTES : RESPONDER_BYTES);
	*place = failed ? NULL : bellhop_fault_start(&some, qpn);
	return !failed;
}
