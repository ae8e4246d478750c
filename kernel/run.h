/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * run.h: who executes a QP, and for how long.
 *
 * A QP has at most one runner at a time (proto/run.h). A kick makes the caller the
 * runner, for a bounded share of work; what is left goes to a worker, which inherits
 * the run word. Timers and peers that want a QP executed give it to the worker, too.
 */
#ifndef BELLHOP_RUN_H
#define BELLHOP_RUN_H

#include <linux/types.h>

struct bellhop_qp;

/**
 * struct bellhop_share - what a runner may still do before it must make way
 * @wqes: entries
 * @bytes: of payload
 */
struct bellhop_share {
	u32 wqes;
	u32 bytes;
};

/**
 * bellhop_run_charge() - charges a look at the queue that moved nothing
 * @share: the runner's
 *
 * Context: any.
 */
static inline void bellhop_run_charge(struct bellhop_share *share)
{
	if (share->wqes)
		share->wqes--;
}

/**
 * bellhop_run_init() - makes the workqueue
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int bellhop_run_init(void);

/**
 * bellhop_run_exit() - ends the workqueue; no QP is left
 *
 * Context: may sleep.
 */
void bellhop_run_exit(void);

/**
 * bellhop_run_setup() - makes a new QP runnable
 * @qp: not yet published
 *
 * Context: may sleep.
 */
void bellhop_run_setup(struct bellhop_qp *qp);

/**
 * bellhop_run_kick() - executes a QP in the caller's context
 * @context_id: the caller's context
 * @qpn: any number
 *
 * Context: process; does not sleep.
 * Return: 0, or -ENOENT when the context has no such QP.
 */
int bellhop_run_kick(u64 context_id, u32 qpn);

/**
 * bellhop_run_defer() - has a QP executed soon
 * @qp: the caller keeps it there: by its slot's lock or gate, or by being its timer
 *
 * Context: any.
 */
void bellhop_run_defer(struct bellhop_qp *qp);

/**
 * bellhop_run_wake() - defers the QP of a number, and ends the wait of its sender
 * @qpn: any number
 *
 * Context: any but hard interrupts; no slot's gate is held.
 */
void bellhop_run_wake(u32 qpn);

/**
 * bellhop_run_resume() - executes the QP of a number in the caller's context, and ends the wait of
 * its sender
 * @qpn: any number
 *
 * Nothing comes between what the sender has waited for and its using it.
 * Context: process; does not sleep.
 */
void bellhop_run_resume(u32 qpn);

/**
 * bellhop_run_poke() - executes the QP of a number in the caller's context
 * @qpn: any number
 *
 * Context: bottom halves are off; no slot's lock or gate is held.
 */
void bellhop_run_poke(u32 qpn);

/**
 * bellhop_run_hold() - waits for the runner to leave and keeps others out
 * @qp: the QP; the caller excludes other holders
 *
 * A runner looks up after every bounded step, so this does not take long.
 * Context: may sleep.
 */
void bellhop_run_hold(struct bellhop_qp *qp);

/**
 * bellhop_run_release() - lets runners in again, and one in at once
 * @qp: held
 *
 * Context: may sleep.
 */
void bellhop_run_release(struct bellhop_qp *qp);

/**
 * bellhop_run_stop() - ends all execution of a QP
 * @qp: withdrawn from its slot
 *
 * Context: may sleep.
 */
void bellhop_run_stop(struct bellhop_qp *qp);

/**
 * bellhop_run_rest() - the sender tries again later
 * @qp: the caller is its runner
 * @wait_ns: how much later; a millisecond at least
 *
 * Context: any.
 */
void bellhop_run_rest(struct bellhop_qp *qp, u64 wait_ns);

#endif
