// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* request.c: the packets of a message. */
#include "request.h"
#include "psn.h"
#include "segment.h"

static u32 number_of(const struct bellhop_request *request, u64 position)
{
	return (u32)(position - request->first);
}

/* How many packets of the answer are asked for with this one. */
static u32 read_packets(const struct bellhop_request *request, u32 number)
{
	u32 end = (number / BELLHOP_SEGMENT_READ_PACKETS + 1) * BELLHOP_SEGMENT_READ_PACKETS;

	return (end < request->packets ? end : request->packets) - number;
}

u32 bellhop_request_bytes(const struct bellhop_request *request, u32 mtu, u64 position)
{
	return bellhop_segment_bytes(request->length, mtu, number_of(request, position));
}

u32 bellhop_request_plan(const struct bellhop_request *request, enum bellhop_service service,
			 u32 mtu, u64 position, u64 end, struct bellhop_request_packet *packet)
{
	u32 number = number_of(request, position);
	u32 packets, left;

	*packet = (struct bellhop_request_packet){
		.psn = position & BELLHOP_PSN_MASK,
		.offset = number * mtu,
		.first = !number,
		.last = number == request->packets - 1,
	};
	packet->opcode = bellhop_segment_opcode(service, request->wr, packet->first, packet->last);
	packet->solicited = packet->last && (request->flags & BELLHOP_SQE_SOLICITED);
	if (request->wr != BELLHOP_WR_RDMA_READ) {
		packet->bytes = bellhop_request_bytes(request, mtu, position);
		return 1;
	}
	packets = read_packets(request, number);
	if (packets > end - position)
		packets = (u32)(end - position);
	left = request->length - packet->offset;
	packet->bytes = packets * mtu < left ? packets * mtu : left;
	return packets;
}

bool bellhop_request_ends_at(const struct bellhop_request *request, u64 position)
{
	return read_packets(request, number_of(request, position)) == 1;
}

bool bellhop_request_is_answer(const struct bellhop_request *request, u32 mtu,
			       const struct bellhop_transport *transport, u64 position)
{
	u8 operation = bellhop_bth_row(transport->opcode)->operation;

	switch (request->wr) {
	case BELLHOP_WR_RDMA_READ:
		return operation == BELLHOP_OPERATION_READ &&
		       transport->payload == bellhop_request_bytes(request, mtu, position);
	case BELLHOP_WR_ATOMIC_WRITE: /* IBA A19: an answer without payload */
		return operation == BELLHOP_OPERATION_READ && !transport->payload;
	case BELLHOP_WR_ATOMIC_CMP_AND_SWP:
	case BELLHOP_WR_ATOMIC_FETCH_AND_ADD:
		return operation == BELLHOP_OPERATION_ATOMIC;
	default:
		return false;
	}
}
