// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* timeout.c: the table of RNR timer codes (IBA table 47). */
#include "timeout.h"

/* Hundredths of a millisecond. */
static const u32 rnr_10us[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

u64 bellhop_timeout_rnr_ns(u8 code)
{
	return (u64)rnr_10us[array_index_nospec(code & 31u, 32u)] * 10000;
}
