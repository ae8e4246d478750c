/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * counters.h: what a device has counted.
 *
 * Nothing is counted where two processors write. What happens with every message lies in the QP and
 * in its slot (proto/flow.h) and is added up when somebody looks; of QPs that are gone the sum is
 * kept. What seldom happens is counted by each processor for itself (proto/counter.h).
 */
#ifndef BELLHOP_COUNTERS_H
#define BELLHOP_COUNTERS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <rdma/ib_verbs.h>
#include "proto/counter.h"
#include "proto/flow.h"

struct bellhop_device;
struct bellhop_qp;

/**
 * struct bellhop_counters - of one device
 * @own: each processor's, by enum bellhop_counter
 * @lock: what follows
 * @qps: the QPs that there are
 * @flow: of those that are gone
 * @kicks: likewise
 */
struct bellhop_counters {
	u64 __percpu *own;
	struct mutex lock;
	struct list_head qps;
	struct bellhop_flow flow;
	u64 kicks;
};

/**
 * bellhop_counters_count() - it has happened once more
 * @counters: the device's
 * @which: what
 *
 * Context: any.
 */
static inline void bellhop_counters_count(const struct bellhop_counters *counters,
					  enum bellhop_counter which)
{
	this_cpu_inc(counters->own[which]);
}

/**
 * bellhop_counters_init() - prepares the names
 *
 * Context: any.
 */
void bellhop_counters_init(void);

/**
 * bellhop_counters_create() - begins to count
 * @counters: zeroed memory
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int bellhop_counters_create(struct bellhop_counters *counters);

/**
 * bellhop_counters_destroy() - frees it; no QP is left
 * @counters: created
 *
 * Context: may sleep.
 */
void bellhop_counters_destroy(struct bellhop_counters *counters);

/**
 * bellhop_counters_add() - a QP's traffic counts from now on
 * @qp: with its slot
 *
 * Context: may sleep.
 */
void bellhop_counters_add(struct bellhop_qp *qp);

/**
 * bellhop_counters_keep() - a QP goes, and what it has counted stays
 * @qp: stopped, and withdrawn from its slot
 *
 * Context: may sleep.
 */
void bellhop_counters_keep(struct bellhop_qp *qp);

/**
 * bellhop_counters_sum() - how often something has happened
 * @counters: the device's
 * @which: what, but for BELLHOP_COUNTER_KICKS
 *
 * Context: any.
 */
u64 bellhop_counters_sum(const struct bellhop_counters *counters, enum bellhop_counter which);

/* Operations of struct ib_device_ops. */
struct rdma_hw_stats *bellhop_counters_alloc(struct ib_device *ibdev, u32 port_num);
int bellhop_counters_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
			 int index);
int bellhop_counters_process_mad(struct ib_device *ibdev, int flags, u32 port_num,
				 const struct ib_wc *in_wc, const struct ib_grh *in_grh,
				 const struct ib_mad *in, struct ib_mad *out, size_t *out_size,
				 u16 *out_pkey_index);

#endif
