// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* tmh.c: reads the headers of messages for tag matching. */
#include "tmh.h"

static u32 read32(const u8 *bytes)
{
	return (u32)bytes[0] << 24 | (u32)bytes[1] << 16 | (u32)bytes[2] << 8 | bytes[3];
}

static u64 read64(const u8 *bytes)
{
	return (u64)read32(bytes) << 32 | read32(bytes + 4);
}

static u32 header_bytes(u8 op)
{
	switch (op) {
	case BELLHOP_TMH_EAGER:
		return BELLHOP_TMH_BYTES;
	case BELLHOP_TMH_RNDV:
	case BELLHOP_TMH_FIN:
		return BELLHOP_TMH_MAX;
	default:
		return 0;
	}
}

void bellhop_tmh_decode(struct bellhop_tmh *tmh, const u8 *bytes, u32 length)
{
	u32 needed = length ? header_bytes(bytes[0]) : 0;

	memset(tmh, 0, sizeof(*tmh));
	if (!needed || length < needed)
		return;
	tmh->op = (enum bellhop_tmh_op)bytes[0];
	tmh->context = read32(bytes + 4);
	tmh->tag = read64(bytes + 8);
	if (needed == BELLHOP_TMH_BYTES)
		return;
	tmh->addr = read64(bytes + 16);
	tmh->rkey = read32(bytes + 24);
	tmh->length = read32(bytes + 28);
}
