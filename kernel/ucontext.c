// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ucontext.c: user contexts and their status pages. */
#include <linux/module.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>
#include "mapping.h"
#include "ucontext.h"

#define UVERBS_MODULE_NAME bellhop
#include <rdma/uverbs_named_ioctl.h>

static struct bellhop_alloc_ucontext_resp describe(const struct bellhop_ucontext *ucontext)
{
	return (struct bellhop_alloc_ucontext_resp){
		.status_offset = bellhop_mapping_offset(ucontext->status),
		.status_length = bellhop_mapping_length(ucontext->status),
	};
}

int bellhop_ucontext_alloc(struct ib_ucontext *ibucontext, struct ib_udata *udata)
{
	static atomic64_t ids;
	struct bellhop_ucontext *ucontext = bellhop_ucontext_of(ibucontext);
	struct bellhop_alloc_ucontext_resp resp;
	struct bellhop_status *status;
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	ucontext->status = bellhop_mapping_create(ibucontext, sizeof(*status), true);
	if (IS_ERR(ucontext->status))
		return PTR_ERR(ucontext->status);
	ucontext->id = atomic64_inc_return(&ids);

	/* The poster's own kick executes what it posts: there is nobody else to see it. */
	status = ucontext->status->memory;
	WRITE_ONCE(status->need_kick, 1);

	resp = describe(ucontext);
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		bellhop_mapping_destroy(ucontext->status);
	return err;
}

int bellhop_ucontext_query(struct ib_ucontext *ibucontext, struct uverbs_attr_bundle *attrs)
{
	struct bellhop_alloc_ucontext_resp resp = describe(bellhop_ucontext_of(ibucontext));

	/* Without the driver's attribute the core's answer is all that was asked for. */
	if (!uverbs_attr_is_valid(attrs, BELLHOP_ATTR_QUERY_CONTEXT_RESP))
		return 0;
	return uverbs_copy_to(attrs, BELLHOP_ATTR_QUERY_CONTEXT_RESP, &resp, sizeof(resp));
}

void bellhop_ucontext_dealloc(struct ib_ucontext *ibucontext)
{
	bellhop_mapping_destroy(bellhop_ucontext_of(ibucontext)->status);
}

void bellhop_ucontext_disassociate(struct ib_ucontext *ibucontext)
{
	struct bellhop_status *status = bellhop_ucontext_of(ibucontext)->status->memory;

	/* What is mapped stays mapped, and nobody answers any more. */
	WRITE_ONCE(status->gone, 1);
	WRITE_ONCE(status->need_kick, 0);
}

#define ANSWER UVERBS_ATTR_TYPE(struct bellhop_alloc_ucontext_resp)

ADD_UVERBS_ATTRIBUTES_SIMPLE(bellhop_query_context, UVERBS_OBJECT_DEVICE,
			     UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(BELLHOP_ATTR_QUERY_CONTEXT_RESP, ANSWER,
						 UA_OPTIONAL));

const struct uapi_definition bellhop_ucontext_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &bellhop_query_context),
	{},
};
