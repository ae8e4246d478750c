// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* stash.c: which packets have come before those that are to be executed first. */
#include "stash.h"
#include "psn.h"

static u32 place_of(u32 psn)
{
	return psn % BELLHOP_STASH_PLACES;
}

static bool is_kept(const struct bellhop_stash *stash, u32 place)
{
	return stash->kept[place / 64] >> place % 64 & 1;
}

bool bellhop_stash_put(struct bellhop_stash *stash, u32 expected, u32 psn, u32 *place)
{
	*place = place_of(psn);
	if (!bellhop_psn_within(psn, expected, BELLHOP_STASH_PLACES) || is_kept(stash, *place))
		return false;
	stash->kept[*place / 64] |= 1ull << *place % 64;
	return true;
}

bool bellhop_stash_take(struct bellhop_stash *stash, u32 psn, u32 *place)
{
	*place = place_of(psn);
	if (!is_kept(stash, *place))
		return false;
	stash->kept[*place / 64] &= ~(1ull << *place % 64);
	return true;
}

void bellhop_stash_pass(struct bellhop_stash *stash, u32 psn, u32 packets)
{
	u32 count = packets < BELLHOP_STASH_PLACES ? packets : BELLHOP_STASH_PLACES;
	u32 place;

	while (count--)
		bellhop_stash_take(stash, psn + count, &place);
}

u32 bellhop_stash_gap(const struct bellhop_stash *stash, u32 expected)
{
	u32 gap;

	if (!(stash->kept[0] | stash->kept[1]))
		return 0;
	for (gap = 0; gap < BELLHOP_STASH_PLACES; gap++) {
		if (is_kept(stash, place_of(expected + gap)))
			return gap;
	}
	return 0;
}
