// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* pd.c: protection domains are numbers. */
#include <linux/idr.h>
#include "device.h"
#include "pd.h"
#include "proto/quota.h"

static DEFINE_IDA(numbers);

int bellhop_pd_alloc(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct bellhop_pd *pd = container_of(ibpd, struct bellhop_pd, ibpd);
	struct bellhop_used *used = &bellhop_device_of(ibpd->device)->used;
	int number = bellhop_quota_take(&used->pds, BELLHOP_MAX_PD);

	if (number)
		return number;
	number = ida_alloc(&numbers, GFP_KERNEL);
	if (number < 0) {
		bellhop_quota_give(&used->pds);
		return number;
	}
	pd->pdn = number;
	return 0;
}

int bellhop_pd_dealloc(struct ib_pd *ibpd, struct ib_udata *udata)
{
	ida_free(&numbers, bellhop_pd_number(ibpd));
	bellhop_quota_give(&bellhop_device_of(ibpd->device)->used.pds);
	return 0;
}
