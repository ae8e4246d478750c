/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * icrc.h: the CRC at the end of a RoCEv2 packet: over all that no router changes (IBA 7.8.1,
 * A17.3.3).
 *
 *	 ones	      IP, UDP, BTH	extended headers, payload, padding     ICRC
 *	|-------------|----------------|-------------------------------------|------|
 *	      begin, what may change as ones		add, in pieces		end
 *
 * The ones stand where InfiniBand has its local route header.
 */
#ifndef BELLHOP_PROTO_ICRC_H
#define BELLHOP_PROTO_ICRC_H

#include "base.h"

#define BELLHOP_ICRC_BYTES 4u

/**
 * bellhop_icrc_begin() - the CRC of a packet's first headers
 * @headers: the IP header, without options or extensions, the UDP header and the BTH, one behind
 *	the other: 40 bytes, or 60 with IPv6
 * @ipv6: which of the two it is
 *
 * Lengths and the identification of IPv4 are part of it, and must be final.
 * Return: what bellhop_icrc_add() goes on with.
 */
u32 bellhop_icrc_begin(const u8 *headers, bool ipv6);

/**
 * bellhop_icrc_add() - goes on with what follows
 * @icrc: of all that is before it
 * @bytes: of the packet
 * @length: how many, any number
 *
 * Return: with them.
 */
static inline u32 bellhop_icrc_add(u32 icrc, const void *bytes, size_t length)
{
	return crc32_le(icrc, bytes, length);
}

/**
 * bellhop_icrc_end() - the packet's last bytes
 * @icrc: of all that is before them, padding too
 * @bytes: filled in, as they are on the wire
 */
void bellhop_icrc_end(u32 icrc, u8 bytes[BELLHOP_ICRC_BYTES]);

#endif /* BELLHOP_PROTO_ICRC_H */
