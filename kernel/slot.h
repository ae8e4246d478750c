/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * slot.h: QP numbers, and the QPs behind them.
 *
 * There is one table for all devices of this kernel, so that a QP number alone finds
 * its QP. A slot is never freed while the module lives, which makes its two locks
 * usable without knowing whether a QP is there: they are what keeps it there.
 *
 *	qpn:   23 ........ 17 16 ........ 0
 *	       generation     index
 *
 * The generation changes with every use of a slot, so that a number is not soon reused.
 *
 * The network's softirqs take these locks, and those that are taken inside them. So whoever takes
 * one in a process has bottom halves off: a runner for each whole step (run.c), everybody else
 * while it is held.
 */
#ifndef BELLHOP_SLOT_H
#define BELLHOP_SLOT_H

#include <linux/cache.h>
#include <linux/nospec.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "proto/flow.h"

struct bellhop_qp;

#define BELLHOP_SLOT_BITS 17
#define BELLHOP_SLOTS (1U << BELLHOP_SLOT_BITS)
#define BELLHOP_SLOTS_PER_CHUNK 256U
#define BELLHOP_SLOT_CHUNKS (BELLHOP_SLOTS / BELLHOP_SLOTS_PER_CHUNK)

/**
 * struct bellhop_slot - a place for one QP
 * @lock: the QP's responder side; held by whoever executes a request on it
 * @qp: written with both locks held; NULL when free
 * @qpn: the number that reaches @qp; written as @qp is
 * @flow: what requests have brought to @qp and fetched from it; under @lock, which is written then
 * @gate: lets a kick or a timer become the QP's runner while it is there; held shortly,
 * inside @lock or alone
 * @gate_qp: @qp, for those who come by the gate
 * @gate_qpn: @qpn, likewise
 *
 * Peers and the QP's own runner are on different processors as a rule, and a cache line
 * that goes to and fro between them costs more than all of the code around it. So each
 * side has a line of its own, here, in struct bellhop_qp and in struct bellhop_grant.
 */
struct bellhop_slot {
	spinlock_t lock;
	u32 qpn;
	struct bellhop_qp *qp;
	struct bellhop_flow flow;
	spinlock_t gate ____cacheline_aligned_in_smp;
	u32 gate_qpn;
	struct bellhop_qp *gate_qp;
} ____cacheline_aligned_in_smp;

/**
 * bellhop_slot_init() - allocates the table's directory
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int bellhop_slot_init(void);

/**
 * bellhop_slot_exit() - frees the table; no QP is left
 *
 * Context: may sleep.
 */
void bellhop_slot_exit(void);

/**
 * bellhop_slot_alloc() - a number and its slot
 * @qpn: the number
 *
 * Context: may sleep.
 * Return: the slot, or an ERR_PTR of -ENOMEM.
 */
struct bellhop_slot *bellhop_slot_alloc(u32 *qpn);

/**
 * bellhop_slot_publish() - makes a QP reachable
 * @slot: from bellhop_slot_alloc()
 * @qpn: likewise
 * @qp: the QP, complete
 *
 * Context: process.
 */
void bellhop_slot_publish(struct bellhop_slot *slot, u32 qpn, struct bellhop_qp *qp);

/**
 * bellhop_slot_withdraw() - makes a QP unreachable; afterwards nobody new will use it
 * @slot: the QP's
 *
 * Context: process.
 */
void bellhop_slot_withdraw(struct bellhop_slot *slot);

/**
 * bellhop_slot_free() - gives a number back
 * @qpn: the number, without a QP
 *
 * Context: may sleep.
 */
void bellhop_slot_free(u32 qpn);

/* Written by slot.c; a chunk, once there, stays. */
extern struct bellhop_slot *bellhop_slot_chunks[BELLHOP_SLOT_CHUNKS];

/**
 * bellhop_slot_find() - the slot that a number belongs to
 * @qpn: any number
 *
 * Context: any.
 * Return: the slot, whose @qpn need not be the same; or NULL where none was ever used.
 */
static inline struct bellhop_slot *bellhop_slot_find(u32 qpn)
{
	u32 index = array_index_nospec(qpn % BELLHOP_SLOTS, BELLHOP_SLOTS);
	struct bellhop_slot *chunk;

	/* Pairs with the release in grow(): the locks are seen initialised. */
	chunk = smp_load_acquire(&bellhop_slot_chunks[index / BELLHOP_SLOTS_PER_CHUNK]);
	return chunk ? &chunk[index % BELLHOP_SLOTS_PER_CHUNK] : NULL;
}

#endif
