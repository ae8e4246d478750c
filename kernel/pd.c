// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* pd.c: protection domains are numbers. */
#include <linux/idr.h>
#include "pd.h"

static DEFINE_IDA(numbers);

int bellhop_pd_alloc(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct bellhop_pd *pd = container_of(ibpd, struct bellhop_pd, ibpd);
	int number = ida_alloc(&numbers, GFP_KERNEL);

	if (number < 0)
		return number;
	pd->pdn = number;
	return 0;
}

int bellhop_pd_dealloc(struct ib_pd *ibpd, struct ib_udata *udata)
{
	ida_free(&numbers, bellhop_pd_number(ibpd));
	return 0;
}
