// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* wqe.c: copies work queue entries out of shared memory and checks the copies. */
#include "wqe.h"

static u32 round_up_to(u32 bytes, u32 unit)
{
	return (bytes + unit - 1) & ~(unit - 1);
}

/* What stands before a send entry's payload. */
static u32 head_bytes(const struct bellhop_wqe_limits *limits)
{
	u32 av = limits->service == BELLHOP_SERVICE_UD ? (u32)sizeof(struct bellhop_av) : 0;

	return (u32)sizeof(struct bellhop_sqe) + av;
}

u32 bellhop_wqe_send_stride(const struct bellhop_wqe_limits *limits)
{
	u32 elements = limits->max_sge * (u32)sizeof(struct bellhop_sge);
	u32 payload = elements > limits->max_inline ? elements : limits->max_inline;

	return round_up_to(head_bytes(limits) + payload, 64);
}

u32 bellhop_wqe_inline_room(const struct bellhop_wqe_limits *limits)
{
	u32 room = bellhop_wqe_send_stride(limits) - head_bytes(limits);

	return room < BELLHOP_MAX_INLINE ? room : BELLHOP_MAX_INLINE;
}

u32 bellhop_wqe_recv_stride(const struct bellhop_wqe_limits *limits)
{
	u32 elements = limits->max_sge * (u32)sizeof(struct bellhop_sge);

	return round_up_to((u32)sizeof(struct bellhop_rqe) + elements, 32);
}

/*
 * Copies the elements and adds up their lengths. The copies of this file are in words of
 * fixed number, since a call to memcpy() costs more than they do; each ends with a
 * barrier, so that the compiler does not fetch from shared memory again later.
 */
static u64 copy_elements(struct bellhop_sge *to, const struct bellhop_sge *from, u32 num_sge)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < num_sge; i++) {
		to[i] = from[i];
		barrier();
		length += to[i].length;
	}
	return length;
}

/* The bits of an entry's SRQ number that its service has. */
static u32 srqn_bits(const struct bellhop_wqe_limits *limits)
{
	return limits->service == BELLHOP_SERVICE_XRC ? BELLHOP_SRQN_MAX : 0;
}

/* What a service or an opcode does not use is zero, so that it can get a meaning later. */
static bool has_unused(const struct bellhop_sqe *head, const struct bellhop_opcode *op,
		       const struct bellhop_wqe_limits *limits)
{
	return (head->reserved | (head->srqn & ~srqn_bits(limits))) ||
	       (!(op->traits & BELLHOP_OP_REMOTE) && (head->remote_addr || head->rkey)) ||
	       (!(op->traits & (BELLHOP_OP_IMM | BELLHOP_OP_LOCAL | BELLHOP_OP_INVALIDATE)) &&
		head->ex);
}

static enum bellhop_reason copy_address(struct bellhop_av *av, const void *from)
{
	*av = *(const struct bellhop_av *)from;
	barrier();
	if (av->reserved)
		return BELLHOP_REASON_WR_RESERVED;
	return av->qpn <= BELLHOP_QPN_MAX ? BELLHOP_REASON_NONE : BELLHOP_REASON_WR_ADDRESS;
}

/* They stand behind the one element, where every queue that has elements has room. */
static enum bellhop_reason decode_atomic(struct bellhop_send_wqe *wqe, const void *payload,
					 u64 length)
{
	if (wqe->head.num_sge != 1)
		return BELLHOP_REASON_WR_NUM_SGE;
	if (length != BELLHOP_ATOMIC_BYTES)
		return BELLHOP_REASON_WR_LENGTH;
	wqe->operands = *(const struct bellhop_operands *)((const struct bellhop_sge *)payload + 1);
	barrier();
	if (wqe->head.opcode == BELLHOP_WR_ATOMIC_FETCH_AND_ADD && wqe->operands.swap)
		return BELLHOP_REASON_WR_RESERVED;
	return BELLHOP_REASON_NONE;
}

/* Elements hold it, or else it stands where an atomic's operands do; every slot has the room. */
static enum bellhop_reason decode_word(struct bellhop_send_wqe *wqe, const void *payload,
				       u64 *length)
{
	if (!wqe->head.num_sge) {
		wqe->operands =
			*(const struct bellhop_operands *)((const struct bellhop_sge *)payload + 1);
		barrier();
		*length = BELLHOP_ATOMIC_BYTES;
		return wqe->operands.swap ? BELLHOP_REASON_WR_RESERVED : BELLHOP_REASON_NONE;
	}
	return *length == BELLHOP_ATOMIC_BYTES ? BELLHOP_REASON_NONE : BELLHOP_REASON_WR_LENGTH;
}

/* A bind stands where the elements would, and every slot has the room. */
static enum bellhop_reason decode_local(struct bellhop_send_wqe *wqe, const void *payload)
{
	const u32 access = BELLHOP_BIND_REMOTE_WRITE | BELLHOP_BIND_REMOTE_READ |
			   BELLHOP_BIND_REMOTE_ATOMIC | BELLHOP_BIND_ZERO_BASED;

	if (wqe->head.num_sge)
		return BELLHOP_REASON_WR_NUM_SGE;
	if (wqe->head.opcode != BELLHOP_WR_BIND_MW)
		return BELLHOP_REASON_NONE;
	wqe->bind = *(const struct bellhop_bind *)payload;
	barrier();
	return wqe->bind.access & ~access ? BELLHOP_REASON_WR_FLAGS : BELLHOP_REASON_NONE;
}

enum bellhop_reason bellhop_wqe_decode_send(struct bellhop_send_wqe *wqe, const void *slot,
					    const struct bellhop_wqe_limits *limits)
{
	const void *payload = (const u8 *)slot + head_bytes(limits);
	enum bellhop_reason reason;
	const struct bellhop_sqe *head = &wqe->head;
	u64 length;

	wqe->head = *(const struct bellhop_sqe *)slot;
	barrier();
	wqe->op = bellhop_opcode_row(head->opcode);
	wqe->length = 0;
	if (!(wqe->op->services & limits->service))
		return BELLHOP_REASON_WR_OPCODE;
	if (head->flags & ~wqe->op->flags)
		return BELLHOP_REASON_WR_FLAGS;
	if (has_unused(head, wqe->op, limits))
		return BELLHOP_REASON_WR_RESERVED;
	if (limits->service == BELLHOP_SERVICE_UD) {
		reason = copy_address(&wqe->av, (const u8 *)slot + sizeof(*head));
		if (reason)
			return reason;
	}

	if (head->flags & BELLHOP_SQE_INLINE) {
		if (head->num_sge || head->inline_length > limits->max_inline)
			return BELLHOP_REASON_WR_INLINE;
		memcpy(wqe->data, payload, head->inline_length);
		barrier();
		if ((wqe->op->traits & BELLHOP_OP_WORD) &&
		    head->inline_length != BELLHOP_ATOMIC_BYTES)
			return BELLHOP_REASON_WR_LENGTH;
		wqe->length = head->inline_length;
		return BELLHOP_REASON_NONE;
	}

	if (head->inline_length)
		return BELLHOP_REASON_WR_INLINE;
	if (head->num_sge > limits->max_sge)
		return BELLHOP_REASON_WR_NUM_SGE;
	length = copy_elements(wqe->sge, payload, head->num_sge);
	if (length > BELLHOP_MAX_MESSAGE)
		return BELLHOP_REASON_WR_LENGTH;
	if (wqe->op->traits & (BELLHOP_OP_ATOMIC | BELLHOP_OP_LOCAL | BELLHOP_OP_WORD)) {
		if (wqe->op->traits & BELLHOP_OP_ATOMIC)
			reason = decode_atomic(wqe, payload, length);
		else if (wqe->op->traits & BELLHOP_OP_WORD)
			reason = decode_word(wqe, payload, &length);
		else
			reason = decode_local(wqe, payload);
		if (reason)
			return reason;
	}
	wqe->length = (u32)length;
	return BELLHOP_REASON_NONE;
}

enum bellhop_reason bellhop_wqe_decode_recv(struct bellhop_recv_wqe *wqe, const void *slot,
					    const struct bellhop_wqe_limits *limits)
{
	const void *elements = (const u8 *)slot + sizeof(struct bellhop_rqe);
	struct bellhop_rqe head = *(const struct bellhop_rqe *)slot;

	barrier();
	wqe->num_sge = 0;
	wqe->length = 0;
	wqe->wr_id = head.wr_id;
	if (head.reserved)
		return BELLHOP_REASON_WR_RESERVED;
	if (head.num_sge > limits->max_sge)
		return BELLHOP_REASON_WR_NUM_SGE;
	wqe->num_sge = head.num_sge;
	wqe->length = copy_elements(wqe->sge, elements, head.num_sge);
	return BELLHOP_REASON_NONE;
}

enum bellhop_wc_status bellhop_wqe_status(enum bellhop_reason reason)
{
	return reason == BELLHOP_REASON_WR_LENGTH ? BELLHOP_WC_LOC_LEN_ERR
						  : BELLHOP_WC_LOC_QP_OP_ERR;
}
