// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* advise.c: fetches pages on demand ahead of the requests that need them. */
#include "advise.h"
#include "device.h"
#include "fault.h"
#include "grant.h"
#include "pd.h"

static const enum bellhop_fetch fetches[] = {
	[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH] = BELLHOP_FETCH_READ,
	[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE] = BELLHOP_FETCH_WRITE,
	[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT] = BELLHOP_FETCH_PRESENT,
};

/* As the manual page of ibv_advise_mr() has it. */
static int error_of(enum bellhop_reason reason)
{
	switch (reason) {
	case BELLHOP_REASON_LKEY_PD:
	case BELLHOP_REASON_LKEY_ACCESS:
		return -EPERM;
	case BELLHOP_REASON_LKEY_RANGE:
		return -EFAULT;
	default:
		return -ENOENT;
	}
}

/* What an element names: then @need has a reference to its demand. */
static int find(struct ib_pd *ibpd, const struct ib_sge *ibsge, enum bellhop_fetch how,
		struct bellhop_need *need)
{
	const struct bellhop_sge sge = {
		.addr = ibsge->addr,
		.length = ibsge->length,
		.lkey = ibsge->lkey,
	};
	u32 access = how == BELLHOP_FETCH_WRITE ? BELLHOP_ACCESS_LOCAL_WRITE : 0;
	struct bellhop_grant *grant;
	enum bellhop_reason reason;

	rcu_read_lock();
	grant = bellhop_grant_get(bellhop_device_of(ibpd->device), &sge, bellhop_pd_number(ibpd), 0,
				  access, false, BELLHOP_SIDE_REQUESTER, &reason);
	if (grant) {
		*need = (struct bellhop_need){
			.demand = grant->demand,
			.offset = sge.addr - grant->origin,
			.length = sge.length,
			.how = how,
		};
		if (need->demand)
			bellhop_demand_hold(need->demand);
		bellhop_grant_put(grant, BELLHOP_SIDE_REQUESTER);
	}
	rcu_read_unlock();
	if (!grant)
		return error_of(reason);
	return need->demand ? 0 : -EINVAL;
}

static int fetch(const struct bellhop_need *need, bool wait)
{
	/* Of the caller's own pages those at hand are found at once. */
	if (wait || need->how == BELLHOP_FETCH_PRESENT)
		return bellhop_demand_fetch_all(need->demand, need->offset, need->length,
						need->how);
	/* It is advice, which is lost without memory. */
	bellhop_fault_put(bellhop_fault_start(need, 0));
	return 0;
}

int bellhop_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		      struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs)
{
	struct bellhop_need need;
	int err = 0;
	u32 i;

	if ((u32)advice >= ARRAY_SIZE(fetches) || (flags & ~IB_UVERBS_ADVISE_MR_FLAG_FLUSH))
		return -EOPNOTSUPP;
	for (i = 0; i < num_sge && !err; i++) {
		if (!sg_list[i].length)
			continue;
		err = find(ibpd, &sg_list[i], fetches[advice], &need);
		if (err)
			break;
		err = fetch(&need, flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH);
		bellhop_demand_put(need.demand);
	}
	return err;
}
