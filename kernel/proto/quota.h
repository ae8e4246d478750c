/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* quota.h: how many objects of one kind, or bytes of memory, there may be, as the device says. */
#ifndef BELLHOP_PROTO_QUOTA_H
#define BELLHOP_PROTO_QUOTA_H

#include "base.h"

/**
 * bellhop_quota_take_some() - some objects more, or some bytes
 * @used: how many there are
 * @count: how many more
 * @most: how many there may be
 *
 * Context: any.
 * Return: 0, or -ENOMEM when there would be more than may be (IBA 11.2: insufficient resources).
 */
static inline int bellhop_quota_take_some(u32 *used, u32 count, u32 most)
{
	u32 now = READ_ONCE(*used);

	while (now <= most && count <= most - now) {
		u32 found = cmpxchg(used, now, now + count);

		if (found == now)
			return 0;
		now = found;
	}
	return -ENOMEM;
}

/* The same of one. */
static inline int bellhop_quota_take(u32 *used, u32 most)
{
	return bellhop_quota_take_some(used, 1, most);
}

/**
 * bellhop_quota_give_some() - some less
 * @used: how many there are
 * @count: of those; not more
 *
 * Context: any.
 */
static inline void bellhop_quota_give_some(u32 *used, u32 count)
{
	u32 now = READ_ONCE(*used);
	u32 found;

	while ((found = cmpxchg(used, now, now - count)) != now)
		now = found;
}

/* The same of one. */
static inline void bellhop_quota_give(u32 *used)
{
	bellhop_quota_give_some(used, 1);
}

#endif /* BELLHOP_PROTO_QUOTA_H */
