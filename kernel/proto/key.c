// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* key.c: what a region must be before a key can open it. */
#include "key.h"

int bellhop_key_check_region(u64 start, u64 length)
{
	if (!length || length - 1 > ~0ULL - start)
		return -EINVAL;
	return 0;
}
