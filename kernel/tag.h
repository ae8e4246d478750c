/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* tag.h: the tagged buffers of a shared receive queue. */
#ifndef BELLHOP_TAG_H
#define BELLHOP_TAG_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <rdma/uverbs_ioctl.h>
#include "proto/tag.h"
#include "proto/tmh.h"

struct bellhop_srq;

/* What a message may have that begins a rendezvous; all of it but the headers is left out. */
#define BELLHOP_MAX_TAG_HEADER 128

/**
 * struct bellhop_tagged - a tagged buffer
 * @place: of it, among the tags
 * @wr_id: of the completions of the message that takes it
 * @length: bytes that its elements hold together
 * @num_sge: how many
 * @sge: the elements
 * @list: of the QP that is to read the payload of a rendezvous into it
 * @tmh: the headers of that
 * @header: likewise, as they came
 */
struct bellhop_tagged {
	u32 place;
	u64 wr_id;
	u64 length;
	u32 num_sge;
	struct bellhop_sge sge[BELLHOP_MAX_TAG_SGE];
	struct list_head list;
	struct bellhop_tmh tmh;
	u8 header[BELLHOP_TMH_MAX];
};

/**
 * struct bellhop_tag_table - all of them; under the SRQ's lock
 * @tags: who takes which
 * @entries: places of @tags
 * @buffers: what is at each place; one that is taken is its taker's
 */
struct bellhop_tag_table {
	struct bellhop_tags tags;
	struct bellhop_tag *entries;
	struct bellhop_tagged buffers[];
};

/**
 * bellhop_tag_create() - makes an empty table
 * @num: how many buffers it is to hold
 *
 * Context: may sleep.
 * Return: the table, or a negative errno as a pointer.
 */
struct bellhop_tag_table *bellhop_tag_create(u32 num);

/**
 * bellhop_tag_destroy() - frees it
 * @table: or NULL; no message is on its way to one of its buffers
 *
 * Context: may sleep.
 */
void bellhop_tag_destroy(struct bellhop_tag_table *table);

/**
 * bellhop_tag_take() - finds the buffer of a message
 * @srq: has a table
 * @tag: the message's
 *
 * Context: bottom halves are off; takes the SRQ's lock.
 * Return: the buffer, which is the caller's; or NULL, and the message was counted.
 */
struct bellhop_tagged *bellhop_tag_take(struct bellhop_srq *srq, u64 tag);

/**
 * bellhop_tag_uncount() - as if bellhop_tag_take() had not been called in vain
 * @srq: has a table
 *
 * Context: bottom halves are off; takes the SRQ's lock.
 */
void bellhop_tag_uncount(struct bellhop_srq *srq);

/**
 * bellhop_tag_flags() - what completions say of all tagged buffers
 * @srq: has a table
 *
 * Context: bottom halves are off; takes the SRQ's lock.
 * Return: 0, or BELLHOP_WC_TM_SYNC_REQ.
 */
u16 bellhop_tag_flags(struct bellhop_srq *srq);

/**
 * bellhop_tag_give_back() - the next message that matches gets the buffer
 * @srq: has a table
 * @buffer: was taken
 *
 * Context: bottom halves are off; takes the SRQ's lock.
 */
void bellhop_tag_give_back(struct bellhop_srq *srq, struct bellhop_tagged *buffer);

/**
 * bellhop_tag_end() - the buffer is not needed any more
 * @srq: has a table
 * @buffer: was taken
 *
 * Context: bottom halves are off; takes the SRQ's lock.
 */
void bellhop_tag_end(struct bellhop_srq *srq, struct bellhop_tagged *buffer);

/* What uverbs learns of SRQs: how buffers are added to the table, and taken out. */
extern const struct uapi_definition bellhop_tag_defs[];

#endif
