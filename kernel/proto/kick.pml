/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * kick.pml: a model of the work rings of ring.h, (A), (B), (G) and (H), where a sender waits for a
 * receive: take_receive(), wait_for_receive() and bellhop_respond_wake_waiter() of respond.c,
 * bellhop_send_step() of send.c, flush_receive() of flush.c, and the library's RecvQueue::post() and
 * SendQueue::post().
 *
 * Two messages meet two receives. What a kick leads to is shown by run.pml: the queue is
 * looked at once more, by one runner, who sees what was stored before. There is
 * no timer here, so that whoever rests is woken up or rests for ever.
 *
 * Shown: an entry is read as it was written; each message finds its receive without a timer; what was
 * posted to a QP in error is flushed; every run ends.
 */
#define PRODUCER 0 /* recv.ring.hdr->producer */
#define ENTRIES 1 /* of the receive ring: how many are written */
#define WANTED 2 /* recv.ring.hdr->wanted */
#define WAITER 3 /* recv.waiter_qpn */
#define SLOT 4 /* the responder's slot->lock */
#define STATE 5 /* the responder's: nonzero is ERR */
#define WOKEN 6 /* send.woken */
#define CPUS 4
#define EARLY (BIT(PRODUCER) | BIT(ENTRIES) | BIT(WANTED) | BIT(WAITER) | BIT(STATE) | BIT(WOKEN))
#include "base.pml"

#define RECEIVES 2
#define REQUESTER 0
#define RESPONDER 1

bool kicked[2];
byte head, seen; /* recv.ring; under SLOT */
byte received, flushed;
/* send.ring.hdr->producer; the order of post and kick is shown by the other ring. */
byte sends = 1;

inline kick(qp)
{
	d_step { !late[cpu] -> kicked[qp] = true; end_early_loads() }
}

inline come(qp)
{
	d_step { kicked[qp] -> kicked[qp] = false; end_early_loads() }
}

inline fence_before_kick()
{
#ifndef WITHOUT_FENCE_KICK
	smp_mb(); /* G */
#endif
	skip
}

inline bellhop_ring_pending()
{
#ifdef WITHOUT_ACQUIRE_PRODUCER
	READ_ONCE(producer, PRODUCER);
#else
	smp_load_acquire(producer, PRODUCER); /* B */
#endif
	seen = producer
}

inline bellhop_ring_want(want)
{
	smp_store_release(WANTED, want);
#ifndef WITHOUT_FENCE_WANT
	smp_mb(); /* H */
#endif
	skip
}

/* The entry is copied; whether it was written shows in the copy. */
inline bellhop_ring_take()
{
	READ_ONCE(entries, ENTRIES);
	d_step { assert(entries > head); head++ }
}

inline wait_for_receive()
{
	WRITE_ONCE(WAITER, true);
	bellhop_ring_want(true);
#ifndef WITHOUT_SECOND_LOOK
	bellhop_ring_pending();
	if
	:: head != seen -> WRITE_ONCE(WAITER, false); bellhop_ring_want(false)
	:: else
	fi
#endif
}

inline take_receive()
{
	if
	:: head == seen -> bellhop_ring_pending()
	:: else
	fi;
	if
	:: head == seen -> wait_for_receive()
	:: else
	fi;
	if
	:: head == seen -> rnr = true
	:: else -> bellhop_ring_take(); received++
	fi
}

inline bellhop_respond()
{
	spin_lock(SLOT);
	READ_ONCE(state, STATE);
	rnr = false;
	if
	:: state
	:: else -> take_receive()
	fi;
	spin_unlock(SLOT)
}

inline bellhop_respond_wake_waiter()
{
	spin_lock(SLOT);
	bellhop_ring_pending();
	waiter = false;
	if
	:: head != seen ->
		READ_ONCE(waiter, WAITER);
		WRITE_ONCE(WAITER, false);
		READ_ONCE(state, STATE);
#ifdef WITHOUT_WANT_FLUSHES
		bellhop_ring_want(false)
#else
		bellhop_ring_want(state)
#endif
	:: else
	fi;
	spin_unlock(SLOT);
	if
	:: waiter -> WRITE_ONCE(WOKEN, true); kick(REQUESTER) /* bellhop_run_wake() */
	:: else
	fi
}

inline flush_receive()
{
	spin_lock(SLOT);
	bellhop_ring_pending();
	more = (head != seen);
	if
	:: more -> bellhop_ring_take(); flushed++
	:: else
	fi;
	spin_unlock(SLOT)
}

/* The library of the responder. */
proctype receiver(byte cpu)
{
	byte posted, wanted;

	do
	:: posted < RECEIVES ->
		posted++;
		WRITE_ONCE(ENTRIES, posted);
#ifdef WITHOUT_RELEASE_PRODUCER
		WRITE_ONCE(PRODUCER, posted);
#else
		smp_store_release(PRODUCER, posted); /* A */
#endif
		fence_before_kick();
		READ_ONCE(wanted, WANTED);
		if
		:: wanted -> kick(RESPONDER)
		:: else
		fi
	:: else -> break
	od
}

/* The library of the requester posts once more. */
proctype sender(byte cpu)
{
	sends++;
	kick(REQUESTER)
}

/* Somebody else's doing: bellhop_qp_fail(), and a runner follows. */
proctype failure(byte cpu)
{
	spin_lock(SLOT);
	WRITE_ONCE(STATE, true);
#ifndef WITHOUT_WANT_ERROR
	bellhop_ring_want(true);
#endif
	spin_unlock(SLOT);
	kick(RESPONDER)
}

/* The runner of the responder: step() of run.c, as long as there is more. */
proctype responder(byte cpu)
{
	byte producer, entries, waiter, state;
	bool more;

end:
	do
	:: come(RESPONDER);
		do
		:: true ->
			READ_ONCE(state, STATE);
			if
			:: state ->
				flush_receive();
				if
				:: more
				:: else -> break
				fi
			:: else ->
				READ_ONCE(waiter, WAITER);
				if
				:: waiter -> bellhop_respond_wake_waiter()
				:: else
				fi;
				break
			fi
		od
	od
}

/* The runner of the requester: bellhop_send_step(), as long as there is more. */
proctype requester(byte cpu)
{
	byte sent, last, producer, entries, state, woken;
	bool busy, fresh, resting, rnr;

end:
	do
	:: come(REQUESTER);
		do
		:: true ->
			fresh = !busy;
			if
			:: !busy -> /* fetch() */
				last = sends;
				if
				:: sent == last -> break
				:: else -> sent++; busy = true
				fi
			:: else
			fi;
			if
			:: resting -> /* is_resting() */
				READ_ONCE(woken, WOKEN);
				if
				:: woken -> resting = false
				:: else -> break
				fi
			:: else
			fi;
#ifdef WITHOUT_WOKEN_FIRST
			bellhop_respond();
			WRITE_ONCE(WOKEN, false);
#else
			WRITE_ONCE(WOKEN, false);
			bellhop_respond();
#endif
			if
			:: rnr -> resting = true /* bellhop_run_rest() */
			:: else ->
				busy = false;
				if /* has_more() */
#ifndef WITHOUT_LOOK_AFTER_WAIT
				:: !fresh
#endif
				:: sent != last
				:: else -> break
				fi
			fi
		od
	od
}

init {
	byte cpu;

	atomic {
		kicked[REQUESTER] = true;
		run receiver(0);
		run responder(1);
		run requester(2);
		if
		:: run sender(3)
		:: run failure(3)
		fi;
		do
		:: cpu < CPUS -> run processor(cpu); cpu++
		:: else -> cpu = 0; break
		od
	}
	timeout;
	assert(memory[STATE] || received == sends);
	assert(received + flushed == RECEIVES)
}
