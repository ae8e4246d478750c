/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * psn.h: arithmetic of the 24-bit numbers that packets (PSN) and messages (MSN) have (IBA 9.7.1,
 * 9.7.7.1).
 *
 * They go round: what is up to half of them ahead is later, the other half is earlier (IBA
 * 9.7.4.1.2). No two that are compared may be farther apart. All take numbers below 2^24 and
 * return such.
 */
#ifndef BELLHOP_PROTO_PSN_H
#define BELLHOP_PROTO_PSN_H

#include "base.h"

#define BELLHOP_PSN_MASK 0xffffffu
/* Half of them: so many packets at most may be under way. */
#define BELLHOP_PSN_HALF 0x800000u

/**
 * bellhop_psn_add() - a later number
 * @psn: the number
 * @count: by how many
 *
 * Return: the number that is @count behind @psn.
 */
static inline u32 bellhop_psn_add(u32 psn, u32 count)
{
	return (psn + count) & BELLHOP_PSN_MASK;
}

/**
 * bellhop_psn_distance() - how many steps lead from one number to another
 * @from: the one
 * @to: the other
 *
 * Return: steps forward, or, as a negative number, back: -2^23 to 2^23 - 1.
 */
static inline s32 bellhop_psn_distance(u32 from, u32 to)
{
	return (s32)(((to - from) & BELLHOP_PSN_MASK) ^ BELLHOP_PSN_HALF) - (s32)BELLHOP_PSN_HALF;
}

/**
 * bellhop_psn_before() - whether a number is earlier than another
 * @psn: the number
 * @other: the other
 *
 * Return: false if it is later, or the same.
 */
static inline bool bellhop_psn_before(u32 psn, u32 other)
{
	return bellhop_psn_distance(other, psn) < 0;
}

/**
 * bellhop_psn_within() - whether a number is one of a window
 * @psn: the number
 * @first: the first of the window
 * @count: how many it has, 2^24 at most
 *
 * Return: true of @first and of the @count - 1 that follow it.
 */
static inline bool bellhop_psn_within(u32 psn, u32 first, u32 count)
{
	return ((psn - first) & BELLHOP_PSN_MASK) < count;
}

#endif /* BELLHOP_PROTO_PSN_H */
