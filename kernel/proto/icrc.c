// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* icrc.c: what of a packet's first headers the CRC at its end covers (IBA A17.3.3). */
#include "icrc.h"
#include "bth.h"

#define LRH_BYTES 8u
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define UDP_BYTES 8u
#define MAX_BYTES (LRH_BYTES + IPV6_BYTES + UDP_BYTES + BELLHOP_BTH_BYTES)

static void mask_ipv4(u8 *header)
{
	header[1] = 0xff; /* type of service */
	header[8] = 0xff; /* time to live */
	header[10] = 0xff; /* checksum */
	header[11] = 0xff;
}

static void mask_ipv6(u8 *header)
{
	header[0] |= 0x0f; /* traffic class */
	header[1] = 0xff; /* and flow label */
	header[2] = 0xff;
	header[3] = 0xff;
	header[7] = 0xff; /* hop limit */
}

u32 bellhop_icrc_begin(const u8 *headers, bool ipv6)
{
	u32 ip_bytes = ipv6 ? IPV6_BYTES : IPV4_BYTES;
	u32 bytes = ip_bytes + UDP_BYTES + BELLHOP_BTH_BYTES;
	u8 masked[MAX_BYTES];
	u8 *ip = masked + LRH_BYTES;
	u8 *udp = ip + ip_bytes;
	u8 *bth = udp + UDP_BYTES;

	memset(masked, 0xff, LRH_BYTES);
	memcpy(ip, headers, bytes);
	if (ipv6)
		mask_ipv6(ip);
	else
		mask_ipv4(ip);
	udp[6] = 0xff; /* checksum */
	udp[7] = 0xff;
	bth[4] = 0xff; /* congestion, and reserved */
	return bellhop_icrc_add(0xffffffff, masked, LRH_BYTES + bytes);
}

void bellhop_icrc_end(u32 icrc, u8 bytes[BELLHOP_ICRC_BYTES])
{
	icrc = ~icrc;
	bytes[0] = (u8)icrc;
	bytes[1] = (u8)(icrc >> 8);
	bytes[2] = (u8)(icrc >> 16);
	bytes[3] = (u8)(icrc >> 24);
}
