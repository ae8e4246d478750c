// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ah.c: address handles are addresses. */
#include "ah.h"
#include "device.h"
#include "proto/quota.h"

int bellhop_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr->ah_attr);
	struct bellhop_av *av = &container_of(ibah, struct bellhop_ah, ibah)->av;
	int err;

	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	if (!(rdma_ah_get_ah_flags(attr->ah_attr) & IB_AH_GRH))
		return -EINVAL;
	err = bellhop_quota_take(&bellhop_device_of(ibah->device)->used.ahs, BELLHOP_MAX_AH);
	if (err)
		return err;
	memcpy(av->dgid, grh->dgid.raw, sizeof(av->dgid));
	av->flow_label = grh->flow_label & 0xfffff;
	av->sgid_index = grh->sgid_index;
	av->hop_limit = grh->hop_limit;
	av->traffic_class = grh->traffic_class;
	return 0;
}

int bellhop_ah_destroy(struct ib_ah *ibah, u32 flags)
{
	bellhop_quota_give(&bellhop_device_of(ibah->device)->used.ahs);
	return 0;
}

int bellhop_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct bellhop_av *av = bellhop_ah_av(ibah);
	union ib_gid dgid;

	memcpy(dgid.raw, av->dgid, sizeof(dgid.raw));
	attr->type = ibah->type;
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_ah_flags(attr, IB_AH_GRH);
	rdma_ah_set_grh(attr, &dgid, av->flow_label, av->sgid_index, av->hop_limit,
			av->traffic_class);
	return 0;
}
