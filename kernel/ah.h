/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* ah.h: address handles, which datagrams are sent with. */
#ifndef BELLHOP_AH_H
#define BELLHOP_AH_H

#include <rdma/ib_verbs.h>
#include <rdma/bellhop-abi.h>

/* They take nothing but memory. */
#define BELLHOP_MAX_AH (1 << 20)

/**
 * struct bellhop_ah - an address handle
 * @ibah: the core's part
 * @av: what goes into an entry; its QP number and Q_Key are the request's own
 *
 * A library keeps its own copy and writes that into its ring. Nothing depends on which
 * of the two is right: an address opens nothing.
 */
struct bellhop_ah {
	struct ib_ah ibah;
	struct bellhop_av av;
};

static inline const struct bellhop_av *bellhop_ah_av(struct ib_ah *ibah)
{
	return &container_of(ibah, struct bellhop_ah, ibah)->av;
}

/* Operations of struct ib_device_ops. */
int bellhop_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *attr, struct ib_udata *udata);
int bellhop_ah_destroy(struct ib_ah *ibah, u32 flags);
int bellhop_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr);

#endif
