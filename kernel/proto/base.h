/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * base.h: everything that kernel/proto/ takes from outside itself.
 *
 * The files of this folder are built twice: into bellhop.ko, and into unit
 * tests, fuzzers and benchmarks. This header is the only one that knows which.
 */
#ifndef BELLHOP_PROTO_BASE_H
#define BELLHOP_PROTO_BASE_H

#include <rdma/bellhop-abi.h>

#ifdef __KERNEL__

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/cmpxchg.h>

#else

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <zlib.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_mb__before_atomic() smp_mb()
#define barrier() __asm__ volatile("" ::: "memory")
#define array_index_nospec(index, size) ((index) < (size) ? (index) : 0)

/* Returns what was found. Like the kernel's, it orders nothing when that is not @old. */
static inline u32 cmpxchg(u32 *word, u32 old, u32 new_value)
{
	__atomic_compare_exchange_n(word, &old, new_value, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_RELAXED);
	return old;
}

/* Full ordering. */
static inline u32 xchg(u32 *word, u32 new_value)
{
	return __atomic_exchange_n(word, new_value, __ATOMIC_SEQ_CST);
}

/* As in the kernel, nothing is inverted, before or after; zlib does both. */
static inline u32 crc32_le(u32 crc, const void *bytes, size_t length)
{
	return length ? ~(u32)crc32_z(~crc, (const u8 *)bytes, length) : crc;
}

#endif
#endif /* BELLHOP_PROTO_BASE_H */
