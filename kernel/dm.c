// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* dm.c: allocates device memory and registers it. */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>
#include "device.h"
#include "dm.h"
#include "mapping.h"
#include "mr.h"
#include "pd.h"
#include "proto/dm.h"
#include "proto/quota.h"

#define UVERBS_MODULE_NAME bellhop
#include <rdma/uverbs_named_ioctl.h>

static struct bellhop_dm *dm_of(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct bellhop_dm, ibdm);
}

/* @length: in bytes, which the core knows of what is there already. */
static int tell(const struct bellhop_dm *dm, u64 length, struct uverbs_attr_bundle *attrs, u16 attr)
{
	const struct bellhop_dm_resp resp = {
		.offset = bellhop_mapping_offset(dm->mapping),
		.length = bellhop_mapping_length(dm->mapping),
		.size = (u32)length,
	};

	return uverbs_copy_to(attrs, attr, &resp, sizeof(resp));
}

struct ib_dm *bellhop_dm_alloc(struct ib_device *ibdev, struct ib_ucontext *ibucontext,
			       struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	u32 *used = &bellhop_device_of(ibdev)->used.dm_bytes;
	u64 length = attr->length;
	struct bellhop_dm *dm;
	int err;

	err = bellhop_dm_check(length, attr->alignment);
	if (err)
		return ERR_PTR(err);
	err = bellhop_quota_take_some(used, PAGE_ALIGN(length), BELLHOP_DM_TOTAL);
	if (err)
		return ERR_PTR(err);
	err = -ENOMEM;
	dm = kzalloc(sizeof(*dm), GFP_KERNEL_ACCOUNT);
	if (!dm)
		goto err_give_back;
	dm->mapping = bellhop_mapping_create(ibucontext, length, false);
	if (IS_ERR(dm->mapping)) {
		err = PTR_ERR(dm->mapping);
		goto err_free;
	}
	err = tell(dm, length, attrs, BELLHOP_ATTR_ALLOC_DM_RESP);
	if (err)
		goto err_mapping;
	return &dm->ibdm;

err_mapping:
	bellhop_mapping_destroy(dm->mapping);
err_free:
	kfree(dm);
err_give_back:
	bellhop_quota_give_some(used, PAGE_ALIGN(length));
	return ERR_PTR(err);
}

int bellhop_dm_dealloc(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	struct bellhop_dm *dm = dm_of(ibdm);

	bellhop_quota_give_some(&bellhop_device_of(ibdm->device)->used.dm_bytes,
				bellhop_mapping_length(dm->mapping));
	bellhop_mapping_destroy(dm->mapping);
	kfree(dm);
	return 0;
}

/* Nobody frees it while the region is there: the core answers EBUSY. */
struct ib_mr *bellhop_dm_register(struct ib_pd *ibpd, struct ib_dm *ibdm,
				  struct ib_dm_mr_attr *attr, struct uverbs_attr_bundle *attrs)
{
	const struct bellhop_region all = { .length = ibdm->length };
	u8 *memory = dm_of(ibdm)->mapping->memory;
	int access = (int)attr->access_flags;
	struct bellhop_grant *grant;

	if (access & ~(BELLHOP_MR_ACCESS | IB_ZERO_BASED))
		return ERR_PTR(-EOPNOTSUPP);
	if (!bellhop_key_range_fits(&all, attr->offset, attr->length))
		return ERR_PTR(-EINVAL);
	grant = bellhop_grant_alloc_piece(bellhop_pd_number(ibpd), memory + attr->offset, 0,
					  attr->length, access);
	return bellhop_mr_create(ibpd, grant, access);
}

static int UVERBS_HANDLER(BELLHOP_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm = uverbs_attr_get_obj(attrs, BELLHOP_ATTR_QUERY_DM_HANDLE);

	return tell(dm_of(ibdm), ibdm->length, attrs, BELLHOP_ATTR_QUERY_DM_RESP);
}

#define ANSWER UVERBS_ATTR_TYPE(struct bellhop_dm_resp)

DECLARE_UVERBS_NAMED_METHOD(BELLHOP_METHOD_DM_QUERY,
			    UVERBS_ATTR_IDR(BELLHOP_ATTR_QUERY_DM_HANDLE, UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(BELLHOP_ATTR_QUERY_DM_RESP, ANSWER, UA_MANDATORY));

ADD_UVERBS_METHODS(bellhop_query_dm, UVERBS_OBJECT_DM, &UVERBS_METHOD(BELLHOP_METHOD_DM_QUERY))

ADD_UVERBS_ATTRIBUTES_SIMPLE(bellhop_alloc_dm, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			     UVERBS_ATTR_PTR_OUT(BELLHOP_ATTR_ALLOC_DM_RESP, ANSWER, UA_MANDATORY));

const struct uapi_definition bellhop_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &bellhop_query_dm),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &bellhop_alloc_dm),
	{},
};
