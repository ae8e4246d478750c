/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * rss.h: QPs whose frames are spread over receive work queues, by a table of those.
 *
 * Such a QP has no queue, and so no state: it is there or it is not.
 */
#ifndef BELLHOP_RSS_H
#define BELLHOP_RSS_H

#include <rdma/ib_verbs.h>
#include "proto/hash.h"

struct bellhop_rss;

/* Of a table: the device's max_rwq_indirection_table_size. */
#define BELLHOP_MAX_TABLE 256U

/**
 * struct bellhop_table - an indirection table
 * @ibtable: the core's part, which keeps the queues
 * @num: entries, a power of two
 * @qpns: the queues' numbers
 */
struct bellhop_table {
	struct ib_rwq_ind_table ibtable;
	u32 num;
	u32 qpns[BELLHOP_MAX_TABLE];
};

/**
 * bellhop_rss_create() - what a new QP is told of spreading
 * @ibtable: its table; the core keeps that as long as the QP is there
 * @udata: has a struct bellhop_create_qp
 *
 * Context: may sleep.
 * Return: to be freed by kfree(), or an ERR_PTR.
 */
struct bellhop_rss *bellhop_rss_create(struct ib_rwq_ind_table *ibtable, struct ib_udata *udata);

/**
 * bellhop_rss_choose() - who receives a frame
 * @rss: the QP's
 * @frame: the frame's headers
 *
 * Context: any.
 * Return: the number of a receive work queue.
 */
u32 bellhop_rss_choose(const struct bellhop_rss *rss, const struct bellhop_frame *frame);

/* Operations of struct ib_device_ops. */
int bellhop_table_create(struct ib_rwq_ind_table *ibtable, struct ib_rwq_ind_table_init_attr *attr,
			 struct ib_udata *udata);
int bellhop_table_destroy(struct ib_rwq_ind_table *ibtable);

#endif
