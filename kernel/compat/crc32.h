/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* crc32.h: where the kernel's own crc32_le() is slow, the one of its cryptography. */
#ifndef BELLHOP_COMPAT_CRC32_H
#define BELLHOP_COMPAT_CRC32_H

/**
 * bellhop_crc32_init() - looks for the fastest; without any the kernel's own does
 *
 * Context: may sleep.
 */
void bellhop_crc32_init(void);

/**
 * bellhop_crc32_exit() - lets go of it; no checksum is needed any more
 *
 * Context: may sleep.
 */
void bellhop_crc32_exit(void);

#endif
