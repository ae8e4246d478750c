// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* hash.c: Toeplitz's hash, and what of a frame goes into it. */
#include "hash.h"
#include "octets.h"

/* Two addresses of IPv6 and two ports. */
#define INPUT_BYTES 36u

/* What is hashed. */
struct input {
	u32 length;
	u8 bytes[INPUT_BYTES];
};

u32 bellhop_hash_bytes(const struct bellhop_hash *hash, const u8 *bytes, u32 length)
{
	const u8 *key = hash->key;
	u32 window = bellhop_octets_get32(key);
	u32 sum = 0;
	u32 i, bit;

	for (i = 0; i < length; i++) {
		for (bit = 0; bit < 8; bit++) {
			if (bytes[i] & 0x80u >> bit)
				sum ^= window;
			window = window << 1 | (key[i + 4] >> (7 - bit) & 1u);
		}
	}
	return sum;
}

/* Adds it, if a field of those is wanted. */
static void add(struct input *input, const struct bellhop_hash *hash, u32 field, const void *bytes,
		u32 length)
{
	if (!(hash->fields & field))
		return;
	memcpy(input->bytes + input->length, bytes, length);
	input->length += length;
}

u32 bellhop_hash_frame(const struct bellhop_hash *hash, const struct bellhop_frame *frame)
{
	struct input input = { .length = 0 };

	if (frame->layers & BELLHOP_LAYER_IPV4) {
		add(&input, hash, BELLHOP_HASH_SRC_IPV4, frame->source, 4);
		add(&input, hash, BELLHOP_HASH_DST_IPV4, frame->destination, 4);
	} else if (frame->layers & BELLHOP_LAYER_IPV6) {
		add(&input, hash, BELLHOP_HASH_SRC_IPV6, frame->source, 16);
		add(&input, hash, BELLHOP_HASH_DST_IPV6, frame->destination, 16);
	}
	if (frame->layers & BELLHOP_LAYER_TCP) {
		add(&input, hash, BELLHOP_HASH_SRC_PORT_TCP, &frame->source_port, 2);
		add(&input, hash, BELLHOP_HASH_DST_PORT_TCP, &frame->destination_port, 2);
	} else if (frame->layers & BELLHOP_LAYER_UDP) {
		add(&input, hash, BELLHOP_HASH_SRC_PORT_UDP, &frame->source_port, 2);
		add(&input, hash, BELLHOP_HASH_DST_PORT_UDP, &frame->destination_port, 2);
	}
	return bellhop_hash_bytes(hash, input.bytes, input.length);
}
