// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* crc32.c: crc32_le() by the kernel's cryptography, for kernels whose own looks up tables. */
#include "crc32.h"
#include <linux/crc32.h>

#ifdef BELLHOP_HAVE_CRC32_OPTIMIZATIONS

void bellhop_crc32_init(void) {}
void bellhop_crc32_exit(void) {}

#else
#undef crc32_le
#include <crypto/hash.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/string.h>

/* Fewer bytes are not worth the calls, and saving the registers. */
#define LEAST_BYTES 256

static struct crypto_shash *fast;

void bellhop_crc32_init(void)
{
	struct crypto_shash *found = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(found))
		return;
	/* That is crc32_le() again. */
	if (!strcmp(crypto_shash_driver_name(found), "crc32-generic"))
		crypto_free_shash(found);
	else
		fast = found;
}

void bellhop_crc32_exit(void)
{
	if (fast)
		crypto_free_shash(fast);
}

u32 bellhop_crc32_le(u32 crc, const void *bytes, size_t length)
{
	SHASH_DESC_ON_STACK(shash, fast);

	if (!fast || length < LEAST_BYTES)
		return crc32_le(crc, bytes, length);
	shash->tfm = fast;
	/* What begins there need not be the key's. */
	memcpy(shash_desc_ctx(shash), &crc, sizeof(crc));
	crypto_shash_update(shash, bytes, length);
	memcpy(&crc, shash_desc_ctx(shash), sizeof(crc));
	return crc;
}

MODULE_SOFTDEP("pre: crc32");
#endif
