/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* unaligned.h: the header that 6.12 has moved from asm. */
#ifdef BELLHOP_HAVE_LINUX_UNALIGNED
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
