/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* wqe.c: copies work queue entries out of shared memory and checks the copies. */
#include "wqe.h"

static u32 round_up_to(u32 bytes, u32 unit)
{
	return (bytes + unit - 1) & ~(unit - 1);
}

u32 bellhop_wqe_send_stride(const struct bellhop_wqe_limits *limits)
{
	u32 elements = limits->max_sge * (u32)sizeof(struct bellhop_sge);
	u32 payload = elements > limits->max_inline ? elements : limits->max_inline;

	return round_up_to((u32)sizeof(struct bellhop_sqe) + payload, 64);
}

u32 bellhop_wqe_recv_stride(const struct bellhop_wqe_limits *limits)
{
	u32 elements = limits->max_sge * (u32)sizeof(struct bellhop_sge);

	return round_up_to((u32)sizeof(struct bellhop_rqe) + elements, 32);
}

/* The compiler may not fetch from @from again once this has returned. */
static void copy_once(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	barrier();
}

static u64 sum_lengths(const struct bellhop_sge *sge, u32 num_sge)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < num_sge; i++)
		sum += sge[i].length;
	return sum;
}

enum bellhop_reason bellhop_wqe_decode_send(struct bellhop_send_wqe *wqe, const void *slot,
					    const struct bellhop_wqe_limits *limits)
{
	const u8 *payload = (const u8 *)slot + sizeof(struct bellhop_sqe);
	const struct bellhop_sqe *head = &wqe->head;
	u64 length;

	copy_once(&wqe->head, slot, sizeof(wqe->head));
	wqe->op = bellhop_opcode_row(head->opcode);
	wqe->length = 0;
	if (!(wqe->op->traits & BELLHOP_OP_VALID))
		return BELLHOP_REASON_WR_OPCODE;
	if (head->flags & ~wqe->op->flags)
		return BELLHOP_REASON_WR_FLAGS;
	if (head->reserved)
		return BELLHOP_REASON_WR_RESERVED;

	if (head->flags & BELLHOP_SQE_INLINE) {
		if (head->num_sge || head->inline_length > limits->max_inline)
			return BELLHOP_REASON_WR_INLINE;
		copy_once(wqe->data, payload, head->inline_length);
		wqe->length = head->inline_length;
		return BELLHOP_REASON_NONE;
	}

	if (head->inline_length)
		return BELLHOP_REASON_WR_INLINE;
	if (head->num_sge > limits->max_sge)
		return BELLHOP_REASON_WR_NUM_SGE;
	copy_once(wqe->sge, payload, head->num_sge * sizeof(wqe->sge[0]));
	length = sum_lengths(wqe->sge, head->num_sge);
	if (length > BELLHOP_MAX_MESSAGE)
		return BELLHOP_REASON_WR_LENGTH;
	wqe->length = (u32)length;
	return BELLHOP_REASON_NONE;
}

enum bellhop_reason bellhop_wqe_decode_recv(struct bellhop_recv_wqe *wqe, const void *slot,
					    const struct bellhop_wqe_limits *limits)
{
	const u8 *elements = (const u8 *)slot + sizeof(struct bellhop_rqe);
	struct bellhop_rqe head;

	copy_once(&head, slot, sizeof(head));
	wqe->num_sge = 0;
	wqe->length = 0;
	if (head.reserved[0] | head.reserved[1] | head.reserved[2])
		return BELLHOP_REASON_WR_RESERVED;
	if (head.num_sge > limits->max_sge)
		return BELLHOP_REASON_WR_NUM_SGE;
	copy_once(wqe->sge, elements, head.num_sge * sizeof(wqe->sge[0]));
	wqe->num_sge = head.num_sge;
	wqe->length = sum_lengths(wqe->sge, head.num_sge);
	return BELLHOP_REASON_NONE;
}

enum bellhop_wc_status bellhop_wqe_status(enum bellhop_reason reason)
{
	return reason == BELLHOP_REASON_WR_LENGTH ? BELLHOP_WC_LOC_LEN_ERR
						  : BELLHOP_WC_LOC_QP_OP_ERR;
}
