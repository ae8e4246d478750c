// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* keys.c: hands out key indices. */
#include <linux/mm.h>
#include <linux/mutex.h>
#include "keys.h"

void bellhop_keys_init(struct bellhop_keys *keys)
{
	ida_init(&keys->taken);
	mutex_init(&keys->lock);
	keys->next = 1;
}

void bellhop_keys_exit(struct bellhop_keys *keys)
{
	u32 i;

	WARN_ON(!ida_is_empty(&keys->taken));
	ida_destroy(&keys->taken);
	for (i = 0; i < BELLHOP_KEYS_CHUNKS; i++)
		kvfree(keys->chunks[i]);
}

static int grow(struct bellhop_keys *keys, u32 index)
{
	struct bellhop_grant __rcu ***place = &keys->chunks[index >> BELLHOP_KEYS_CHUNK_BITS];
	struct bellhop_grant __rcu **chunk;

	if (*place)
		return 0;
	chunk = kvcalloc(BELLHOP_KEYS_CHUNK, sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return -ENOMEM;
	/* Pairs with the acquire in bellhop_keys_find(): the chunk is seen empty, not as garbage.
	 */
	smp_store_release(place, chunk);
	return 0;
}

int bellhop_keys_alloc(struct bellhop_keys *keys)
{
	int index, err;

	mutex_lock(&keys->lock);
	index = ida_alloc_range(&keys->taken, keys->next, BELLHOP_KEYS_MAX, GFP_KERNEL_ACCOUNT);
	if (index == -ENOSPC)
		index = ida_alloc_range(&keys->taken, 1, BELLHOP_KEYS_MAX, GFP_KERNEL_ACCOUNT);
	if (index > 0) {
		err = grow(keys, index);
		if (err) {
			ida_free(&keys->taken, index);
			index = err;
		} else {
			keys->next = index < BELLHOP_KEYS_MAX ? index + 1 : 1;
		}
	}
	mutex_unlock(&keys->lock);
	return index == -ENOSPC ? -ENOMEM : index;
}

static struct bellhop_grant __rcu **place_of(struct bellhop_keys *keys, u32 index)
{
	return &keys->chunks[index >> BELLHOP_KEYS_CHUNK_BITS][index % BELLHOP_KEYS_CHUNK];
}

void bellhop_keys_publish(struct bellhop_keys *keys, u32 index, struct bellhop_grant *grant)
{
	rcu_assign_pointer(*place_of(keys, index), grant);
}

void bellhop_keys_withdraw(struct bellhop_keys *keys, u32 index)
{
	RCU_INIT_POINTER(*place_of(keys, index), NULL);
	ida_free(&keys->taken, index);
}
