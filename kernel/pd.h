/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* pd.h: protection domains. */
#ifndef BELLHOP_PD_H
#define BELLHOP_PD_H

#include <rdma/ib_verbs.h>

#define BELLHOP_MAX_PD (1 << 17)

/* The number of no PD. */
#define BELLHOP_PD_NONE U32_MAX

/**
 * struct bellhop_pd - a protection domain
 * @ibpd: the core's part
 * @pdn: its number, unlike that of every other one that exists
 */
struct bellhop_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

static inline u32 bellhop_pd_number(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct bellhop_pd, ibpd)->pdn;
}

/* Operations of struct ib_device_ops. */
int bellhop_pd_alloc(struct ib_pd *ibpd, struct ib_udata *udata);
int bellhop_pd_dealloc(struct ib_pd *ibpd, struct ib_udata *udata);

#endif
