/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * extent.h: the pages of a region as runs of bytes that lie side by side in the
 * kernel's mapping, and the search for the run that holds an offset.
 */
#ifndef BELLHOP_PROTO_EXTENT_H
#define BELLHOP_PROTO_EXTENT_H

#include "base.h"

/**
 * struct bellhop_extent - one run
 * @offset: where it begins in the region; runs are in ascending order, the first at 0
 * @memory: its first byte, in the kernel's mapping
 */
struct bellhop_extent {
	u64 offset;
	u8 *memory;
};

/**
 * bellhop_extent_append() - adds memory at the end of a region's runs
 * @extents: the runs so far, with room for one more
 * @count: how many there are
 * @end: bytes that they hold
 * @memory: what follows
 *
 * Return: the new count: the same when @memory continues the last run.
 */
static inline u32 bellhop_extent_append(struct bellhop_extent *extents, u32 count, u64 end,
					u8 *memory)
{
	if (count) {
		const struct bellhop_extent *last = &extents[count - 1];

		if (last->memory + (end - last->offset) == memory)
			return count;
	}
	extents[count].offset = end;
	extents[count].memory = memory;
	return count + 1;
}

/**
 * bellhop_extent_find() - the run that holds an offset
 * @extents: a region's runs
 * @count: how many, at least one
 * @offset: less than the region's length
 *
 * Return: the index of the last run that begins at or before @offset.
 */
static inline u32 bellhop_extent_find(const struct bellhop_extent *extents, u32 count, u64 offset)
{
	u32 low = 0;

	while (count > 1) {
		u32 half = count / 2;

		if (extents[low + half].offset <= offset) {
			low += half;
			count -= half;
		} else {
			count = half;
		}
	}
	return low;
}

#endif /* BELLHOP_PROTO_EXTENT_H */
