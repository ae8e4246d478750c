/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * resource.h: what `rdma resource show -dd` prints of an object beyond what the core knows.
 *
 * Words that user space can write are shown as what the kernel makes of them.
 */
#ifndef BELLHOP_RESOURCE_H
#define BELLHOP_RESOURCE_H

#include <rdma/ib_verbs.h>

/*
 * Operations of struct ib_device_ops. The core keeps the object there; others may use it
 * meanwhile. Return 0, or -EMSGSIZE when the message is full.
 */
int bellhop_resource_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int bellhop_resource_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int bellhop_resource_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int bellhop_resource_fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif
