/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* ucontext.h: one open device file of one process. */
#ifndef BELLHOP_UCONTEXT_H
#define BELLHOP_UCONTEXT_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/bellhop-abi.h>

struct bellhop_mapping;

/**
 * struct bellhop_ucontext - a user context
 * @ibucontext: the core's part
 * @id: unlike that of every other context there ever was, so that a kick file that
 * outlives its context reaches nobody
 * @status: the page with struct bellhop_status
 */
struct bellhop_ucontext {
	struct ib_ucontext ibucontext;
	u64 id;
	struct bellhop_mapping *status;
};

static inline struct bellhop_ucontext *bellhop_ucontext_of(struct ib_ucontext *ibucontext)
{
	return container_of(ibucontext, struct bellhop_ucontext, ibucontext);
}

/* Operations of struct ib_device_ops. */
int bellhop_ucontext_alloc(struct ib_ucontext *ibucontext, struct ib_udata *udata);
int bellhop_ucontext_query(struct ib_ucontext *ibucontext, struct uverbs_attr_bundle *attrs);
void bellhop_ucontext_dealloc(struct ib_ucontext *ibucontext);
void bellhop_ucontext_disassociate(struct ib_ucontext *ibucontext);

/* What uverbs learns of contexts: how who joins one asks for what its maker was told. */
extern const struct uapi_definition bellhop_ucontext_defs[];

#endif
