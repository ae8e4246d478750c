/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* dm.h: device memory: pages of the kernel's that a program maps and registers. */
#ifndef BELLHOP_DM_H
#define BELLHOP_DM_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct bellhop_mapping;

/**
 * struct bellhop_dm - a piece of device memory
 * @ibdm: the core's part, which counts the regions of it
 * @mapping: the pages
 */
struct bellhop_dm {
	struct ib_dm ibdm;
	struct bellhop_mapping *mapping;
};

/* Operations of struct ib_device_ops. */
struct ib_dm *bellhop_dm_alloc(struct ib_device *ibdev, struct ib_ucontext *ibucontext,
			       struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs);
int bellhop_dm_dealloc(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);
struct ib_mr *bellhop_dm_register(struct ib_pd *ibpd, struct ib_dm *ibdm,
				  struct ib_dm_mr_attr *attr, struct uverbs_attr_bundle *attrs);

/* What uverbs learns of it: where it is mapped, told to who allocates it and to who imports it. */
extern const struct uapi_definition bellhop_dm_defs[];

#endif
