/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* advise.h: programs say which pages on demand they will need. */
#ifndef BELLHOP_ADVISE_H
#define BELLHOP_ADVISE_H

#include <rdma/ib_verbs.h>

/* Operation of struct ib_device_ops. */
int bellhop_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		      struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs);

#endif
