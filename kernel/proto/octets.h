/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * octets.h: numbers as they are on the wire: big endian, and aligned to nothing.
 *
 * What does not fit into the octets that are written is cut off.
 */
#ifndef BELLHOP_PROTO_OCTETS_H
#define BELLHOP_PROTO_OCTETS_H

#include "base.h"

static inline u16 bellhop_octets_get16(const u8 *from)
{
	return (u16)(from[0] << 8 | from[1]);
}

static inline u32 bellhop_octets_get24(const u8 *from)
{
	return (u32)from[0] << 16 | bellhop_octets_get16(from + 1);
}

static inline u32 bellhop_octets_get32(const u8 *from)
{
	return (u32)from[0] << 24 | bellhop_octets_get24(from + 1);
}

static inline u64 bellhop_octets_get64(const u8 *from)
{
	return (u64)bellhop_octets_get32(from) << 32 | bellhop_octets_get32(from + 4);
}

static inline void bellhop_octets_put16(u8 *to, u32 value)
{
	to[0] = value >> 8 & 0xff;
	to[1] = value & 0xff;
}

static inline void bellhop_octets_put24(u8 *to, u32 value)
{
	to[0] = value >> 16 & 0xff;
	bellhop_octets_put16(to + 1, value);
}

static inline void bellhop_octets_put32(u8 *to, u32 value)
{
	to[0] = value >> 24 & 0xff;
	bellhop_octets_put24(to + 1, value);
}

static inline void bellhop_octets_put64(u8 *to, u64 value)
{
	bellhop_octets_put32(to, value >> 32 & 0xffffffffu);
	bellhop_octets_put32(to + 4, value & 0xffffffffu);
}

#endif /* BELLHOP_PROTO_OCTETS_H */
