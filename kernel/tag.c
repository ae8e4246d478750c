// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* tag.c: keeps the tagged buffers of shared receive queues, and does what their owner asks for. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uverbs_std_types.h>
#include "cq.h"
#include "srq.h"
#include "tag.h"

#define UVERBS_MODULE_NAME bellhop
#include <rdma/uverbs_named_ioctl.h>

struct bellhop_tag_table *bellhop_tag_create(u32 num)
{
	struct bellhop_tag_table *table;

	table = kvzalloc(struct_size(table, buffers, num), GFP_KERNEL_ACCOUNT);
	if (!table)
		return ERR_PTR(-ENOMEM);
	table->entries = kvcalloc(num, sizeof(*table->entries), GFP_KERNEL_ACCOUNT);
	if (!table->entries) {
		kvfree(table);
		return ERR_PTR(-ENOMEM);
	}
	bellhop_tags_init(&table->tags, table->entries, num);
	return table;
}

void bellhop_tag_destroy(struct bellhop_tag_table *table)
{
	if (!table)
		return;
	kvfree(table->entries);
	kvfree(table);
}

struct bellhop_tagged *bellhop_tag_take(struct bellhop_srq *srq, u64 tag)
{
	int place;

	spin_lock(&srq->lock);
	place = bellhop_tags_match(&srq->tags->tags, tag);
	spin_unlock(&srq->lock);
	return place < 0 ? NULL : &srq->tags->buffers[place];
}

void bellhop_tag_uncount(struct bellhop_srq *srq)
{
	spin_lock(&srq->lock);
	bellhop_tags_unmatch(&srq->tags->tags);
	spin_unlock(&srq->lock);
}

static u16 flags_of(const struct bellhop_tags *tags)
{
	return tags->waiting ? BELLHOP_WC_TM_SYNC_REQ : 0;
}

u16 bellhop_tag_flags(struct bellhop_srq *srq)
{
	u16 flags;

	spin_lock(&srq->lock);
	flags = flags_of(&srq->tags->tags);
	spin_unlock(&srq->lock);
	return flags;
}

void bellhop_tag_give_back(struct bellhop_srq *srq, struct bellhop_tagged *buffer)
{
	spin_lock(&srq->lock);
	bellhop_tags_give_back(&srq->tags->tags, buffer->place);
	spin_unlock(&srq->lock);
}

void bellhop_tag_end(struct bellhop_srq *srq, struct bellhop_tagged *buffer)
{
	spin_lock(&srq->lock);
	bellhop_tags_remove(&srq->tags->tags, buffer->place);
	spin_unlock(&srq->lock);
}

/* Returns 0 or -ENOMEM. */
static int add(struct bellhop_tag_table *table, const struct bellhop_tag_op *op)
{
	int place = bellhop_tags_add(&table->tags, op->tag, op->mask, op->handle);
	struct bellhop_tagged *buffer;
	u32 i;

	if (place < 0)
		return place;
	buffer = &table->buffers[place];
	buffer->place = place;
	buffer->wr_id = op->recv_wr_id;
	buffer->num_sge = op->num_sge;
	buffer->length = 0;
	for (i = 0; i < op->num_sge; i++) {
		buffer->sge[i] = op->sge[i];
		buffer->length += op->sge[i].length;
	}
	return 0;
}

/* A buffer that a message has taken cannot be taken out any more. */
static enum bellhop_wc_status take_out(struct bellhop_tags *tags, u32 handle)
{
	int place = bellhop_tags_find(tags, handle);

	if (place < 0)
		return BELLHOP_WC_TM_ERR;
	bellhop_tags_remove(tags, place);
	return BELLHOP_WC_SUCCESS;
}

/* Tells of it in the SRQ's CQ, in the order in which it was done. */
static int execute(struct bellhop_srq *srq, const struct bellhop_tag_op *op)
{
	static const u8 opcodes[] = {
		[BELLHOP_TAG_ADD] = BELLHOP_WC_TM_ADD,
		[BELLHOP_TAG_DEL] = BELLHOP_WC_TM_DEL,
		[BELLHOP_TAG_SYNC] = BELLHOP_WC_TM_SYNC,
	};
	u32 opcode = array_index_nospec(op->opcode, ARRAY_SIZE(opcodes));
	struct bellhop_tags *tags = &srq->tags->tags;
	struct bellhop_completion completion = {
		.wr_id = op->wr_id,
		.qpn = BELLHOP_CQE_SRQ,
		.wqe_index = srq->ibsrq.ext.xrc.srq_num,
		.opcode = opcodes[opcode],
		.status = BELLHOP_WC_SUCCESS,
	};
	int err = 0;

	spin_lock_bh(&srq->lock);
	if (op->opcode == BELLHOP_TAG_SYNC || (op->flags & BELLHOP_TAG_COUNTED))
		bellhop_tags_sync(tags, op->unmatched);
	if (op->opcode == BELLHOP_TAG_ADD)
		err = add(srq->tags, op);
	else if (op->opcode == BELLHOP_TAG_DEL)
		completion.status = take_out(tags, op->handle);
	completion.wc_flags = flags_of(tags);
	/* Under the lock: a message that takes the buffer completes after this. */
	if (!err && (completion.status || (op->flags & BELLHOP_TAG_SIGNALED)))
		bellhop_cq_push(bellhop_cq_of(srq->ibsrq.ext.cq), NULL, &completion, true);
	spin_unlock_bh(&srq->lock);
	return err;
}

static int check(const struct bellhop_tag_op *op)
{
	if (op->opcode > BELLHOP_TAG_SYNC ||
	    (op->flags & ~(BELLHOP_TAG_SIGNALED | BELLHOP_TAG_COUNTED)) || op->reserved)
		return -EINVAL;
	if (op->opcode == BELLHOP_TAG_ADD && op->num_sge > BELLHOP_MAX_TAG_SGE)
		return -EINVAL;
	return 0;
}

static int UVERBS_HANDLER(BELLHOP_METHOD_SRQ_TAG)(struct uverbs_attr_bundle *attrs)
{
	struct bellhop_srq *srq =
		bellhop_srq_of(uverbs_attr_get_obj(attrs, BELLHOP_ATTR_SRQ_TAG_HANDLE));
	struct bellhop_tag_op op;
	int err;

	if (!srq->tags)
		return -EINVAL;
	err = uverbs_copy_from(&op, attrs, BELLHOP_ATTR_SRQ_TAG_OP);
	if (!err)
		err = check(&op);
	return err ?: execute(srq, &op);
}

DECLARE_UVERBS_NAMED_METHOD(BELLHOP_METHOD_SRQ_TAG,
			    UVERBS_ATTR_IDR(BELLHOP_ATTR_SRQ_TAG_HANDLE, UVERBS_OBJECT_SRQ,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(BELLHOP_ATTR_SRQ_TAG_OP,
					       UVERBS_ATTR_TYPE(struct bellhop_tag_op),
					       UA_MANDATORY));

ADD_UVERBS_METHODS(bellhop_tag, UVERBS_OBJECT_SRQ, &UVERBS_METHOD(BELLHOP_METHOD_SRQ_TAG))

const struct uapi_definition bellhop_tag_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_SRQ, &bellhop_tag),
	{},
};
