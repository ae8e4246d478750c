// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// responder_fuzz.cpp: any request at any responder: what is let in is allowed, what is refused has
// a consequence on both sides.
#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "responder.h"
}
#include "require.hpp"

namespace
{

void fuzz_admit(FuzzedDataProvider &input)
{
	bellhop_responder responder{};

	responder.state = static_cast<bellhop_qp_state>(
		input.ConsumeIntegralInRange<int>(0, BELLHOP_QPS_ERR));
	responder.source_qpn = input.ConsumeIntegral<u8>();
	responder.access = input.ConsumeIntegral<u8>();
	responder.max_rd_atomic = input.ConsumeIntegralInRange<u32>(0, 2);
	u32 source = input.ConsumeBool() ? responder.source_qpn : input.ConsumeIntegral<u32>();
	const bellhop_opcode *op = bellhop_opcode_row(input.ConsumeIntegral<u8>());
	constexpr bellhop_service services[] = { BELLHOP_SERVICE_RC, BELLHOP_SERVICE_UC,
						 BELLHOP_SERVICE_UD, BELLHOP_SERVICE_XRC };
	responder.service = input.PickValueInArray(services);
	const bellhop_service service = input.PickValueInArray(services);
	bool hears = bellhop_state_responds(responder.state) && source == responder.source_qpn &&
		     service == responder.service;
	bool allowed = (responder.access & op->access) == op->access;

	switch (bellhop_responder_admit(&responder, source, service, op)) {
	case BELLHOP_REASON_SILENT:
		REQUIRE(!hears);
		break;
	case BELLHOP_REASON_QP_ACCESS:
		REQUIRE(hears && !allowed);
		break;
	case BELLHOP_REASON_NO_RD_ATOMIC:
		REQUIRE(hears && allowed);
		REQUIRE((op->traits & BELLHOP_OP_READ) && responder.max_rd_atomic == 0);
		break;
	case BELLHOP_REASON_NONE:
		REQUIRE(hears && allowed);
		REQUIRE(!(op->traits & BELLHOP_OP_READ) || responder.max_rd_atomic);
		break;
	default:
		REQUIRE(!"a reason of this function");
	}
	/* At most one of these holds in any state. */
	REQUIRE(!bellhop_state_flushes(responder.state) ||
		(!bellhop_state_responds(responder.state) &&
		 !bellhop_state_sends(responder.state)));
	REQUIRE(!bellhop_state_sends(responder.state) || bellhop_state_responds(responder.state));
}

void fuzz_refuse(FuzzedDataProvider &input)
{
	/* The values that the C++ type can have. */
	auto reason = static_cast<bellhop_reason>(input.ConsumeIntegralInRange<u32>(0, 127));
	const bellhop_refusal *refusal = bellhop_responder_refuse(reason);

	REQUIRE(refusal);
	REQUIRE(refusal->requester != BELLHOP_WC_SUCCESS);
	/* A QP that goes to error completes what it has taken; one that does not has taken nothing.
	 */
	REQUIRE(refusal->fatal == (refusal->responder != BELLHOP_WC_SUCCESS));
	REQUIRE(refusal->event == BELLHOP_EVENT_NONE || refusal->fatal);
	REQUIRE(refusal->fatal || !refusal->own);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input{ data, size };

	fuzz_admit(input);
	fuzz_refuse(input);
	return 0;
}
