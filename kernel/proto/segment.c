// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* segment.c: which opcode each packet of a message has (IBA 9.2.1, table 38). */
#include "segment.h"
#include "bth.h"

/* One packet, whatever it fetches. */
#define ALONE(opcode)                                                                              \
	{                                                                                          \
		(opcode), (opcode), (opcode), (opcode),                                            \
	}

/* By where a packet stands: in the middle, at the beginning, at the end, alone. */
static const u8 requests[][4] = {
	[BELLHOP_WR_RDMA_WRITE] = { BELLHOP_BTH_WRITE_MIDDLE, BELLHOP_BTH_WRITE_FIRST,
				    BELLHOP_BTH_WRITE_LAST, BELLHOP_BTH_WRITE_ONLY },
	[BELLHOP_WR_RDMA_WRITE_WITH_IMM] = { BELLHOP_BTH_WRITE_MIDDLE, BELLHOP_BTH_WRITE_FIRST,
					     BELLHOP_BTH_WRITE_LAST_IMM,
					     BELLHOP_BTH_WRITE_ONLY_IMM },
	[BELLHOP_WR_SEND] = { BELLHOP_BTH_SEND_MIDDLE, BELLHOP_BTH_SEND_FIRST,
			      BELLHOP_BTH_SEND_LAST, BELLHOP_BTH_SEND_ONLY },
	[BELLHOP_WR_SEND_WITH_IMM] = { BELLHOP_BTH_SEND_MIDDLE, BELLHOP_BTH_SEND_FIRST,
				       BELLHOP_BTH_SEND_LAST_IMM, BELLHOP_BTH_SEND_ONLY_IMM },
	[BELLHOP_WR_SEND_WITH_INV] = { BELLHOP_BTH_SEND_MIDDLE, BELLHOP_BTH_SEND_FIRST,
				       BELLHOP_BTH_SEND_LAST_INV, BELLHOP_BTH_SEND_ONLY_INV },
	[BELLHOP_WR_RDMA_READ] = ALONE(BELLHOP_BTH_READ_REQUEST),
	[BELLHOP_WR_ATOMIC_CMP_AND_SWP] = ALONE(BELLHOP_BTH_COMPARE_SWAP),
	[BELLHOP_WR_ATOMIC_FETCH_AND_ADD] = ALONE(BELLHOP_BTH_FETCH_ADD),
	[BELLHOP_WR_ATOMIC_WRITE] = ALONE(BELLHOP_BTH_ATOMIC_WRITE),
};

static const u8 responses[4] = { BELLHOP_BTH_READ_RESPONSE_MIDDLE, BELLHOP_BTH_READ_RESPONSE_FIRST,
				 BELLHOP_BTH_READ_RESPONSE_LAST, BELLHOP_BTH_READ_RESPONSE_ONLY };

static u32 place(bool first, bool last)
{
	return (first ? 1u : 0u) | (last ? 2u : 0u);
}

u8 bellhop_segment_service(enum bellhop_service service)
{
	switch (service) {
	case BELLHOP_SERVICE_UC:
		return BELLHOP_BTH_UC;
	case BELLHOP_SERVICE_UD:
		return BELLHOP_BTH_UD;
	case BELLHOP_SERVICE_XRC:
		return BELLHOP_BTH_XRC;
	default:
		return BELLHOP_BTH_RC;
	}
}

u8 bellhop_segment_opcode(enum bellhop_service service, u8 wr, bool first, bool last)
{
	return bellhop_segment_service(service) | requests[wr][place(first, last)];
}

u8 bellhop_segment_response_opcode(enum bellhop_service service, bool first, bool last)
{
	return bellhop_segment_service(service) | responses[place(first, last)];
}

u8 bellhop_segment_wr(u8 opcode)
{
	const struct bellhop_bth *row = bellhop_bth_row(opcode);

	switch (row->operation) {
	case BELLHOP_OPERATION_SEND:
		if (row->headers & BELLHOP_HAS_IETH)
			return BELLHOP_WR_SEND_WITH_INV;
		return row->headers & BELLHOP_HAS_IMMDT ? BELLHOP_WR_SEND_WITH_IMM
							: BELLHOP_WR_SEND;
	case BELLHOP_OPERATION_WRITE:
		return row->headers & BELLHOP_HAS_IMMDT ? BELLHOP_WR_RDMA_WRITE_WITH_IMM
							: BELLHOP_WR_RDMA_WRITE;
	case BELLHOP_OPERATION_READ:
		return BELLHOP_WR_RDMA_READ;
	case BELLHOP_OPERATION_ATOMIC_WRITE:
		return BELLHOP_WR_ATOMIC_WRITE;
	default:
		return (opcode & 31u) == BELLHOP_BTH_COMPARE_SWAP ? BELLHOP_WR_ATOMIC_CMP_AND_SWP
								  : BELLHOP_WR_ATOMIC_FETCH_AND_ADD;
	}
}
