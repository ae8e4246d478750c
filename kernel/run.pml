/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * run.pml: a model of run.c: kicks, the worker, those who defer, and a holder, around the run
 * word of one QP. What is called run() there is runs() here, since run is a word of the language.
 *
 * Shown: there is one runner at a time, and each sees what the one before it has done; when all is
 * quiet, whatever was posted and kicked, or stored and deferred, has been looked at, and the word
 * is idle; a QP that was stopped is touched by nobody; every run ends.
 */
#define RUN 0
#define HOLD 1
#define GATE 2 /* slot->gate */
#define PRODUCER 3 /* send.ring.hdr->producer */
#define STATE 4 /* recv.rules.state: nonzero is ERR */
#define HEAD 5 /* send.ring.head; all that is the runner's stands for it */
#define SLOT 6 /* slot->lock */
#define CPUS 4
/* Of the others, locks and the run word are only changed at once, and HEAD is read behind such a change. */
#define EARLY (BIT(HOLD) | BIT(PRODUCER) | BIT(STATE))

#include "proto/base.pml"
#include "proto/run.pml"

bool reachable = true; /* slot->qp and slot->gate_qp; under SLOT and GATE */
bool queued; /* the work item waits for the worker */
bool working;
bool expiring; /* the timer's function runs */
bool cancelled; /* the timer will not run any more */
bool asleep; /* the holder, in wait_event() */
bool freed;
byte runners;
byte published;
byte executed;
bool flushed;

#define TOUCH assert(!freed)

/* Always a full barrier, since the bit that it sets is. */
inline queue_work()
{
	d_step {
		!late[cpu] ->
		TOUCH;
		queued = true;
		end_early_loads()
	}
}

/* The lock of the wait queue orders it against the sleeper's last look. */
inline wake_up()
{
	d_step { !late[cpu] -> TOUCH; asleep = false }
}

/* send.c: fetch() and has_more(); flush.c: bellhop_flush_step(). */
inline step()
{
	TOUCH;
	READ_ONCE(state, STATE);
	READ_ONCE(head, HEAD);
	smp_load_acquire(producer, PRODUCER);
	d_step {
		assert(runners == 1);
		assert(head == executed);
		more = false;
		if
		:: head != producer ->
			executed++;
			head++;
			more = (state || head != producer)
		:: else
		fi;
		if
		:: state && !flushed -> flushed = true; more = true
		:: else
		fi
	}
	WRITE_ONCE(HEAD, head)
}

inline make_way()
{
	spin_lock(GATE);
	TOUCH;
	READ_ONCE(hold, HOLD);
	runners--;
	if
	:: hold ->
		smp_store_release(RUN, BELLHOP_RUN_IDLE);
#ifndef WITHOUT_WAKE_UP
		wake_up()
#endif
	:: else ->
#ifdef WITHOUT_PARK_FIRST
		queue_work();
		bellhop_run_park()
#else
		bellhop_run_park();
		queue_work()
#endif
	fi;
	spin_unlock(GATE)
}

/* share is 0 to begin with when a fatal signal is pending. */
inline runs()
{
	runners++;
	do
	:: true ->
#ifdef WITHOUT_LOOK_HOLD
		hold = false;
#else
		READ_ONCE(hold, HOLD);
#endif
		if
		:: hold || !share -> make_way(); break
		:: else
		fi;
		step();
		if
		:: more -> share--
		:: else ->
			runners--;
			bellhop_run_leave();
			if
			:: left -> break
			:: else -> runners++; share--
			fi
		fi
	od
}

#define RUNNER byte head, producer, state, hold, found, share; bool entered, left, more

inline bellhop_run_kick()
{
	spin_lock(GATE);
	entered = false;
	if
	:: reachable ->
		READ_ONCE(hold, HOLD);
		if
		:: hold
		:: else -> bellhop_run_enter()
		fi
	:: else
	fi;
	spin_unlock(GATE);
	if
	:: entered -> runs()
	:: else
	fi
}

inline bellhop_run_defer()
{
	TOUCH;
#ifndef WITHOUT_BARRIER_DEFER
	smp_mb();
#endif
	READ_ONCE(hold, HOLD);
	if
	:: hold
	:: else ->
		bellhop_run_enter();
		if
		:: entered -> bellhop_run_park(); queue_work()
		:: else
		fi
	fi
}

inline bellhop_run_hold()
{
	spin_lock(GATE);
	WRITE_ONCE(HOLD, true);
	spin_unlock(GATE);
	do
	:: true ->
		asleep = true;
		smp_mb();
		bellhop_run_unpark();
#ifndef WITHOUT_ENTER_HOLD
		if
		:: !entered -> bellhop_run_enter()
		:: else
		fi;
#endif
		if
		:: entered -> asleep = false; break
		:: else -> !asleep
		fi
	od;
#ifndef WITHOUT_GATE_HOLD
	spin_lock(GATE);
	spin_unlock(GATE);
#endif
	skip
}

inline bellhop_run_release()
{
	spin_lock(GATE);
	WRITE_ONCE(HOLD, false);
	spin_unlock(GATE);
#ifndef WITHOUT_BARRIER_RELEASE
	smp_mb();
#endif
#ifdef WITHOUT_RUN_RELEASE
	xchg(RUN, BELLHOP_RUN_IDLE)
#else
	runs()
#endif
}

inline bellhop_run_stop()
{
	bellhop_run_hold();
#ifndef WITHOUT_CANCEL_TIMER
	d_step { !expiring -> cancelled = true };
#endif
#ifndef WITHOUT_CANCEL_WORK
	queued = false;
	!working;
#endif
	skip
}

/* SendQueue::post() and kick_if_needed() of userspace/; need_kick is always set. */
proctype poster(byte cpu)
{
	RUNNER;

	d_step { memory[PRODUCER] == published -> published++; producer = published };
	smp_store_release(PRODUCER, producer); /* A */
	smp_mb(); /* G */
	if
	:: share = 0
	:: share = 1
	fi;
	bellhop_run_kick()
}

proctype worker(byte cpu)
{
	RUNNER;

end:
	do
	:: d_step { queued && !late[cpu] -> queued = false; working = true; end_early_loads() };
		TOUCH;
		share = 2;
		bellhop_run_unpark();
		if
		:: entered -> runs()
		:: else
		fi;
		working = false
	od
}

/* Stores what a runner is to find, and defers the QP. */
proctype deferrer(byte cpu)
{
	RUNNER;

	if
	:: true -> /* respond.c: bellhop_qp_fail() and what follows it */
		spin_lock(SLOT);
		if
		:: reachable -> WRITE_ONCE(STATE, true); bellhop_run_defer()
		:: else
		fi;
		spin_unlock(SLOT)
	:: true -> /* bellhop_run_wake() */
		spin_lock(GATE);
		if
		:: reachable -> WRITE_ONCE(STATE, true); bellhop_run_defer()
		:: else
		fi;
		spin_unlock(GATE)
	:: d_step { !cancelled -> expiring = true } -> /* timer_expired(); the clock is what is stored */
		WRITE_ONCE(STATE, true);
		bellhop_run_defer();
		expiring = false
	fi
}

proctype holder(byte cpu)
{
	RUNNER;

	if
	:: true -> /* bellhop_qp_modify() */
		bellhop_run_hold();
		runners++;
		spin_lock(SLOT);
		assert(runners == 1);
		spin_unlock(SLOT);
		runners--;
		share = 1;
		bellhop_run_release()
	:: true -> /* bellhop_qp_destroy() */
		spin_lock(SLOT);
		spin_lock(GATE);
#ifndef WITHOUT_WITHDRAW
		reachable = false;
#endif
		spin_unlock(GATE);
		spin_unlock(SLOT);
		bellhop_run_stop();
		assert(!runners);
		freed = true
	fi
}

init {
	byte cpu;

	atomic {
		run worker(0);
		run poster(1);
		if
		:: run poster(2)
		:: run deferrer(2); run holder(3)
		fi;
		do
		:: cpu < CPUS -> run processor(cpu); cpu++
		:: else -> cpu = 0; break
		od
	}
	timeout;
	assert(freed || memory[RUN] == BELLHOP_RUN_IDLE);
	assert(freed || executed == published);
	assert(freed || flushed == memory[STATE])
}
