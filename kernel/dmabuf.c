// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * dmabuf.c: registers memory that another driver exports as a file.
 *
 * This device has no DMA: the processor copies, by the mapping that the exporter makes for the
 * kernel. Who exports memory without a way for the kernel to it, or in a device's own address
 * space, is refused. So is who moves buffers about (a dynamic exporter): its mapping holds only
 * for as long as the buffer is pinned, and only an attachment of a device with DMA can pin it.
 *
 * Transfers are accesses of the program's by the processor. Where an exporter wants such
 * accesses to be announced, it is the program that does so, around its transfers, by
 * DMA_BUF_IOCTL_SYNC; nothing here waits for fences of the buffer.
 */
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "dmabuf.h"
#include "mr.h"
#include "pd.h"

MODULE_INFO(import_ns, "DMA_BUF");

/**
 * struct bellhop_dmabuf - exported memory, mapped
 * @dmabuf: referenced
 * @map: all of it, in the kernel
 */
struct bellhop_dmabuf {
	struct dma_buf *dmabuf;
	struct iosys_map map;
};

/* Whoever may only read the file must not write by a region. */
static int check(const struct dma_buf *dmabuf, u64 offset, u64 length, int access)
{
	const struct bellhop_region all = { .length = dmabuf->size };

	if (!bellhop_key_range_fits(&all, offset, length))
		return -EINVAL;
	if (ib_access_writable(access) && !(dmabuf->file->f_mode & FMODE_WRITE))
		return -EACCES;
	return !dmabuf->ops->vmap || dmabuf->ops->pin ? -EOPNOTSUPP : 0;
}

static int map(struct bellhop_dmabuf *buffer)
{
	int err = dma_buf_vmap_unlocked(buffer->dmabuf, &buffer->map);

	if (err || !buffer->map.is_iomem)
		return err;
	dma_buf_vunmap_unlocked(buffer->dmabuf, &buffer->map);
	return -EOPNOTSUPP;
}

static struct bellhop_dmabuf *open(int fd, u64 offset, u64 length, int access)
{
	struct bellhop_dmabuf *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	int err;

	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer->dmabuf = dma_buf_get(fd);
	if (IS_ERR(buffer->dmabuf)) {
		err = PTR_ERR(buffer->dmabuf);
		goto err_free;
	}
	err = check(buffer->dmabuf, offset, length, access);
	if (!err)
		err = map(buffer);
	if (err)
		goto err_put;
	return buffer;

err_put:
	dma_buf_put(buffer->dmabuf);
err_free:
	kfree(buffer);
	return ERR_PTR(err);
}

void bellhop_dmabuf_close(struct bellhop_dmabuf *buffer)
{
	if (!buffer)
		return;
	dma_buf_vunmap_unlocked(buffer->dmabuf, &buffer->map);
	dma_buf_put(buffer->dmabuf);
	kfree(buffer);
}

struct ib_mr *bellhop_dmabuf_register(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				      int access, struct ib_dmah *dmah,
				      struct uverbs_attr_bundle *attrs)
{
	struct bellhop_dmabuf *buffer;
	struct bellhop_grant *grant;
	struct ib_mr *ibmr;

	if (dmah || (access & ~BELLHOP_MR_ACCESS))
		return ERR_PTR(-EOPNOTSUPP);
	if (bellhop_key_check_region(iova, length))
		return ERR_PTR(-EINVAL);
	buffer = open(fd, offset, length, access);
	if (IS_ERR(buffer))
		return ERR_CAST(buffer);
	grant = bellhop_grant_alloc_piece(bellhop_pd_number(ibpd), (u8 *)buffer->map.vaddr + offset,
					  iova, length, access);
	ibmr = bellhop_mr_create(ibpd, grant, access);
	if (IS_ERR(ibmr))
		bellhop_dmabuf_close(buffer);
	else
		bellhop_mr_of(ibmr)->backing.dmabuf = buffer;
	return ibmr;
}
