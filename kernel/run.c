// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* run.c: kicks, the worker and the timer, around the run word; run.pml is a model of it. */
#include <linux/bottom_half.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>
#include "device.h"
#include "flush.h"
#include "proto/run.h"
#include "qp.h"
#include "receive.h"
#include "run.h"
#include "send.h"
#include "slot.h"

/*
 * A kick's share is what a caller can lose without noticing: it has asked for the work,
 * but a signal must find it soon. The worker's is larger, and between two of them
 * others have their turn.
 */
#define KICK_WQES 64
#define KICK_BYTES (1U << 20)
#define WORK_WQES 256
#define WORK_BYTES (4U << 20)

/*
 * A sender rests this long at least: the receiver's own kick wakes it, so its timer is
 * a minimum (IBA 9.7.5.2.8) and need not run every 10 us for as long as a program likes.
 */
#define REST_MIN_NS NSEC_PER_MSEC

static struct workqueue_struct *workqueue;

static bool execute(struct bellhop_qp *qp, struct bellhop_share *share)
{
	if (bellhop_state_flushes_sends(bellhop_qp_state(qp)))
		return bellhop_flush_step(qp, share);
	if (READ_ONCE(qp->recv.waiter_qpn))
		bellhop_receive_wake_waiter(qp);
	return bellhop_send_step(qp, share);
}

/*
 * One bounded step. False: there is nothing to do now. The network's softirqs take the same locks
 * (slot.h), so they are kept out, once for all locks of the step.
 */
static bool step(struct bellhop_qp *qp, struct bellhop_share *share)
{
	bool more;

	local_bh_disable();
	more = execute(qp, share);
	local_bh_enable();
	return more;
}

/*
 * Ends a run before its time: for somebody who holds the QP, and may free it as soon as
 * the gate opens, or else for the worker.
 */
static void make_way(struct bellhop_qp *qp)
{
	struct bellhop_slot *slot = qp->slot;

	spin_lock_bh(&slot->gate);
	if (qp->hold) {
		/* Pairs with the holder's enter: what this run did is seen. */
		smp_store_release(&qp->run, BELLHOP_RUN_IDLE);
		wake_up(&qp->held);
	} else {
		bellhop_counters_count(&qp->device->counters, BELLHOP_COUNTER_SHARES_LEFT);
		bellhop_run_park(&qp->run);
		queue_work(workqueue, &qp->work);
	}
	spin_unlock_bh(&slot->gate);
}

/*
 * Called with the run word; ends without it. Once leaving has succeeded the QP is not
 * touched: its owner may be about to free it. Looking in vain costs a share, too, since
 * others can make the runner look again for as long as they like.
 */
static void run(struct bellhop_qp *qp, struct bellhop_share *share)
{
	while (!READ_ONCE(qp->hold) && share->wqes && share->bytes &&
	       !fatal_signal_pending(current)) {
		if (step(qp, share))
			continue;
		if (bellhop_run_leave(&qp->run))
			return;
		bellhop_run_charge(share);
	}
	make_way(qp);
}

static void work(struct work_struct *work)
{
	struct bellhop_share share = { .wqes = WORK_WQES, .bytes = WORK_BYTES };
	struct bellhop_qp *qp = container_of(work, struct bellhop_qp, work);

	/* A holder may have been faster. */
	if (bellhop_run_unpark(&qp->run))
		run(qp, &share);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	bellhop_run_defer(container_of(timer, struct bellhop_qp, timer));
	return HRTIMER_NORESTART;
}

int bellhop_run_init(void)
{
	workqueue = alloc_workqueue("bellhop", WQ_UNBOUND, 0);
	return workqueue ? 0 : -ENOMEM;
}

void bellhop_run_exit(void)
{
	destroy_workqueue(workqueue);
}

void bellhop_run_setup(struct bellhop_qp *qp)
{
	init_waitqueue_head(&qp->held);
	INIT_WORK(&qp->work, work);
	hrtimer_setup(&qp->timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

int bellhop_run_kick(u64 context_id, u32 qpn)
{
	struct bellhop_share share = { .wqes = KICK_WQES, .bytes = KICK_BYTES };
	struct bellhop_slot *slot = bellhop_slot_find(qpn);
	struct bellhop_qp *qp;
	bool enter;

	if (!slot)
		return -ENOENT;
	spin_lock_bh(&slot->gate);
	qp = slot->gate_qp;
	if (!qp || slot->gate_qpn != qpn || qp->context_id != context_id) {
		spin_unlock_bh(&slot->gate);
		return -ENOENT;
	}
	WRITE_ONCE(qp->kicks, qp->kicks + 1);
	enter = !qp->hold && bellhop_run_enter(&qp->run);
	spin_unlock_bh(&slot->gate);
	if (enter)
		run(qp, &share);
	return 0;
}

void bellhop_run_defer(struct bellhop_qp *qp)
{
	/*
	 * Pairs with bellhop_run_release(): whoever leaves the QP to its holder here has stored
	 * the reason where the holder's run finds it.
	 */
	smp_mb();
	if (!READ_ONCE(qp->hold) && bellhop_run_enter(&qp->run)) {
		bellhop_counters_count(&qp->device->counters, BELLHOP_COUNTER_DEFERRED);
		bellhop_run_park(&qp->run);
		queue_work(workqueue, &qp->work);
	}
}

void bellhop_run_wake(u32 qpn)
{
	struct bellhop_slot *slot = bellhop_slot_find(qpn);

	if (!slot)
		return;
	spin_lock_bh(&slot->gate);
	if (slot->gate_qp && slot->gate_qpn == qpn) {
		WRITE_ONCE(slot->gate_qp->send.woken, true);
		bellhop_run_defer(slot->gate_qp);
	}
	spin_unlock_bh(&slot->gate);
}

static void execute_here(u32 qpn, bool wake)
{
	struct bellhop_share share = { .wqes = KICK_WQES, .bytes = KICK_BYTES };
	struct bellhop_slot *slot = bellhop_slot_find(qpn);
	bool enter = false;
	struct bellhop_qp *qp;

	if (!slot)
		return;
	spin_lock_bh(&slot->gate);
	qp = slot->gate_qp;
	if (qp && slot->gate_qpn == qpn) {
		if (wake)
			WRITE_ONCE(qp->send.woken, true);
		enter = !qp->hold && bellhop_run_enter(&qp->run);
	}
	spin_unlock_bh(&slot->gate);
	if (enter)
		run(qp, &share);
}

void bellhop_run_resume(u32 qpn)
{
	execute_here(qpn, true);
}

void bellhop_run_poke(u32 qpn)
{
	execute_here(qpn, false);
}

void bellhop_run_hold(struct bellhop_qp *qp)
{
	struct bellhop_slot *slot = qp->slot;

	spin_lock_bh(&slot->gate);
	WRITE_ONCE(qp->hold, true);
	spin_unlock_bh(&slot->gate);
	/*
	 * A failed enter makes the runner look again, and then it sees the hold. One that
	 * is queued behind others is not waited for. A runner that has just left may still
	 * be inside the gate.
	 */
	wait_event(qp->held, bellhop_run_unpark(&qp->run) || bellhop_run_enter(&qp->run));
	spin_lock_bh(&slot->gate);
	spin_unlock_bh(&slot->gate);
}

void bellhop_run_release(struct bellhop_qp *qp)
{
	struct bellhop_share share = { .wqes = KICK_WQES, .bytes = KICK_BYTES };

	spin_lock_bh(&qp->slot->gate);
	WRITE_ONCE(qp->hold, false);
	spin_unlock_bh(&qp->slot->gate);
	smp_mb(); /* pairs with bellhop_run_defer(), which need not come by the gate */
	/* What was kept waiting could not enter; the holder runs in its place. */
	run(qp, &share);
}

void bellhop_run_stop(struct bellhop_qp *qp)
{
	bellhop_run_hold(qp);
	hrtimer_cancel(&qp->timer);
	cancel_work_sync(&qp->work);
}

void bellhop_run_rest(struct bellhop_qp *qp, u64 wait_ns)
{
	wait_ns = max_t(u64, wait_ns, REST_MIN_NS);
	qp->send.resume_ns = ktime_get_ns() + wait_ns;
	hrtimer_start(&qp->timer, ns_to_ktime(wait_ns), HRTIMER_MODE_REL);
}
