/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* hash.h: the hash by which frames are spread over receive queues. */
#ifndef BELLHOP_PROTO_HASH_H
#define BELLHOP_PROTO_HASH_H

#include "frame.h"

/**
 * struct bellhop_hash - how to hash
 * @fields: enum bellhop_hash_fields
 * @key: Toeplitz's
 */
struct bellhop_hash {
	u32 fields;
	u8 key[BELLHOP_HASH_KEY_BYTES];
};

/**
 * bellhop_hash_bytes() - Toeplitz's hash
 * @hash: whose key
 * @bytes: what is hashed
 * @length: how many; 36 at most, since the key is no longer
 */
u32 bellhop_hash_bytes(const struct bellhop_hash *hash, const u8 *bytes, u32 length);

/**
 * bellhop_hash_frame() - the hash of what is wanted of a frame
 * @hash: what is wanted
 * @frame: the frame
 *
 * Return: the hash of those of the fields that the frame has; 0 where it has none.
 */
u32 bellhop_hash_frame(const struct bellhop_hash *hash, const struct bellhop_frame *frame);

#endif /* BELLHOP_PROTO_HASH_H */
