/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * run.h: the run word of a QP, which lets one thread at a time execute its send
 * queue and lets all others leave at once.
 *
 *	IDLE --enter--> RUN --leave--> IDLE
 *	                 | enter (returns false)
 *	                 v
 *	             RUN_AGAIN --leave (returns false)--> RUN
 *
 *	RUN, RUN_AGAIN --park--> QUEUED --unpark--> RUN
 *
 * A runner that has used up its share parks the word for another thread, which has
 * everything to look at again; whoever unparks first is the next runner.
 * Whoever enters runs until leaving succeeds. An enter that comes too late to be
 * seen by the runner's last look at the ring turns RUN into RUN_AGAIN, so that
 * leaving fails and the runner looks once more. What was stored before a failed enter is
 * visible after the failed leave: a cmpxchg that succeeds orders fully, and before one
 * that may fail, and then orders nothing, stands a barrier. run.pml is a model of this.
 */
#ifndef BELLHOP_PROTO_RUN_H
#define BELLHOP_PROTO_RUN_H

#include "base.h"

enum bellhop_run {
	BELLHOP_RUN_IDLE,
	BELLHOP_RUN,
	BELLHOP_RUN_AGAIN,
	BELLHOP_RUN_QUEUED,
};

/**
 * bellhop_run_enter() - tries to become the runner
 * @word: the run word
 *
 * Context: any.
 * Return: true when the caller is the runner now; false when another is and will look again.
 */
static inline bool bellhop_run_enter(u32 *word)
{
	for (;;) {
		u32 found;

		smp_mb__before_atomic(); /* pairs with the full order of leave and park */
		found = cmpxchg(word, BELLHOP_RUN_IDLE, BELLHOP_RUN);

		if (found == BELLHOP_RUN_IDLE)
			return true;
		if (found == BELLHOP_RUN)
			found = cmpxchg(word, BELLHOP_RUN, BELLHOP_RUN_AGAIN);
		if (found != BELLHOP_RUN_IDLE)
			return false;
	}
}

/**
 * bellhop_run_leave() - tries to stop being the runner
 * @word: the run word
 *
 * Context: the runner.
 * Return: true when the caller has left; false when it must look at its queue again.
 */
static inline bool bellhop_run_leave(u32 *word)
{
	if (cmpxchg(word, BELLHOP_RUN, BELLHOP_RUN_IDLE) == BELLHOP_RUN)
		return true;
	/* Only the runner leaves RUN_AGAIN, so this needs no loop; the full order does matter. */
	cmpxchg(word, BELLHOP_RUN_AGAIN, BELLHOP_RUN);
	return false;
}

/**
 * bellhop_run_park() - hands the run word to whoever unparks it
 * @word: the run word
 *
 * Reads what it overwrites, so that what was stored before a failed enter is visible to
 * the next runner.
 * Context: the runner, until this.
 */
static inline void bellhop_run_park(u32 *word)
{
	xchg(word, BELLHOP_RUN_QUEUED);
}

/**
 * bellhop_run_unpark() - tries to become the runner of a parked word
 * @word: the run word
 *
 * Context: any.
 * Return: true when the caller is the runner now.
 */
static inline bool bellhop_run_unpark(u32 *word)
{
	return cmpxchg(word, BELLHOP_RUN_QUEUED, BELLHOP_RUN) == BELLHOP_RUN_QUEUED;
}

#endif /* BELLHOP_PROTO_RUN_H */
