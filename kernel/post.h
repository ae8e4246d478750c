/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* post.h: work requests of consumers in the kernel. */
#ifndef BELLHOP_POST_H
#define BELLHOP_POST_H

#include <rdma/ib_verbs.h>

/*
 * Operations of struct ib_device_ops. They write into the rings as a library would,
 * in any context, and leave the execution to the worker. Return 0, or a negative errno
 * with @bad set to the request that was not posted; -EOPNOTSUPP for a user's.
 */
int bellhop_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad);
int bellhop_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);
int bellhop_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad);

#endif
