// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ucontext.c: user contexts and their status pages. */
#include "mapping.h"
#include "ucontext.h"

int bellhop_ucontext_alloc(struct ib_ucontext *ibucontext, struct ib_udata *udata)
{
	static atomic64_t ids;
	struct bellhop_ucontext *ucontext = bellhop_ucontext_of(ibucontext);
	struct bellhop_alloc_ucontext_resp resp = {};
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

	resp.status_offset = bellhop_mapping_offset(ucontext->status);
	resp.status_length = bellhop_mapping_length(ucontext->status);
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		bellhop_mapping_destroy(ucontext->status);
	return err;
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
