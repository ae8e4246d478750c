/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* extent.c: binary search over a region's runs. */
#include "extent.h"

u32 bellhop_extent_find(const struct bellhop_extent *extents, u32 count, u64 offset)
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
