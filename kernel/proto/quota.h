/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* quota.h: how many objects of one kind there may be, as the device says. */
#ifndef BELLHOP_PROTO_QUOTA_H
#define BELLHOP_PROTO_QUOTA_H

#include "base.h"

/**
 * bellhop_quota_take() - one object more
 * @used: how many there are
 * @most: how many there may be
 *
 * Context: any.
 * Return: 0, or -ENOMEM when there are as many as may be (IBA 11.2: insufficient resources).
 */
static inline int bellhop_quota_take(u32 *used, u32 most)
{
	u32 now = READ_ONCE(*used);

	while (now < most) {
		u32 found = cmpxchg(used, now, now + 1);

		if (found == now)
			return 0;
		now = found;
	}
	return -ENOMEM;
}

/**
 * bellhop_quota_give() - one less
 * @used: how many there are; not 0
 *
 * Context: any.
 */
static inline void bellhop_quota_give(u32 *used)
{
	u32 now = READ_ONCE(*used);
	u32 found;

	while ((found = cmpxchg(used, now, now - 1)) != now)
		now = found;
}

#endif /* BELLHOP_PROTO_QUOTA_H */
