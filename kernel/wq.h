/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* wq.h: receive work queues: each is a QP that nobody names, and that only receives. */
#ifndef BELLHOP_WQ_H
#define BELLHOP_WQ_H

#include <rdma/ib_verbs.h>
#include "qp.h"

/**
 * struct bellhop_wq - a receive work queue
 * @ibwq: the core's part
 * @qp: what receives; the core knows nothing of it
 */
struct bellhop_wq {
	struct ib_wq ibwq;
	struct bellhop_qp qp;
};

static inline struct bellhop_wq *bellhop_wq_of(struct ib_wq *ibwq)
{
	return container_of(ibwq, struct bellhop_wq, ibwq);
}

/* Operations of struct ib_device_ops. */
struct ib_wq *bellhop_wq_create(struct ib_pd *ibpd, struct ib_wq_init_attr *attr,
				struct ib_udata *udata);
int bellhop_wq_modify(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		      struct ib_udata *udata);
int bellhop_wq_destroy(struct ib_wq *ibwq, struct ib_udata *udata);

#endif
