// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* rss.c: indirection tables, and which queue a frame is for. */
#include <linux/slab.h>
#include "rss.h"
#include "wq.h"

/**
 * struct bellhop_rss - how a QP spreads its frames
 * @hash: what of a frame says where it goes
 * @table: and where that is
 */
struct bellhop_rss {
	struct bellhop_hash hash;
	const struct bellhop_table *table;
};

struct bellhop_rss *bellhop_rss_create(struct ib_rwq_ind_table *ibtable, struct ib_udata *udata)
{
	struct bellhop_create_qp request;
	struct bellhop_rss *rss;
	int err;

	if (!udata || udata->inlen < sizeof(request))
		return ERR_PTR(-EINVAL);
	err = ib_copy_from_udata(&request, udata, sizeof(request));
	if (err)
		return ERR_PTR(err);
	if (request.hash_fields & ~BELLHOP_HASH_FIELDS)
		return ERR_PTR(-EOPNOTSUPP);
	if (request.reserved)
		return ERR_PTR(-EINVAL);
	rss = kzalloc(sizeof(*rss), GFP_KERNEL_ACCOUNT);
	if (!rss)
		return ERR_PTR(-ENOMEM);
	rss->hash.fields = request.hash_fields;
	memcpy(rss->hash.key, request.hash_key, sizeof(rss->hash.key));
	rss->table = container_of(ibtable, struct bellhop_table, ibtable);
	return rss;
}

u32 bellhop_rss_choose(const struct bellhop_rss *rss, const struct bellhop_frame *frame)
{
	const struct bellhop_table *table = rss->table;

	return table->qpns[bellhop_hash_frame(&rss->hash, frame) & (table->num - 1)];
}

int bellhop_table_create(struct ib_rwq_ind_table *ibtable, struct ib_rwq_ind_table_init_attr *attr,
			 struct ib_udata *udata)
{
	struct bellhop_table *table = container_of(ibtable, struct bellhop_table, ibtable);
	u32 i;

	if (attr->log_ind_tbl_size > ilog2(BELLHOP_MAX_TABLE))
		return -EINVAL;
	table->num = 1U << attr->log_ind_tbl_size;
	for (i = 0; i < table->num; i++)
		table->qpns[i] = bellhop_wq_of(attr->ind_tbl[i])->qp.qpn;
	return 0;
}

int bellhop_table_destroy(struct ib_rwq_ind_table *ibtable)
{
	return 0;
}
