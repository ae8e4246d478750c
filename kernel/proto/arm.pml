/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * arm.pml: a model of the completion rings of ring.h, (C) to (F), (I) and (J): bellhop_ring_push() and
 * bellhop_ring_fire() as bellhop_cq_push() of cq.c calls them, and the library's CompletionRing and
 * CompletionQueue::poll().
 *
 * Two runners push, under the CQ's lock, into a ring that wraps; the library takes all, and
 * sleeps for an event when it finds nothing after arming. There is always room, since a correct
 * program sees to that. What a resize does is move.pml's.
 *
 * Shown: a completion is read as it was written; none is overwritten before that; whoever armed and
 * sleeps while there is one of the kind that was asked for gets an event; there is one event for each
 * request at most; every loop ends.
 */
#define CONSUMER 0
#define PHASE 1 /* and the next one: of each slot */
#define ENTRY 3 /* and the next one: the rest of it */
#define ARM 5
#define FIRED 6
#define LOCK 7 /* cq->lock */
#define CPUS 3
#define EARLY (BIT(PHASE) | BIT(PHASE + 1) | BIT(ENTRY) | BIT(ENTRY + 1) | BIT(ARM) | BIT(FIRED))
#include "base.pml"

#define SLOTS 2
#define MASK (SLOTS - 1)
#ifdef IN_ORDER
#define PUSHES 2
#else
#define PUSHES 3 /* of both runners together */
#endif
#define ARM_NEXT 1
#define ARM_SOLICITED 2
#define ARM_MASK 3

byte producer, known_consumer, fired; /* of struct bellhop_completion_ring; under LOCK */
byte reserved; /* how much was posted that will complete */
byte events, requests, answers;
bool all_solicited;

inline bellhop_ring_push()
{
	if
	:: producer - known_consumer >= SLOTS ->
#ifdef WITHOUT_CONSUMER
		known_consumer = producer;
#else
		smp_load_acquire(known_consumer, CONSUMER); /* F */
#endif
		assert(producer - known_consumer < SLOTS)
	:: else
	fi;
	WRITE_ONCE(ENTRY + (producer & MASK), producer + 1);
#ifdef WITHOUT_RELEASE_PHASE
	WRITE_ONCE(PHASE + (producer & MASK), !(producer & SLOTS));
#else
	smp_store_release(PHASE + (producer & MASK), !(producer & SLOTS)); /* C */
#endif
	producer++
}

inline bellhop_ring_fire()
{
	fire = false;
#ifndef WITHOUT_FENCE_FIRE
	smp_mb(); /* J */
#endif
	READ_ONCE(arm, ARM);
	if
	:: arm != fired && ((arm & ARM_MASK) == ARM_NEXT ||
			    ((arm & ARM_MASK) == ARM_SOLICITED && solicited)) ->
#ifndef WITHOUT_REMEMBER
		fired = arm;
#endif
#ifndef WITHOUT_FIRED
		WRITE_ONCE(FIRED, arm);
#endif
		fire = true
	:: else
	fi
}

/* The event comes by way of the core's locks. */
inline comp_handler()
{
	d_step {
#ifndef WITHOUT_EVENT_LAST
		!late[cpu] ->
#endif
		events++;
		answers++;
		assert(answers <= requests)
	}
}

/* bellhop_cq_push() */
proctype runner(byte cpu; byte count)
{
	byte arm;
	bool solicited, fire;

	do
	:: count > 0 ->
		count--;
		if
		:: solicited = true
		:: !all_solicited -> solicited = false
		fi;
#ifdef WITHOUT_CONSUMER
		reserved++;
#else
		d_step { reserved - memory[CONSUMER] < SLOTS -> reserved++ };
#endif
		spin_lock(LOCK);
		bellhop_ring_push();
		bellhop_ring_fire();
#ifdef WITHOUT_EVENT_LAST
		if
		:: fire -> comp_handler()
		:: else
		fi;
		fire = false;
#endif
		spin_unlock(LOCK);
		if
		:: fire -> comp_handler()
		:: else
		fi
	:: else -> break
	od
}

inline arm(kind)
{
	READ_ONCE(answered, FIRED);
	if
#ifndef WITHOUT_UPGRADE
	:: armed != answered && (armed & ARM_MASK) != ARM_NEXT -> ask = true
#endif
#ifdef WITHOUT_KEEPING
	:: armed != answered && (armed & ARM_MASK) == ARM_NEXT -> ask = true
#endif
	:: armed == answered -> ask = true
	:: else -> ask = false
	fi;
	if
	:: ask ->
#ifdef WITHOUT_COUNT
		armed = kind;
#else
		armed = (((armed & ~ARM_MASK) + ARM_MASK + 1) & 15) + kind;
#endif
		requests++;
		WRITE_ONCE(ARM, armed)
	:: else
	fi;
#ifndef WITHOUT_FENCE_ARM
	smp_mb(); /* I */
#endif
	skip
}

inline publish()
{
	smp_store_release(CONSUMER, consumer) /* E */
}

inline poll()
{
	do
	:: true ->
#ifdef WITHOUT_ACQUIRE_PHASE
		READ_ONCE(phase, PHASE + (consumer & MASK));
#else
		smp_load_acquire(phase, PHASE + (consumer & MASK)); /* D */
#endif
		if
		:: phase == !(consumer & SLOTS) ->
#ifdef WITHOUT_RELEASE_CONSUMER
			/* The load of the entry comes after what it should precede. */
			consumer++;
			publish();
			READ_ONCE(entry, ENTRY + ((consumer - 1) & MASK));
			assert(entry == consumer)
#else
			READ_ONCE(entry, ENTRY + (consumer & MASK));
			consumer++;
			assert(entry == consumer)
#endif
		:: else -> break
		fi
	od;
	publish()
}

proctype library(byte cpu)
{
	byte consumer, armed, answered, phase, entry;
	bool ask;

	do
	:: true ->
		if
		:: arm(ARM_NEXT)
		:: arm(ARM_SOLICITED); arm(ARM_NEXT)
		:: arm(ARM_NEXT); arm(ARM_SOLICITED)
		:: all_solicited -> arm(ARM_SOLICITED)
		fi;
#ifndef WITHOUT_POLL_AGAIN
		poll();
#endif
		if
		:: consumer == PUSHES -> break
		:: else
		fi;
		d_step { events -> events--; end_early_loads() }
	od
}

init {
	byte cpu;

	atomic {
		if
		:: all_solicited = true
		:: true
		fi;
		run library(0);
		run runner(1, 1);
		run runner(2, PUSHES - 1);
		do
		:: cpu < CPUS -> run processor(cpu); cpu++
		:: else -> cpu = 0; break
		od
	}
}
