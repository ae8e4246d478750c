/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * fault.h: pages that a request needs and that are fetched meanwhile.
 *
 * A fetch can take as long as what the memory is backed by, and that may be a program.
 * So it is nobody's to wait for: a worker does it, which keeps all that it needs, and wakes the
 * requester by its number, if there still is one.
 */
#ifndef BELLHOP_FAULT_H
#define BELLHOP_FAULT_H

#include "demand.h"
#include "proto/base.h"

/* In the place of a reason, and not of the ABI: the pages are on their way. */
#define BELLHOP_REASON_ABSENT ((enum bellhop_reason)0xffff)

struct bellhop_fault;

/**
 * bellhop_fault_init() - makes the workqueue
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int bellhop_fault_init(void);

/**
 * bellhop_fault_exit() - ends the workqueue; no region is left
 *
 * Context: may sleep.
 */
void bellhop_fault_exit(void);

/**
 * struct bellhop_need - bytes of a region that are not there
 * @demand: the region's; kept there by the caller
 * @offset: of the first byte
 * @length: how many will be needed, not 0
 * @how: what for
 */
struct bellhop_need {
	struct bellhop_demand *demand;
	u64 offset;
	u64 length;
	enum bellhop_fetch how;
};

/**
 * bellhop_fault_start() - has pages fetched
 * @need: which
 * @qpn: the QP that goes on as soon as the first have come, or 0
 *
 * Context: any but hard interrupts.
 * Return: with a reference; or NULL without memory, or when too many are under way in the region,
 * and then nothing happens.
 */
struct bellhop_fault *bellhop_fault_start(const struct bellhop_need *need, u32 qpn);

/**
 * bellhop_fault_put() - gives a reference back, whether or not the pages have come
 * @fault: from bellhop_fault_start(), or NULL
 *
 * Context: any but hard interrupts.
 */
void bellhop_fault_put(struct bellhop_fault *fault);

/**
 * bellhop_fault_raise() - has pages fetched, unless they are being fetched already
 * @place: the last fault of who needs them, or NULL; another one is put there
 * @need: what is not there; some of it is fetched
 * @qpn: the requester, or 0
 *
 * Context: any but hard interrupts; the caller is the requester's runner.
 * Return: true when they will come: then the requester tries again; false when they cannot be
 * had, which is said once.
 */
bool bellhop_fault_raise(struct bellhop_fault **place, const struct bellhop_need *need, u32 qpn);

#endif
