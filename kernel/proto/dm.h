/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* dm.h: device memory: how much of it may be had. */
#ifndef BELLHOP_PROTO_DM_H
#define BELLHOP_PROTO_DM_H

#include "base.h"

/* What one device has, for all programs together. */
#define BELLHOP_DM_TOTAL (4u << 20)

/* It begins at a page, and pages are of 4 KiB at least. */
#define BELLHOP_DM_LOG_ALIGN_MAX 12

/**
 * bellhop_dm_check() - whether a device ever has such memory
 * @length: bytes
 * @log_align: the exponent of the alignment that is asked for
 *
 * Return: 0, -EINVAL, or -ENOMEM when it is more than there is altogether.
 */
static inline int bellhop_dm_check(u64 length, u32 log_align)
{
	if (!length || log_align > BELLHOP_DM_LOG_ALIGN_MAX)
		return -EINVAL;
	return length > BELLHOP_DM_TOTAL ? -ENOMEM : 0;
}

#endif /* BELLHOP_PROTO_DM_H */
