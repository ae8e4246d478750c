// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* tmh.c: reads the headers of messages for tag matching. */
#include "tmh.h"
#include "octets.h"

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
	tmh->context = bellhop_octets_get32(bytes + 4);
	tmh->tag = bellhop_octets_get64(bytes + 8);
	if (needed == BELLHOP_TMH_BYTES)
		return;
	tmh->addr = bellhop_octets_get64(bytes + 16);
	tmh->rkey = bellhop_octets_get32(bytes + 24);
	tmh->length = bellhop_octets_get32(bytes + 28);
}
