/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * stash.h: which packets have come before those that are to be executed first.
 *
 *	expected	 gap	    kept
 *	----|---------------------|------|----
 *
 * A packet's place is its number modulo the places, so that none has to be looked for.
 */
#ifndef BELLHOP_PROTO_STASH_H
#define BELLHOP_PROTO_STASH_H

#include "base.h"

#define BELLHOP_STASH_PLACES 128u /* the bits of two words */

/**
 * struct bellhop_stash - all zero is empty
 * @kept: a bit for each place
 */
struct bellhop_stash {
	u64 kept[2];
};

/**
 * bellhop_stash_put() - a packet has come
 * @stash: the stash
 * @expected: the number of the packet that is to be executed next
 * @psn: its own, another
 * @place: where to put it; what is there is of no use any more
 *
 * Return: false if it is kept already, or comes too far behind.
 */
bool bellhop_stash_put(struct bellhop_stash *stash, u32 expected, u32 psn, u32 *place);

/**
 * bellhop_stash_take() - takes a packet out
 * @stash: the stash
 * @psn: its number
 * @place: where it is
 *
 * Return: false if it is not there.
 */
bool bellhop_stash_take(struct bellhop_stash *stash, u32 psn, u32 *place);

/**
 * bellhop_stash_pass() - these numbers have been executed, and will not be again
 * @stash: the stash
 * @psn: the first
 * @packets: how many
 */
void bellhop_stash_pass(struct bellhop_stash *stash, u32 psn, u32 packets);

/**
 * bellhop_stash_gap() - what is missing before the first packet that is kept
 * @stash: the stash
 * @expected: the number of the packet that is to be executed next
 *
 * Return: packets; 0 if none is kept.
 */
u32 bellhop_stash_gap(const struct bellhop_stash *stash, u32 expected);

#endif /* BELLHOP_PROTO_STASH_H */
