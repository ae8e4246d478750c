/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* dmabuf.h: memory that another driver exports as a file. */
#ifndef BELLHOP_DMABUF_H
#define BELLHOP_DMABUF_H

#include <rdma/ib_verbs.h>

struct bellhop_dmabuf;
struct ib_dmah;
struct uverbs_attr_bundle;

/**
 * bellhop_dmabuf_close() - lets go of exported memory
 * @buffer: nobody reaches its bytes any more; may be NULL
 *
 * Context: may sleep.
 */
void bellhop_dmabuf_close(struct bellhop_dmabuf *buffer);

/* An operation of struct ib_device_ops. */
struct ib_mr *bellhop_dmabuf_register(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				      int access, struct ib_dmah *dmah,
				      struct uverbs_attr_bundle *attrs);

#endif
