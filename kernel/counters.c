// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* counters.c: adds up what was counted, and shows it: hw_counters/, and counters/ by the PMA. */
#include <linux/cpumask.h>
#include <rdma/ib_mad.h>
#include "counters.h"
#include "device.h"
#include "proto/pma.h"
#include "qp.h"
#include "slot.h"

static_assert(sizeof(struct ib_mad) == BELLHOP_PMA_BYTES);

/* As the core wants their names. */
static struct rdma_stat_desc descs[BELLHOP_COUNTERS] __ro_after_init;

void __init bellhop_counters_init(void)
{
	int i;

	for (i = 0; i < BELLHOP_COUNTERS; i++)
		descs[i].name = bellhop_counter_names[i];
}

int bellhop_counters_create(struct bellhop_counters *counters)
{
	counters->own = __alloc_percpu(BELLHOP_COUNTERS * sizeof(u64), __alignof__(u64));
	if (!counters->own)
		return -ENOMEM;
	mutex_init(&counters->lock);
	INIT_LIST_HEAD(&counters->qps);
	return 0;
}

void bellhop_counters_destroy(struct bellhop_counters *counters)
{
	WARN_ON(!list_empty(&counters->qps));
	mutex_destroy(&counters->lock);
	free_percpu(counters->own);
}

void bellhop_counters_add(struct bellhop_qp *qp)
{
	struct bellhop_counters *counters = &qp->device->counters;

	mutex_lock(&counters->lock);
	list_add_tail(&qp->counted, &counters->qps);
	mutex_unlock(&counters->lock);
}

static void add_qp(struct bellhop_flow *flow, u64 *kicks, const struct bellhop_qp *qp)
{
	bellhop_flow_add(flow, &qp->send.flow);
	bellhop_flow_add(flow, &qp->slot->flow);
	*kicks += READ_ONCE(qp->kicks);
}

void bellhop_counters_keep(struct bellhop_qp *qp)
{
	struct bellhop_counters *counters = &qp->device->counters;

	mutex_lock(&counters->lock);
	list_del(&qp->counted);
	add_qp(&counters->flow, &counters->kicks, qp);
	/* The next QP in this place begins anew. */
	memset(&qp->slot->flow, 0, sizeof(qp->slot->flow));
	mutex_unlock(&counters->lock);
}

/* All traffic of a device, now and before. */
static void add_all(struct bellhop_counters *counters, struct bellhop_flow *flow, u64 *kicks)
{
	const struct bellhop_qp *qp;

	mutex_lock(&counters->lock);
	*flow = counters->flow;
	*kicks = counters->kicks;
	list_for_each_entry(qp, &counters->qps, counted) add_qp(flow, kicks, qp);
	mutex_unlock(&counters->lock);
}

u64 bellhop_counters_sum(const struct bellhop_counters *counters, enum bellhop_counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) sum += READ_ONCE(per_cpu_ptr(counters->own, cpu)[which]);
	return sum;
}

struct rdma_hw_stats *bellhop_counters_alloc(struct ib_device *ibdev, u32 port_num)
{
	return rdma_alloc_hw_stats_struct(descs, BELLHOP_COUNTERS, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int bellhop_counters_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
			 int index)
{
	struct bellhop_counters *counters = &bellhop_device_of(ibdev)->counters;
	struct bellhop_flow flow;
	int i;

	if (!port_num)
		return -EINVAL;
	for (i = 0; i < BELLHOP_COUNTERS; i++)
		stats->value[i] = bellhop_counters_sum(counters, i);
	add_all(counters, &flow, &stats->value[BELLHOP_COUNTER_KICKS]);
	return BELLHOP_COUNTERS;
}

int bellhop_counters_process_mad(struct ib_device *ibdev, int flags, u32 port_num,
				 const struct ib_wc *in_wc, const struct ib_grh *in_grh,
				 const struct ib_mad *in, struct ib_mad *out, size_t *out_size,
				 u16 *out_pkey_index)
{
	struct bellhop_counters *counters = &bellhop_device_of(ibdev)->counters;
	struct bellhop_pma_counts counts;
	struct bellhop_flow flow;
	u64 kicks;

	/* The core finds somebody else for it, or answers that there is nobody. */
	if (!bellhop_pma_is_asked((const u8 *)in))
		return IB_MAD_RESULT_SUCCESS;
	add_all(counters, &flow, &kicks);
	counts = (struct bellhop_pma_counts){
		.xmit_words = flow.words[BELLHOP_OUT],
		.rcv_words = flow.words[BELLHOP_IN],
		.xmit_packets = flow.pieces[BELLHOP_OUT],
		.rcv_packets = flow.pieces[BELLHOP_IN],
		.multicast_xmit = bellhop_counters_sum(counters, BELLHOP_COUNTER_MULTICAST_SENT),
		.multicast_rcv = bellhop_counters_sum(counters, BELLHOP_COUNTER_MULTICAST_COPIES),
		.xmit_discards = bellhop_counters_sum(counters, BELLHOP_COUNTER_DROPPED_NOBODY),
	};
	bellhop_pma_answer((const u8 *)in, &counts, (u8 *)out);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
