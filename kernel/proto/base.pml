/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * base.pml: what the words of base.h, and the kernel's locks, mean on a machine that
 * orders as little as one may; for the models.
 *
 * There is one memory, and what is in it is seen by all. But a processor's stores
 * reach it late and in any order, and its loads may have come early:
 *
 *	stored	what the processor has stored and memory does not have yet. Only the
 *		processor itself sees it. A release store waits for the stores before it.
 *	loaded	what a word was at the processor's last barrier, if others have changed
 *		it since. A load finds this or what is there now; after an acquire
 *		load that finds what is there now, all others do, too.
 *
 * A full barrier waits until all stores are in memory, and ends early loads. So
 * does an atomic operation that changes something; a cmpxchg() that finds another
 * value orders nothing. Taking a lock ends early loads but waits for no store.
 *
 * Two stores to one word that nothing separates may reach memory as one. No store comes
 * before a load that precedes it.
 *
 * A model defines CPUS, numbers its shared words from 0 to 7, whose values are 0 to 15, and names in
 * EARLY those whose early loads can matter. Each of its threads has a processor of its own: the
 * variable cpu.
 */

/* Stores still come late. The search is much shorter, and finds whatever has nothing to do with loads. */
#ifdef IN_ORDER
#undef EARLY
#define EARLY 0
#endif
#define WORDS 8
#define BIT(word) (1 << (word))
#define GET(packed, word) (((packed) >> (4 * (word))) & 15)
#define SET(packed, word, value) packed = (packed & ~(15 << (4 * (word)))) | ((value) << (4 * (word)))

byte memory[WORDS];
byte late[CPUS]; /* words that are in stored */
byte early[CPUS]; /* words that are in loaded */
int stored[CPUS]; /* four bits for each word, here and in loaded */
int loaded[CPUS];
int waits_low[CPUS]; /* what a store waits for: eight bits for each word, 0 to 3 here */
int waits_high[CPUS]; /* and 4 to 7 here */
hidden byte other;

#define WAITS(word) \
	((((word) < 4 -> waits_low[cpu] : waits_high[cpu]) >> (8 * ((word) % 4))) & 255)
/* This bit of four bytes. */
#define COLUMN(word) (16843009 << (word))

/* In memory a word changes. */
inline change(word, value)
{
	other = 0;
	do
	:: other < CPUS ->
		if
		:: other != cpu && (EARLY & BIT(word)) && memory[word] != (value) &&
			!(early[other] & BIT(word)) ->
			early[other] = early[other] | BIT(word);
			SET(loaded[other], word, memory[word])
		:: else
		fi;
		other++
	:: else -> break
	od;
	memory[word] = value
}

inline end_early_load(word)
{
	early[cpu] = early[cpu] & ~BIT(word);
	SET(loaded[cpu], word, 0)
}

inline end_early_loads()
{
	early[cpu] = 0;
	loaded[cpu] = 0
}

#define IS_LATE(word) (late[cpu] & BIT(word))
#define IS_EARLY(word) (early[cpu] & BIT(word))

inline commit(word)
{
	change(word, GET(stored[cpu], word));
	SET(stored[cpu], word, 0);
	late[cpu] = late[cpu] & ~BIT(word);
	waits_low[cpu] = waits_low[cpu] & ~COLUMN(word);
	waits_high[cpu] = waits_high[cpu] & ~COLUMN(word)
}

proctype processor(byte cpu)
{
end:
	do
	:: d_step { IS_LATE(0) && !WAITS(0) -> commit(0) }
	:: d_step { IS_LATE(1) && !WAITS(1) -> commit(1) }
	:: d_step { IS_LATE(2) && !WAITS(2) -> commit(2) }
	:: d_step { IS_LATE(3) && !WAITS(3) -> commit(3) }
	:: d_step { IS_LATE(4) && !WAITS(4) -> commit(4) }
	:: d_step { IS_LATE(5) && !WAITS(5) -> commit(5) }
	:: d_step { IS_LATE(6) && !WAITS(6) -> commit(6) }
	:: d_step { IS_LATE(7) && !WAITS(7) -> commit(7) }
	od
}

inline READ_ONCE(to, word)
{
	if
	:: d_step { IS_LATE(word) -> to = GET(stored[cpu], word) }
	:: d_step { !IS_LATE(word) && IS_EARLY(word) -> to = GET(loaded[cpu], word) }
	:: d_step { !IS_LATE(word) -> to = memory[word]; end_early_load(word) }
	fi
}

inline smp_load_acquire(to, word)
{
	if
	:: d_step { IS_LATE(word) -> to = GET(stored[cpu], word) }
	:: d_step { !IS_LATE(word) && IS_EARLY(word) -> to = GET(loaded[cpu], word) }
	:: d_step { !IS_LATE(word) -> to = memory[word]; end_early_loads() }
	fi
}

inline WRITE_ONCE(word, value)
{
	d_step {
		end_early_load(word);
		SET(stored[cpu], word, value);
		late[cpu] = late[cpu] | BIT(word)
	}
}

inline smp_store_release(word, value)
{
	d_step {
		if
		:: (word) < 4 ->
			waits_low[cpu] = waits_low[cpu] |
				((late[cpu] & ~BIT(word)) << (8 * ((word) % 4)))
		:: else ->
			waits_high[cpu] = waits_high[cpu] |
				((late[cpu] & ~BIT(word)) << (8 * ((word) % 4)))
		fi;
		end_early_load(word);
		SET(stored[cpu], word, value);
		late[cpu] = late[cpu] | BIT(word)
	}
}

inline smp_mb()
{
	d_step { !late[cpu] -> end_early_loads() }
}

inline cmpxchg(found, word, old, new)
{
	if
	:: d_step {
		!late[cpu] && memory[word] == old ->
		change(word, new);
		found = old;
		end_early_loads()
	   }
	:: d_step {
		IS_LATE(word) && GET(stored[cpu], word) != old ->
		found = GET(stored[cpu], word)
	   }
	:: d_step {
		!IS_LATE(word) && IS_EARLY(word) && GET(loaded[cpu], word) != old ->
		found = GET(loaded[cpu], word)
	   }
	:: d_step {
		!IS_LATE(word) && memory[word] != old ->
		found = memory[word];
		end_early_load(word)
	   }
	fi
}

inline xchg(word, new)
{
	d_step {
		!late[cpu] ->
		change(word, new);
		end_early_loads()
	}
}

inline spin_lock(word)
{
	d_step {
		!IS_LATE(word) && !memory[word] ->
		memory[word] = 1;
		end_early_loads()
	}
}

/* Who takes the lock next ends its early loads anyway, so the word is never one. */
inline spin_unlock(word)
{
	smp_store_release(word, 0)
}
