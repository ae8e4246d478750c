/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * syndrome.h: what an acknowledgment says (IBA 9.3.5, 9.7.5.2):
 *
 *	bit	7	6   5	4   3   2   1   0
 *		0	0   0	credit count		ACK (IBA 9.7.7.2)
 *		0	0   1	timer: see timeout.h	RNR NAK (IBA 9.7.5.2.8)
 *		0	1   0	packets less one	REPAIR: reserved by the IBA
 *		0	1   1	NAK code		NAK
 *
 * A REPAIR is a NAK of a sequence error that says how many packets are missing: those behind them
 * have come, and are kept. It is sent to those who say that they understand it.
 */
#ifndef BELLHOP_PROTO_SYNDROME_H
#define BELLHOP_PROTO_SYNDROME_H

#include "base.h"

enum bellhop_syndrome {
	BELLHOP_SYNDROME_ACK = 0 << 5,
	BELLHOP_SYNDROME_RNR_NAK = 1 << 5,
	BELLHOP_SYNDROME_REPAIR = 2 << 5,
	BELLHOP_SYNDROME_NAK = 3 << 5,
};

/* Behind BELLHOP_SYNDROME_NAK; the others are reserved. */
enum bellhop_nak {
	BELLHOP_NAK_PSN_SEQUENCE_ERROR = 0,
	BELLHOP_NAK_INVALID_REQUEST = 1,
	BELLHOP_NAK_REMOTE_ACCESS_ERROR = 2,
	BELLHOP_NAK_REMOTE_OPERATIONAL_ERROR = 3,
	BELLHOP_NAK_INVALID_RD_REQUEST = 4,
};

/* Behind BELLHOP_SYNDROME_ACK: credits are not counted. */
#define BELLHOP_SYNDROME_NO_CREDITS 31u

/* Of which a REPAIR can speak. */
#define BELLHOP_SYNDROME_REPAIR_PACKETS 32u

/**
 * bellhop_syndrome_encode() - a syndrome
 * @kind: which
 * @value: credit count, timer, packets or enum bellhop_nak; its low five bits count
 *
 * Return: as it is on the wire.
 */
static inline u8 bellhop_syndrome_encode(enum bellhop_syndrome kind, u32 value)
{
	return (u8)((u32)kind | (value & 31u));
}

/**
 * bellhop_syndrome_kind() - which syndrome it is
 * @syndrome: any byte; the highest bit is reserved, and not looked at
 */
static inline enum bellhop_syndrome bellhop_syndrome_kind(u8 syndrome)
{
	return (enum bellhop_syndrome)(syndrome & 3u << 5);
}

/**
 * bellhop_syndrome_value() - the credit count, timer, packets or NAK code of a syndrome
 * @syndrome: any byte
 *
 * Return: below 32.
 */
static inline u32 bellhop_syndrome_value(u8 syndrome)
{
	return syndrome & 31u;
}

/**
 * bellhop_syndrome_credits() - how many receives a credit count stands for
 * @count: below BELLHOP_SYNDROME_NO_CREDITS
 *
 * From 2 on, each two of them double: 2, 3, 4, 6, 8, 12, ... 32768 (IBA 9.7.7.2).
 * Return: receives that were posted, and that no request has taken.
 */
static inline u32 bellhop_syndrome_credits(u32 count)
{
	return count < 2 ? count : (2 | (count & 1)) << (count - 2) / 2;
}

/**
 * bellhop_syndrome_count() - the credit count of so many receives
 * @credits: receives
 *
 * Return: the largest that does not stand for more.
 */
static inline u32 bellhop_syndrome_count(u32 credits)
{
	u32 count = 0;
	u32 step;

	for (step = 16; step; step >>= 1) {
		if (count + step < BELLHOP_SYNDROME_NO_CREDITS &&
		    bellhop_syndrome_credits(count + step) <= credits)
			count += step;
	}
	return count;
}

#endif /* BELLHOP_PROTO_SYNDROME_H */
