// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe_fuzz.cpp: decodes slots full of anything. The slot is a heap block of the queue's stride,
// so one byte read behind it is an error; so is a reason that does not hold.
#include <algorithm>
#include <cstring>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "wqe.h"
}
#include "require.hpp"

namespace
{

u64 sum_of(const bellhop_sge *sges, u32 count)
{
	u64 sum = 0;

	for (u32 i = 0; i < count; i++)
		sum += sges[i].length;
	return sum;
}

std::vector<u8> slot_of(FuzzedDataProvider &input, u32 stride)
{
	std::vector<u8> bytes = input.ConsumeRemainingBytes<u8>();

	bytes.resize(stride);
	bytes.shrink_to_fit();
	return bytes;
}

bool takes_inline(u8 opcode)
{
	return opcode < BELLHOP_WR_RDMA_READ || opcode >= BELLHOP_WR_SEND_WITH_INV;
}

bool is_local(u8 opcode)
{
	return opcode == BELLHOP_WR_LOCAL_INV || opcode == BELLHOP_WR_BIND_MW;
}

// What is accepted is within every limit.
void check_accepted(const bellhop_send_wqe &wqe, const u8 *payload,
		    const bellhop_wqe_limits &limits)
{
	const bellhop_sqe &head = wqe.head;

	REQUIRE(head.opcode < BELLHOP_OPCODES);
	REQUIRE(!(head.flags & ~wqe.op->flags));
	REQUIRE(!head.reserved);
	REQUIRE(head.srqn <= (limits.service == BELLHOP_SERVICE_XRC ? BELLHOP_SRQN_MAX : 0u));
	REQUIRE(wqe.length <= BELLHOP_MAX_MESSAGE);
	REQUIRE(wqe.op->services & limits.service);
	if (limits.service == BELLHOP_SERVICE_UD) {
		REQUIRE(wqe.av.qpn <= BELLHOP_QPN_MAX && !wqe.av.reserved);
		REQUIRE(!std::memcmp(&wqe.av, payload - sizeof(wqe.av), sizeof(wqe.av)));
	}
	if (head.flags & BELLHOP_SQE_INLINE) {
		REQUIRE(takes_inline(head.opcode));
		REQUIRE(!head.num_sge);
		REQUIRE(wqe.length == head.inline_length);
		REQUIRE(wqe.length <= limits.max_inline);
		REQUIRE(!std::memcmp(wqe.data, payload, wqe.length));
	} else {
		REQUIRE(!head.inline_length);
		REQUIRE(head.num_sge <= limits.max_sge);
		if ((wqe.op->traits & BELLHOP_OP_WORD) && !head.num_sge)
			REQUIRE(wqe.length == BELLHOP_ATOMIC_BYTES && !wqe.operands.swap);
		else
			REQUIRE(wqe.length == sum_of(wqe.sge, head.num_sge));
		REQUIRE(!std::memcmp(wqe.sge, payload, head.num_sge * sizeof(bellhop_sge)));
	}
	if (is_local(head.opcode))
		REQUIRE(!head.num_sge && !head.rkey && !head.remote_addr && !wqe.length);
	if (head.opcode == BELLHOP_WR_BIND_MW) {
		REQUIRE(!std::memcmp(&wqe.bind, payload, sizeof(wqe.bind)));
		REQUIRE(!(wqe.bind.access & ~0x2eu));
	}
	if (wqe.op->traits & BELLHOP_OP_ATOMIC) {
		REQUIRE(head.num_sge == 1 && wqe.length == BELLHOP_ATOMIC_BYTES);
		REQUIRE(!std::memcmp(&wqe.operands, payload + sizeof(bellhop_sge),
				     sizeof(wqe.operands)));
	}
}

// A refusal is never for something that is right.
void check_refused(bellhop_reason reason, const bellhop_send_wqe &wqe, const u8 *payload,
		   const bellhop_wqe_limits &limits)
{
	const bellhop_sqe &head = wqe.head;
	bool is_inline = head.flags & BELLHOP_SQE_INLINE;
	bool is_atomic = wqe.op->traits & BELLHOP_OP_ATOMIC;
	bool is_word = wqe.op->traits & BELLHOP_OP_WORD;
	bellhop_sge sges[BELLHOP_MAX_SGE];

	REQUIRE(wqe.length == 0);
	switch (reason) {
	case BELLHOP_REASON_WR_OPCODE:
		REQUIRE(head.opcode >= BELLHOP_OPCODES || !wqe.op->services ||
			(limits.service == BELLHOP_SERVICE_UD && head.opcode != BELLHOP_WR_SEND &&
			 head.opcode != BELLHOP_WR_SEND_WITH_IMM) ||
			(limits.service == BELLHOP_SERVICE_UC &&
			 head.opcode >= BELLHOP_WR_RDMA_READ && !is_local(head.opcode)));
		break;
	case BELLHOP_REASON_WR_FLAGS:
		REQUIRE((head.flags & 0xf0) || (is_inline && !takes_inline(head.opcode)) ||
			(is_local(head.opcode) && (head.flags & BELLHOP_SQE_SOLICITED)) ||
			(head.opcode == BELLHOP_WR_BIND_MW && (wqe.bind.access & ~0x2eu)));
		break;
	case BELLHOP_REASON_WR_RESERVED:
		REQUIRE(head.reserved || head.srqn || head.ex || head.rkey || head.remote_addr ||
			(limits.service == BELLHOP_SERVICE_UD && wqe.av.reserved) ||
			((head.opcode == BELLHOP_WR_ATOMIC_FETCH_AND_ADD || is_word) &&
			 wqe.operands.swap));
		break;
	case BELLHOP_REASON_WR_ADDRESS:
		REQUIRE(limits.service == BELLHOP_SERVICE_UD && wqe.av.qpn > BELLHOP_QPN_MAX);
		break;
	case BELLHOP_REASON_WR_INLINE:
		REQUIRE(is_inline ? head.num_sge || head.inline_length > limits.max_inline
				  : head.inline_length != 0);
		break;
	case BELLHOP_REASON_WR_NUM_SGE:
		REQUIRE(head.num_sge > limits.max_sge || (is_atomic && head.num_sge != 1) ||
			(is_local(head.opcode) && head.num_sge));
		break;
	case BELLHOP_REASON_WR_LENGTH:
		REQUIRE(head.num_sge <= limits.max_sge);
		if (is_inline) {
			REQUIRE(is_word && head.inline_length != BELLHOP_ATOMIC_BYTES);
			break;
		}
		std::memcpy(sges, payload, head.num_sge * sizeof(bellhop_sge));
		REQUIRE(sum_of(sges, head.num_sge) > BELLHOP_MAX_MESSAGE ||
			(is_atomic && sges[0].length != BELLHOP_ATOMIC_BYTES) ||
			(is_word && sum_of(sges, head.num_sge) != BELLHOP_ATOMIC_BYTES));
		break;
	default:
		REQUIRE(!"a reason of this function");
	}
	REQUIRE(bellhop_wqe_status(reason) == (reason == BELLHOP_REASON_WR_LENGTH
						       ? BELLHOP_WC_LOC_LEN_ERR
						       : BELLHOP_WC_LOC_QP_OP_ERR));
}

void fuzz_send(FuzzedDataProvider &input, const bellhop_wqe_limits &limits)
{
	const std::vector<u8> slot = slot_of(input, bellhop_wqe_send_stride(&limits));
	const std::vector<u8> before = slot;
	const u8 *payload = slot.data() + sizeof(bellhop_sqe) +
			    (limits.service == BELLHOP_SERVICE_UD ? sizeof(bellhop_av) : 0);
	bellhop_send_wqe wqe;

	std::memset(&wqe, 0xa5, sizeof(wqe));
	bellhop_reason reason = bellhop_wqe_decode_send(&wqe, slot.data(), &limits);

	REQUIRE(slot == before);
	REQUIRE(!std::memcmp(&wqe.head, slot.data(), sizeof(wqe.head)));
	REQUIRE(wqe.op == bellhop_opcode_row(wqe.head.opcode));
	if (reason == BELLHOP_REASON_NONE)
		check_accepted(wqe, payload, limits);
	else
		check_refused(reason, wqe, payload, limits);
}

void fuzz_recv(FuzzedDataProvider &input, const bellhop_wqe_limits &limits)
{
	const std::vector<u8> slot = slot_of(input, bellhop_wqe_recv_stride(&limits));
	const std::vector<u8> before = slot;
	bellhop_rqe head;
	bellhop_recv_wqe wqe;

	std::memset(&wqe, 0xa5, sizeof(wqe));
	std::memcpy(&head, slot.data(), sizeof(head));
	bool reserved = head.reserved != 0;
	bellhop_reason reason = bellhop_wqe_decode_recv(&wqe, slot.data(), &limits);

	REQUIRE(slot == before);
	if (reason == BELLHOP_REASON_NONE) {
		REQUIRE(!reserved && head.num_sge <= limits.max_sge);
		REQUIRE(wqe.num_sge == head.num_sge);
		REQUIRE(wqe.wr_id == head.wr_id);
		REQUIRE(wqe.length == sum_of(wqe.sge, wqe.num_sge));
		REQUIRE(!std::memcmp(wqe.sge, slot.data() + sizeof(head),
				     wqe.num_sge * sizeof(bellhop_sge)));
		return;
	}
	REQUIRE(reason == (reserved ? BELLHOP_REASON_WR_RESERVED : BELLHOP_REASON_WR_NUM_SGE));
	REQUIRE(reserved || head.num_sge > limits.max_sge);
	REQUIRE(wqe.num_sge == 0 && wqe.length == 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input{ data, size };
	bool is_send = input.ConsumeBool();
	u32 max_sge = input.ConsumeIntegralInRange<u32>(0, BELLHOP_MAX_SGE);
	u32 max_inline = input.ConsumeIntegralInRange<u32>(0, BELLHOP_MAX_INLINE);
	auto service = input.PickValueInArray({ BELLHOP_SERVICE_RC, BELLHOP_SERVICE_UD,
						BELLHOP_SERVICE_UC, BELLHOP_SERVICE_XRC });

	if (is_send)
		fuzz_send(input, { max_sge, max_inline, service });
	else
		fuzz_recv(input, { max_sge, 0, service });
	return 0;
}
