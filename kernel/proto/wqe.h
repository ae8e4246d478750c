/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * wqe.h: a work queue entry, copied out of shared memory once and checked.
 *
 * After these functions nothing that user space can still change is looked at again.
 */
#ifndef BELLHOP_PROTO_WQE_H
#define BELLHOP_PROTO_WQE_H

#include "base.h"
#include "opcode.h"

/**
 * struct bellhop_wqe_limits - what the queue was created for
 * @max_sge: elements, at most BELLHOP_MAX_SGE
 * @max_inline: bytes, at most BELLHOP_MAX_INLINE; 0 on receive queues
 * @service: of a send queue's QP
 */
struct bellhop_wqe_limits {
	u32 max_sge;
	u32 max_inline;
	enum bellhop_service service;
};

/**
 * struct bellhop_send_wqe - a send entry
 * @head: as posted
 * @op: the opcode's row
 * @length: bytes of payload
 * @av: where to, of a datagram
 * @operands: of an atomic operation; or what an atomic write without payload writes
 * @sge: the elements, or with BELLHOP_SQE_INLINE none
 * @data: the inline bytes
 * @bind: of a window that is to be bound, instead
 */
struct bellhop_send_wqe {
	struct bellhop_sqe head;
	const struct bellhop_opcode *op;
	u32 length;
	struct bellhop_av av;
	struct bellhop_operands operands;
	union {
		struct bellhop_sge sge[BELLHOP_MAX_SGE];
		u8 data[BELLHOP_MAX_INLINE];
		struct bellhop_bind bind;
	};
};

/**
 * struct bellhop_recv_wqe - a receive entry
 * @wr_id: what the completion brings back, of an entry of a shared receive queue
 * @num_sge: elements
 * @length: bytes that they hold together
 * @sge: the elements
 */
struct bellhop_recv_wqe {
	u64 wr_id;
	u32 num_sge;
	u64 length;
	struct bellhop_sge sge[BELLHOP_MAX_SGE];
};

/**
 * bellhop_wqe_send_stride() - bytes that each entry of a send queue takes
 * @limits: what the queue is created for
 *
 * Return: a multiple of 64, so that none straddles a cache line more than it must.
 */
u32 bellhop_wqe_send_stride(const struct bellhop_wqe_limits *limits);

/**
 * bellhop_wqe_inline_room() - inline bytes that an entry of a send queue can hold anyway
 * @limits: what the queue is created for
 *
 * Return: @limits->max_inline at least; with as much, the stride is the same.
 */
u32 bellhop_wqe_inline_room(const struct bellhop_wqe_limits *limits);

/**
 * bellhop_wqe_recv_stride() - bytes that each entry of a receive queue takes
 * @limits: what the queue is created for
 *
 * Return: a multiple of 32.
 */
u32 bellhop_wqe_recv_stride(const struct bellhop_wqe_limits *limits);

/**
 * bellhop_wqe_decode_send() - copies and checks a send entry
 * @wqe: filled in; @wqe->head is valid even when the entry is refused
 * @slot: shared memory, the stride of @limits long
 * @limits: the queue's
 *
 * Context: any.
 * Return: BELLHOP_REASON_NONE, or the BELLHOP_REASON_WR_ that refuses the entry.
 */
enum bellhop_reason bellhop_wqe_decode_send(struct bellhop_send_wqe *wqe, const void *slot,
					    const struct bellhop_wqe_limits *limits);

/**
 * bellhop_wqe_decode_recv() - copies and checks a receive entry
 * @wqe: filled in
 * @slot: shared memory, the stride of @limits long
 * @limits: the queue's
 *
 * Context: any.
 * Return: BELLHOP_REASON_NONE, or the BELLHOP_REASON_WR_ that refuses the entry.
 */
enum bellhop_reason bellhop_wqe_decode_recv(struct bellhop_recv_wqe *wqe, const void *slot,
					    const struct bellhop_wqe_limits *limits);

/**
 * bellhop_wqe_remote_range() - the responder's bytes that a request names
 * @wqe: a request with BELLHOP_OP_REMOTE
 *
 * Return: the range, with the rkey as its key.
 */
static inline struct bellhop_sge bellhop_wqe_remote_range(const struct bellhop_send_wqe *wqe)
{
	return (struct bellhop_sge){
		.addr = wqe->head.remote_addr,
		.length = wqe->length,
		.lkey = wqe->head.rkey,
	};
}

/**
 * bellhop_wqe_status() - how a refused send entry completes
 * @reason: what bellhop_wqe_decode_send() returned
 *
 * Return: BELLHOP_WC_LOC_LEN_ERR or BELLHOP_WC_LOC_QP_OP_ERR (IBA 11.6.2).
 */
enum bellhop_wc_status bellhop_wqe_status(enum bellhop_reason reason);

#endif /* BELLHOP_PROTO_WQE_H */
