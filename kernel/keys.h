/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * keys.h: what the keys of a device open, by the index in them.
 *
 * Two levels of plain arrays, since every element of every message is looked up here.
 * Readers are under RCU; chunks stay until the device goes.
 */
#ifndef BELLHOP_KEYS_H
#define BELLHOP_KEYS_H

#include <linux/idr.h>
#include <linux/rcupdate.h>
#include "proto/key.h"

#define BELLHOP_KEYS_CHUNK_BITS 10
#define BELLHOP_KEYS_CHUNK (1U << BELLHOP_KEYS_CHUNK_BITS)
#define BELLHOP_KEYS_CHUNKS 1024U
#define BELLHOP_KEYS_MAX (BELLHOP_KEYS_CHUNK * BELLHOP_KEYS_CHUNKS - 1)

static_assert(BELLHOP_KEYS_MAX <= BELLHOP_KEY_INDEX_MAX);
static_assert((BELLHOP_KEYS_MAX & (BELLHOP_KEYS_MAX + 1)) == 0); /* it is a mask, too */

struct bellhop_grant;

/**
 * struct bellhop_keys - the table
 * @taken: indices that are in use
 * @lock: @next, and adding to @chunks
 * @next: where the search for a free index begins, so that none is reused soon
 * @chunks: pointers to entries, BELLHOP_KEYS_CHUNK at a time
 */
struct bellhop_keys {
	struct ida taken;
	struct mutex lock;
	u32 next;
	struct bellhop_grant __rcu **chunks[BELLHOP_KEYS_CHUNKS];
};

/**
 * bellhop_keys_init() - makes an empty table
 * @keys: zeroed memory
 *
 * Context: may sleep.
 */
void bellhop_keys_init(struct bellhop_keys *keys);

/**
 * bellhop_keys_exit() - frees an empty table
 * @keys: the table; nobody looks at it any more
 *
 * Context: may sleep.
 */
void bellhop_keys_exit(struct bellhop_keys *keys);

/**
 * bellhop_keys_alloc() - an index that nobody has
 * @keys: the table
 *
 * Context: may sleep.
 * Return: the index, 1 to BELLHOP_KEYS_MAX, or a negative errno.
 */
int bellhop_keys_alloc(struct bellhop_keys *keys);

/**
 * bellhop_keys_publish() - makes an entry reachable, in place of the one before
 * @keys: the table
 * @index: from bellhop_keys_alloc()
 * @grant: the entry, complete
 *
 * Context: any.
 */
void bellhop_keys_publish(struct bellhop_keys *keys, u32 index, struct bellhop_grant *grant);

/**
 * bellhop_keys_withdraw() - nobody new finds the entry; the index is free again
 * @keys: the table
 * @index: of a published entry
 *
 * Context: any.
 */
void bellhop_keys_withdraw(struct bellhop_keys *keys, u32 index);

/**
 * bellhop_keys_find() - the entry at a key's index, which need not have that key
 * @keys: the table
 * @key: any number
 *
 * Context: under RCU, or with a spinlock held, which is the same.
 * Return: the entry or NULL.
 */
static inline struct bellhop_grant *bellhop_keys_find(const struct bellhop_keys *keys, u32 key)
{
	u32 index = bellhop_key_index(key);
	struct bellhop_grant __rcu **chunk;

	/* A key beyond the table finds another's entry, and is not that one's. */
	index &= BELLHOP_KEYS_MAX;
	/* Pairs with the release in grow(). */
	chunk = smp_load_acquire(&keys->chunks[index >> BELLHOP_KEYS_CHUNK_BITS]);
	return chunk ? rcu_dereference_check(chunk[index % BELLHOP_KEYS_CHUNK], !preemptible())
		     : NULL;
}

#endif
