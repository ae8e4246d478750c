// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ops.c: gives the kernel the operations in the form that it wants, whichever it is.
 * The driver's functions have the form of the newest kernel.
 */
#include "ops.h"
#include "cq.h"
#include "dmabuf.h"
#include "mr.h"
#include "resource.h"

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	return attrs ? bellhop_cq_create(ibcq, attr, attrs) : bellhop_cq_create_kernel(ibcq, attr);
}

#ifndef BELLHOP_HAVE_CQ_ATTRS
static int create_cq_by_udata(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			      struct ib_udata *udata)
{
	return create_cq(ibcq, attr,
			 udata ? container_of(udata, struct uverbs_attr_bundle, driver_udata)
			       : NULL);
}
#endif

#ifndef BELLHOP_HAVE_RESIZE_USER_CQ
static int resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	return bellhop_cq_resize(ibcq, (unsigned int)cqe, udata);
}
#endif

#ifndef BELLHOP_HAVE_DMAH
static struct ib_mr *reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
				 struct ib_udata *udata)
{
	return bellhop_mr_register(ibpd, start, length, iova, access, NULL, udata);
}

static struct ib_mr *reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova,
					int fd, int access, struct uverbs_attr_bundle *attrs)
{
	return bellhop_dmabuf_register(ibpd, offset, length, iova, fd, access, NULL, attrs);
}

#ifndef BELLHOP_HAVE_DMABUF_ATTRS
static struct ib_mr *reg_user_mr_dmabuf_by_udata(struct ib_pd *ibpd, u64 offset, u64 length,
						 u64 iova, int fd, int access,
						 struct ib_udata *udata)
{
	return reg_user_mr_dmabuf(ibpd, offset, length, iova, fd, access,
				  container_of(udata, struct uverbs_attr_bundle, driver_udata));
}
#endif
#endif

static const struct ib_device_ops adapted_ops = {
#ifdef BELLHOP_HAVE_CREATE_USER_CQ
	.create_user_cq = bellhop_cq_create,
#endif
#ifdef BELLHOP_HAVE_CQ_ATTRS
	.create_cq = create_cq,
#else
	.create_cq = create_cq_by_udata,
#endif
#ifdef BELLHOP_HAVE_FILL_RES_SRQ
	.fill_res_srq_entry = bellhop_resource_fill_srq,
#endif
#ifdef BELLHOP_HAVE_DMAH
	.reg_user_mr = bellhop_mr_register,
	.reg_user_mr_dmabuf = bellhop_dmabuf_register,
#else
	.reg_user_mr = reg_user_mr,
#ifdef BELLHOP_HAVE_DMABUF_ATTRS
	.reg_user_mr_dmabuf = reg_user_mr_dmabuf,
#else
	.reg_user_mr_dmabuf = reg_user_mr_dmabuf_by_udata,
#endif
#endif
#ifdef BELLHOP_HAVE_RESIZE_USER_CQ
	.resize_user_cq = bellhop_cq_resize,
#else
	.resize_cq = resize_cq,
#endif
};

void bellhop_ops_adapt(struct ib_device *ibdev)
{
	ib_set_device_ops(ibdev, &adapted_ops);
}
