// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* opcode.c: the table of send opcodes (IBA 10.8.2, table 81). */
#include "opcode.h"
#include "key.h"

#define SEND_FLAGS                                                                                 \
	(BELLHOP_SQE_FENCE | BELLHOP_SQE_SIGNALED | BELLHOP_SQE_SOLICITED | BELLHOP_SQE_INLINE)

#define CONNECTED (BELLHOP_SERVICES_RELIABLE | BELLHOP_SERVICE_UC)

#define ATOMIC(completes_as)                                                                       \
	{                                                                                          \
		.services = BELLHOP_SERVICES_RELIABLE,                                             \
		.traits = BELLHOP_OP_REMOTE | BELLHOP_OP_READ | BELLHOP_OP_ATOMIC,                 \
		.flags = SEND_FLAGS & ~BELLHOP_SQE_INLINE, .wc = (completes_as),                   \
		.access = BELLHOP_ACCESS_REMOTE_ATOMIC,                                            \
	}

#define LOCAL(more_traits, completes_as)                                                           \
	{                                                                                          \
		.services = CONNECTED, .traits = BELLHOP_OP_LOCAL | (more_traits),                 \
		.flags = BELLHOP_SQE_FENCE | BELLHOP_SQE_SIGNALED, .wc = (completes_as),           \
	}

const struct bellhop_opcode bellhop_opcode_rows[] = {
	[BELLHOP_WR_RDMA_WRITE] =
		{
			.services = CONNECTED,
			.traits = BELLHOP_OP_REMOTE,
			.flags = SEND_FLAGS,
			.wc = BELLHOP_WC_RDMA_WRITE,
			.access = BELLHOP_ACCESS_REMOTE_WRITE,
		},
	[BELLHOP_WR_RDMA_WRITE_WITH_IMM] =
		{
			.services = CONNECTED,
			.traits = BELLHOP_OP_REMOTE | BELLHOP_OP_RECV | BELLHOP_OP_IMM,
			.flags = SEND_FLAGS,
			.wc = BELLHOP_WC_RDMA_WRITE,
			.recv_wc = BELLHOP_WC_RECV_RDMA_WITH_IMM,
			.access = BELLHOP_ACCESS_REMOTE_WRITE,
		},
	[BELLHOP_WR_SEND] =
		{
			.services = CONNECTED | BELLHOP_SERVICE_UD | BELLHOP_SERVICE_RAW,
			.traits = BELLHOP_OP_RECV | BELLHOP_OP_SCATTER,
			.flags = SEND_FLAGS,
			.wc = BELLHOP_WC_SEND,
			.recv_wc = BELLHOP_WC_RECV,
		},
	[BELLHOP_WR_SEND_WITH_IMM] =
		{
			.services = CONNECTED | BELLHOP_SERVICE_UD,
			.traits = BELLHOP_OP_RECV | BELLHOP_OP_SCATTER | BELLHOP_OP_IMM,
			.flags = SEND_FLAGS,
			.wc = BELLHOP_WC_SEND,
			.recv_wc = BELLHOP_WC_RECV,
		},
	[BELLHOP_WR_RDMA_READ] =
		{
			.services = BELLHOP_SERVICES_RELIABLE,
			.traits = BELLHOP_OP_REMOTE | BELLHOP_OP_READ,
			.flags = SEND_FLAGS & ~BELLHOP_SQE_INLINE,
			.wc = BELLHOP_WC_RDMA_READ,
			.access = BELLHOP_ACCESS_REMOTE_READ,
		},
	[BELLHOP_WR_ATOMIC_CMP_AND_SWP] = ATOMIC(BELLHOP_WC_COMP_SWAP),
	[BELLHOP_WR_ATOMIC_FETCH_AND_ADD] = ATOMIC(BELLHOP_WC_FETCH_ADD),
	[BELLHOP_WR_LOCAL_INV] = LOCAL(BELLHOP_OP_INVALIDATE, BELLHOP_WC_LOCAL_INV),
	[BELLHOP_WR_BIND_MW] = LOCAL(0, BELLHOP_WC_BIND_MW),
	/* An unreliable connection has no packet that asks for it (IBA 9.2, table 38). */
	[BELLHOP_WR_SEND_WITH_INV] =
		{
			.services = BELLHOP_SERVICES_RELIABLE,
			.traits = BELLHOP_OP_RECV | BELLHOP_OP_SCATTER | BELLHOP_OP_INVALIDATE,
			.flags = SEND_FLAGS,
			.wc = BELLHOP_WC_SEND,
			.recv_wc = BELLHOP_WC_RECV,
		},
	/* IBA annex A19. */
	[BELLHOP_WR_ATOMIC_WRITE] =
		{
			.services = BELLHOP_SERVICES_RELIABLE,
			.traits = BELLHOP_OP_REMOTE | BELLHOP_OP_WORD,
			.flags = SEND_FLAGS,
			.wc = BELLHOP_WC_ATOMIC_WRITE,
			.access = BELLHOP_ACCESS_REMOTE_WRITE,
		},
	[BELLHOP_OPCODES] = {},
};
