/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * move.pml: a model of a completion queue that is resized: bellhop_ring_move() of ring.h as
 * bellhop_cq_resize() of cq.c calls it, and the library's CompletionQueue::resize() and front(). What
 * goes on in each of the two rings is arm.pml's.
 *
 * A runner pushes; the library may ask for an event, may poll, resizes its queue, and then takes all,
 * asking again and sleeping when it finds nothing. No slot is used twice.
 *
 * Shown: completions are taken in order, and none is lost; whoever asked and sleeps gets an event,
 * also if it asked before the move; there is one event for each request at most; every loop ends.
 */
#define LOCK 0 /* cq->lock */
#define OLD 1 /* and the next one: the entries of the ring, which are not 0 when they are there */
#define NEW 3 /* and the next one */
#define ARM_OLD 5
#define ARM_NEW 6
#define FIRED 7 /* of the new ring: in the old one the library asks once */
#define CPUS 2
#define EARLY (BIT(OLD) | BIT(OLD + 1) | BIT(NEW) | BIT(NEW + 1) | BIT(ARM_OLD) | BIT(ARM_NEW) | BIT(FIRED))
#include "base.pml"

#define PUSHES 2

/* The kernel's; under LOCK. */
bool moved;
byte producer, pushed, fired;

byte events, requests, answers;

inline bellhop_ring_push()
{
	pushed++;
	if
	:: moved -> smp_store_release(NEW + producer, pushed) /* C */
	:: else -> smp_store_release(OLD + producer, pushed)
	fi;
	producer++
}

inline bellhop_ring_fire()
{
	smp_mb(); /* J */
	if
	:: moved -> READ_ONCE(arm, ARM_NEW)
	:: else -> READ_ONCE(arm, ARM_OLD)
	fi;
	fire = arm != fired;
	if
	:: fire ->
		fired = arm;
		if
		:: moved -> WRITE_ONCE(FIRED, arm)
		:: else
		fi
	:: else
	fi
}

inline comp_handler()
{
	d_step {
		!late[cpu] ->
		events++;
		answers++;
		assert(answers <= requests)
	}
}

/* bellhop_cq_push() */
proctype runner(byte cpu)
{
	byte arm;
	bool fire;

	do
	:: pushed < PUSHES ->
		spin_lock(LOCK);
		bellhop_ring_push();
		bellhop_ring_fire();
		spin_unlock(LOCK);
		if
		:: fire -> comp_handler()
		:: else
		fi
	:: else -> break
	od
}

inline bellhop_ring_move()
{
#ifndef WITHOUT_LOCK
	spin_lock(LOCK);
#endif
#ifndef WITHOUT_ARM
	READ_ONCE(entry, ARM_OLD);
	WRITE_ONCE(ARM_NEW, entry);
#endif
#ifndef WITHOUT_FIRED
	WRITE_ONCE(FIRED, fired);
#endif
#ifdef WITHOUT_PRIVATE_FIRED
	fired = 0;
#endif
	moved = true;
	producer = 0;
#ifndef WITHOUT_LOCK
	spin_unlock(LOCK);
#endif
	resized = true
}

inline arm()
{
	if
	:: resized -> READ_ONCE(answered, FIRED)
	:: else
	fi;
	if
	:: armed == answered ->
		armed++;
		requests++;
		if
#ifdef WITHOUT_NEWEST
		/* The ring that is read, not the one that is filled. */
		:: !at_new -> WRITE_ONCE(ARM_OLD, armed)
		:: else -> WRITE_ONCE(ARM_NEW, armed)
#else
		:: resized -> WRITE_ONCE(ARM_NEW, armed)
		:: else -> WRITE_ONCE(ARM_OLD, armed)
#endif
		fi
	:: else
	fi;
	smp_mb() /* I */
}

inline take()
{
	assert(entry == taken + 1);
	taken++;
	consumer++
}

inline poll()
{
	do
	:: !at_new && consumer < 2 ->
#ifdef WITHOUT_OLD_FIRST
		entry = 0;
#else
		smp_load_acquire(entry, OLD + consumer); /* D */
#endif
		if
		:: entry -> take()
		:: !entry && resized -> at_new = true; consumer = 0
		:: !entry && !resized -> break
		fi
	:: at_new && consumer < 2 ->
		smp_load_acquire(entry, NEW + consumer);
		if
		:: entry -> take()
		:: else -> break
		fi
	:: at_new && consumer == 2 -> break
	:: !at_new && consumer == 2 && !resized -> break
	:: !at_new && consumer == 2 && resized -> at_new = true; consumer = 0
	od
}

proctype library(byte cpu)
{
	byte consumer, taken, armed, answered, entry;
	bool resized, at_new;

	if
	:: arm()
	:: true
	fi;
	if
	:: poll()
	:: true
	fi;
	bellhop_ring_move();
	do
	:: true ->
		arm();
		poll();
		if
		:: taken == PUSHES -> break
		:: else
		fi;
		d_step { events -> events--; end_early_loads() }
	od
}

init {
	atomic {
		run library(0);
		run runner(1);
		run processor(0);
		run processor(1)
	}
}
