/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * run.pml: a model of run.h; its functions serve the models of their callers, too.
 *
 * Shown: there is one runner at a time, who sees what the one before it has stored; what anybody
 * stored before an enter, which may fail, is seen by a later look; at last the word is idle;
 * every run ends.
 *
 * A caller has the variable found, and entered or left for what is returned.
 */
#ifndef CPUS
#define ALONE
#define RUN 0
#define HEAD 1 /* all that is the runner's stands for it */
#define POSTED 2 /* and the next one: what each kicker stores */
#define KICKERS 2
#define CPUS 4
#define EARLY (BIT(HEAD) | BIT(POSTED) | BIT(POSTED + 1))
#include "base.pml"
#endif

#define BELLHOP_RUN_IDLE 0
#define BELLHOP_RUN 1
#define BELLHOP_RUN_AGAIN 2
#define BELLHOP_RUN_QUEUED 3

inline bellhop_run_enter()
{
	do
	:: true ->
#ifndef WITHOUT_BARRIER_ENTER
		smp_mb(); /* smp_mb__before_atomic() */
#endif
		cmpxchg(found, RUN, BELLHOP_RUN_IDLE, BELLHOP_RUN);
		if
		:: found == BELLHOP_RUN_IDLE -> entered = true; break
#ifndef WITHOUT_AGAIN
		:: found == BELLHOP_RUN ->
			cmpxchg(found, RUN, BELLHOP_RUN, BELLHOP_RUN_AGAIN)
#endif
		:: else
		fi;
		if
		:: found != BELLHOP_RUN_IDLE -> entered = false; break
		:: else
		fi
	od
}

inline bellhop_run_leave()
{
#ifdef WITHOUT_CHECK_LEAVE
	xchg(RUN, BELLHOP_RUN_IDLE);
	left = true
#else
	cmpxchg(found, RUN, BELLHOP_RUN, BELLHOP_RUN_IDLE);
	if
	:: found == BELLHOP_RUN -> left = true
	:: else ->
#if defined(WITHOUT_ORDER_LEAVE)
		WRITE_ONCE(RUN, BELLHOP_RUN);
#elif !defined(WITHOUT_RUN_LEAVE)
		cmpxchg(found, RUN, BELLHOP_RUN_AGAIN, BELLHOP_RUN);
#endif
		left = false
	fi
#endif
}

inline bellhop_run_park()
{
#ifdef WITHOUT_ORDER_PARK
	WRITE_ONCE(RUN, BELLHOP_RUN_QUEUED)
#else
	xchg(RUN, BELLHOP_RUN_QUEUED)
#endif
}

inline bellhop_run_unpark()
{
#ifdef WITHOUT_CHECK_UNPARK
	xchg(RUN, BELLHOP_RUN);
	entered = true
#else
	cmpxchg(found, RUN, BELLHOP_RUN_QUEUED, BELLHOP_RUN);
	entered = (found == BELLHOP_RUN_QUEUED)
#endif
}

#ifdef ALONE

bool parked[2]; /* whenever the word is parked, both workers hear of it */
bool odd; /* looks */
byte runners, seen;

inline look()
{
	READ_ONCE(head, HEAD);
	d_step { assert(runners == 1); assert(head == odd); odd = !odd };
	WRITE_ONCE(HEAD, 1 - head);
	READ_ONCE(posted, POSTED);
	seen = seen | posted;
	READ_ONCE(posted, POSTED + 1);
	seen = seen | (posted << 1)
}

inline leave()
{
	runners--;
	bellhop_run_leave();
	if
	:: left -> break
	:: else -> runners++
	fi
}

#define RUNNER byte head, posted, found; bool entered, left

proctype kicker(byte cpu)
{
	RUNNER;

	WRITE_ONCE(POSTED + cpu, 1);
	bellhop_run_enter();
	if
	:: entered ->
		runners++;
		do
		:: true ->
			look();
			if
			:: true -> leave()
			:: true ->
				runners--;
				bellhop_run_park();
				d_step { parked[0] = true; parked[1] = true };
				break
			fi
		od
	:: else
	fi
}

proctype worker(byte cpu)
{
	RUNNER;

end:
	do
	:: parked[cpu - KICKERS] ->
		parked[cpu - KICKERS] = false;
		bellhop_run_unpark();
		if
		:: entered ->
			runners++;
			do
			:: true -> look(); leave()
			od
		:: else
		fi
	od
}

init {
	byte cpu;

	atomic {
		do
		:: cpu < KICKERS -> run kicker(cpu); run worker(KICKERS + cpu); cpu++
		:: else -> break
		od;
		cpu = 0;
		do
		:: cpu < CPUS -> run processor(cpu); cpu++
		:: else -> cpu = 0; break
		od
	}
	timeout;
	assert(memory[RUN] == BELLHOP_RUN_IDLE);
	assert(!runners);
	assert(seen == 3)
}

#endif
