/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * null.h: regions of nothing: what is read of them is zero, what is written to them is dropped.
 *
 * To whoever looks up its key such a region is one without bytes, so it is asked for
 * only where a range was refused.
 */
#ifndef BELLHOP_NULL_H
#define BELLHOP_NULL_H

#include "grant.h"

struct bellhop_cursor;
struct ib_mr;
struct ib_pd;

/**
 * bellhop_null_check() - whether a null region's key opens an element that was refused
 * @device: where the key is from
 * @range: the element; any bytes of any address
 * @pdn: the QP's protection domain
 * @access: BELLHOP_ACCESS_LOCAL_WRITE to write, 0 to read
 * @reason: why it was refused
 *
 * Context: a spinlock is held, as for bellhop_grant_get().
 * Return: BELLHOP_REASON_NONE, or why not: @reason, where the key is no null region's.
 */
enum bellhop_reason bellhop_null_check(const struct bellhop_device *device,
				       const struct bellhop_sge *range, u32 pdn, u32 access,
				       enum bellhop_reason reason);

/**
 * bellhop_null_span() - as bellhop_cursor_span(), where no other region opens the element
 * @cursor: has no region
 * @reason: why not
 * @memory: where bytes lie that are zero, or are nobody's
 * @length: how many of them can be used
 *
 * Context: a spinlock is held, as for bellhop_grant_get(); the bytes are there for ever.
 * Return: as bellhop_null_check().
 */
enum bellhop_reason bellhop_null_span(const struct bellhop_cursor *cursor,
				      enum bellhop_reason reason, u8 **memory, u32 *length);

/**
 * bellhop_null_register() - makes such a region
 * @ibpd: its protection domain
 *
 * Context: may sleep.
 * Return: the region, or an ERR_PTR.
 */
struct ib_mr *bellhop_null_register(struct ib_pd *ibpd);

#endif
