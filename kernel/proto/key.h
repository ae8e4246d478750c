/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * key.h: lkeys and rkeys, and whether one opens a range of bytes (IBA 10.6.3).
 *
 *	31      30 ........ 8   7 ..... 0
 *	remote  index           variant
 *
 * The lkey and the rkey of a region differ in the top bit, so that a program which
 * confuses them fails here as it does on hardware.
 */
#ifndef BELLHOP_PROTO_KEY_H
#define BELLHOP_PROTO_KEY_H

#include "base.h"

#define BELLHOP_KEY_REMOTE 0x80000000u
#define BELLHOP_KEY_INDEX_BITS 23
#define BELLHOP_KEY_INDEX_MAX ((1u << BELLHOP_KEY_INDEX_BITS) - 1)

/* The values are those of enum ib_access_flags. */
enum bellhop_access {
	BELLHOP_ACCESS_LOCAL_WRITE = 1 << 0,
	BELLHOP_ACCESS_REMOTE_WRITE = 1 << 1,
	BELLHOP_ACCESS_REMOTE_READ = 1 << 2,
	BELLHOP_ACCESS_REMOTE_ATOMIC = 1 << 3,
	BELLHOP_ACCESS_MW_BIND = 1 << 4, /* windows may be bound to the region */
};

/* Whether it changes the bytes that it is for. */
static inline bool bellhop_access_writes(u32 access)
{
	return access & (BELLHOP_ACCESS_LOCAL_WRITE | BELLHOP_ACCESS_REMOTE_WRITE |
			 BELLHOP_ACCESS_REMOTE_ATOMIC);
}

/**
 * struct bellhop_region - the part of a memory region that decides on access
 * @start: the first address a work request may name (the iova)
 * @length: bytes; @start + @length does not wrap
 * @lkey: the local key; 0, which finds nothing, where there is none
 * @rkey: the remote key; likewise
 * @pdn: the protection domain's number
 * @access: enum bellhop_access
 */
struct bellhop_region {
	u64 start;
	u64 length;
	u32 lkey;
	u32 rkey;
	u32 pdn;
	u32 access;
};

static inline u32 bellhop_key_make(u32 index, u8 variant)
{
	return (index & BELLHOP_KEY_INDEX_MAX) << 8 | variant;
}

static inline u32 bellhop_key_index(u32 key)
{
	return (key & ~BELLHOP_KEY_REMOTE) >> 8;
}

/* The same index with the next variant: whoever knows @key does not know this one. */
static inline u32 bellhop_key_next(u32 key)
{
	return (key & ~0xffu) | (u8)(key + 1);
}

/**
 * bellhop_key_check_region() - whether a region can exist
 * @start: first address
 * @length: bytes
 *
 * Return: 0, or -EINVAL when the range is empty or wraps.
 */
int bellhop_key_check_region(u64 start, u64 length);

/* No sum is formed that could wrap: the offset is compared with what is left. */
static inline bool bellhop_key_range_fits(const struct bellhop_region *region, u64 addr, u64 length)
{
	u64 offset = addr - region->start;

	return addr >= region->start && offset <= region->length &&
	       length <= region->length - offset;
}

/**
 * bellhop_key_check_local() - whether an lkey opens a range to its own side
 * @region: the region found at the key's index, or NULL
 * @lkey: the key that the work request names
 * @pdn: the QP's protection domain
 * @addr: first address
 * @length: bytes; with 0, @addr still lies in the region, or just behind it
 * @access: BELLHOP_ACCESS_LOCAL_WRITE to write, 0 to read
 *
 * Checked in the IBA's order: key, PD, access, range (9.7.4.1.5).
 * Return: BELLHOP_REASON_NONE, or the BELLHOP_REASON_LKEY_ that refuses it.
 */
static inline enum bellhop_reason bellhop_key_check_local(const struct bellhop_region *region,
							  u32 lkey, u32 pdn, u64 addr, u64 length,
							  u32 access)
{
	if (!region || region->lkey != lkey)
		return BELLHOP_REASON_LKEY_UNKNOWN;
	if (region->pdn != pdn)
		return BELLHOP_REASON_LKEY_PD;
	if (access & ~region->access)
		return BELLHOP_REASON_LKEY_ACCESS;
	if (!bellhop_key_range_fits(region, addr, length))
		return BELLHOP_REASON_LKEY_RANGE;
	return BELLHOP_REASON_NONE;
}

/**
 * bellhop_key_check_remote() - whether an rkey opens a range to the other side
 * @region: the region found at the key's index, or NULL
 * @rkey: the key that the request names
 * @pdn: the responder QP's protection domain
 * @addr: first address
 * @length: bytes
 * @access: the remote access that is needed
 *
 * Return: BELLHOP_REASON_NONE, or the BELLHOP_REASON_RKEY_ that refuses it.
 */
static inline enum bellhop_reason bellhop_key_check_remote(const struct bellhop_region *region,
							   u32 rkey, u32 pdn, u64 addr, u64 length,
							   u32 access)
{
	/* A region without remote access has no rkey at all, but says why it refuses. */
	if (!region || region->rkey != rkey)
		return BELLHOP_REASON_RKEY_UNKNOWN;
	if (region->pdn != pdn)
		return BELLHOP_REASON_RKEY_PD;
	if (access & ~region->access)
		return BELLHOP_REASON_RKEY_ACCESS;
	if (!bellhop_key_range_fits(region, addr, length))
		return BELLHOP_REASON_RKEY_RANGE;
	return BELLHOP_REASON_NONE;
}

#endif /* BELLHOP_PROTO_KEY_H */
