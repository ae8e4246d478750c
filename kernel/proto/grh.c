// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* grh.c: builds the header of a datagram that never was a packet. */
#include "grh.h"
#include "octets.h"

#define IPV4_BYTES 20u
#define IPV4_AT (BELLHOP_GRH_BYTES - IPV4_BYTES)
#define PROTOCOL_UDP 17u

/* What stands around the payload of a UD packet: UDP, BTH, DETH, perhaps ImmDt; padding and ICRC.
 */
static u32 transport_bytes(u32 payload, bool has_imm)
{
	return 8 + 12 + 8 + (has_imm ? 4u : 0u) + ((payload + 3) & ~3u) + 4;
}

bool bellhop_grh_is_ipv4(const u8 *gid)
{
	static const u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, prefix, sizeof(prefix));
}

/* RFC 1071, over a header whose own checksum is zero. */
static u32 checksum(const u8 *header)
{
	u32 sum = 0;
	u32 i;

	for (i = 0; i < IPV4_BYTES; i += 2)
		sum += bellhop_octets_get16(header + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

static void build_ipv4(u8 *header, const struct bellhop_route *route, u32 bytes)
{
	header[0] = 0x45;
	header[1] = route->traffic_class;
	bellhop_octets_put16(header + 2, IPV4_BYTES + bytes);
	header[6] = 0x40; /* do not fragment */
	header[8] = route->hop_limit;
	header[9] = PROTOCOL_UDP;
	memcpy(header + 12, route->sgid + 12, 4);
	memcpy(header + 16, route->dgid + 12, 4);
	bellhop_octets_put16(header + 10, checksum(header));
}

static void build_ipv6(u8 *header, const struct bellhop_route *route, u32 bytes)
{
	header[0] = (u8)(0x60 | route->traffic_class >> 4);
	header[1] = (u8)(route->traffic_class << 4 | (route->flow_label >> 16 & 0xf));
	bellhop_octets_put16(header + 2, route->flow_label & 0xffff);
	bellhop_octets_put16(header + 4, bytes);
	header[6] = PROTOCOL_UDP;
	header[7] = route->hop_limit;
	memcpy(header + 8, route->sgid, 16);
	memcpy(header + 24, route->dgid, 16);
}

enum bellhop_sl bellhop_grh_build(u8 grh[BELLHOP_GRH_BYTES], const struct bellhop_route *route,
				  u32 payload, bool has_imm)
{
	u32 bytes = transport_bytes(payload, has_imm);

	memset(grh, 0, BELLHOP_GRH_BYTES);
	if (bellhop_grh_is_ipv4(route->dgid)) {
		build_ipv4(grh + IPV4_AT, route, bytes);
		return BELLHOP_SL_IPV4;
	}
	build_ipv6(grh, route, bytes);
	return BELLHOP_SL_IPV6;
}
