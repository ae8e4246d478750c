/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* dma-buf.h: the names that 6.2 gave to dma_buf_vmap() and dma_buf_vunmap(). */
#include_next <linux/dma-buf.h>

#ifndef BELLHOP_COMPAT_DMA_BUF_H
#define BELLHOP_COMPAT_DMA_BUF_H
#ifndef BELLHOP_HAVE_VMAP_UNLOCKED

static inline int dma_buf_vmap_unlocked(struct dma_buf *dmabuf, struct iosys_map *map)
{
	return dma_buf_vmap(dmabuf, map);
}

static inline void dma_buf_vunmap_unlocked(struct dma_buf *dmabuf, struct iosys_map *map)
{
	dma_buf_vunmap(dmabuf, map);
}

#endif /* !BELLHOP_HAVE_VMAP_UNLOCKED */
#endif
