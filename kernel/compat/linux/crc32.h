/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* crc32.h: crc32_le() with the processor's instructions, which 6.14 brought. */
#include_next <linux/crc32.h>

#ifndef BELLHOP_COMPAT_LINUX_CRC32_H
#define BELLHOP_COMPAT_LINUX_CRC32_H
#ifndef BELLHOP_HAVE_CRC32_OPTIMIZATIONS

u32 bellhop_crc32_le(u32 crc, const void *bytes, size_t length);
#define crc32_le bellhop_crc32_le

#endif /* !BELLHOP_HAVE_CRC32_OPTIMIZATIONS */
#endif
