// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// requester_fuzz.cpp: a requester whose peer says anything: its positions stay in order, it
// completes each request once and in order, and what it has placed lies within a message.
#include <array>
#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "bth.h"
#include "opcode.h"
#include "psn.h"
#include "requester.h"
#include "responder.h"
#include "segment.h"
}
#include "require.hpp"

namespace
{

constexpr u32 kDepth = 4;

class Driver
{
public:
	explicit Driver(FuzzedDataProvider &input) : input_(input)
	{
		constexpr u32 mtus[] = { 256, 512, 1024, 2048, 4096 };

		r_.requests = requests_.data();
		r_.depth = kDepth;
		r_.service = input.PickValueInArray(
			{ BELLHOP_SERVICE_RC, BELLHOP_SERVICE_XRC, BELLHOP_SERVICE_UC });
		r_.mtu = input.PickValueInArray(mtus);
		r_.window = input.ConsumeIntegralInRange<u32>(1, 300);
		r_.max_rd_atomic = input.ConsumeIntegralInRange<u32>(1, 4);
		r_.retry.timeout = input.ConsumeIntegralInRange<u8>(0, 31);
		r_.retry.retry_cnt = input.ConsumeIntegralInRange<u8>(0, 7);
		r_.retry.rnr_retry = input.ConsumeIntegralInRange<u8>(0, 7);
		bellhop_requester_begin(&r_, input.ConsumeIntegral<u32>() & BELLHOP_PSN_MASK);
	}

	/* Returns whether it goes on. */
	bool step()
	{
		switch (input_.ConsumeIntegralInRange(0, 5)) {
		case 0:
			post();
			break;
		case 1:
			send();
			break;
		case 2:
			now_ += input_.ConsumeIntegral<u32>();
			if (!act(bellhop_requester_expire(&r_, now_)))
				return false;
			break;
		default:
			if (r_.service != BELLHOP_SERVICE_UC && !act(receive()))
				return false;
		}
		check();
		return true;
	}

private:
	void post()
	{
		const u8 wr = input_.ConsumeIntegral<u8>() % BELLHOP_OPCODES;
		const bellhop_opcode *op = bellhop_opcode_row(wr);
		u32 length = input_.ConsumeIntegralInRange<u32>(0, BELLHOP_MAX_MESSAGE);

		if (!bellhop_requester_has_room(&r_) || !(op->services & r_.service) ||
		    (op->traits & BELLHOP_OP_LOCAL))
			return;
		if (op->traits & (BELLHOP_OP_ATOMIC | BELLHOP_OP_WORD))
			length = BELLHOP_ATOMIC_BYTES;
		lengths_[bellhop_requester_post(&r_, wr, length, input_.ConsumeIntegral<u8>())] =
			length;
	}

	void send()
	{
		bellhop_request_packet packet;

		for (int i = 0; i < 100 && bellhop_requester_next(&r_, now_, &packet); i++) {
			REQUIRE(packet.request < kDepth);
			REQUIRE(packet.offset <= lengths_[packet.request]);
			REQUIRE(packet.bytes <= lengths_[packet.request] - packet.offset);
			REQUIRE(packet.psn <= BELLHOP_PSN_MASK);
			REQUIRE(bellhop_bth_row(packet.opcode)->service == r_.service);
			check();
		}
	}

	bellhop_requester_plan receive()
	{
		bellhop_transport transport{};

		do
			transport.opcode = input_.ConsumeIntegral<u8>();
		while (!(bellhop_bth_row(transport.opcode)->traits & BELLHOP_BTH_IS_RESPONSE) &&
		       input_.remaining_bytes());
		if (!(bellhop_bth_row(transport.opcode)->traits & BELLHOP_BTH_IS_RESPONSE))
			transport.opcode = BELLHOP_BTH_ACKNOWLEDGE;
		transport.psn =
			input_.ConsumeBool()
				? u32(r_.una + input_.ConsumeIntegral<u8>()) & BELLHOP_PSN_MASK
				: input_.ConsumeIntegral<u32>() & BELLHOP_PSN_MASK;
		transport.syndrome = input_.ConsumeIntegral<u8>();
		transport.payload =
			input_.ConsumeBool() ? r_.mtu : input_.ConsumeIntegralInRange<u32>(0, 4200);
		return bellhop_requester_receive(&r_, &transport, now_);
	}

	bool act(const bellhop_requester_plan &plan)
	{
		collect();
		switch (plan.verdict) {
		case BELLHOP_REQUESTER_PLACE:
			REQUIRE(plan.position >= r_.una && plan.position < r_.high);
			REQUIRE(plan.position != r_.una ||
				plan.request == (r_.unacked & (kDepth - 1)));
			REQUIRE(plan.offset <= lengths_[plan.request]);
			REQUIRE(plan.bytes <= lengths_[plan.request] - plan.offset);
			if (input_.ConsumeBool())
				bellhop_requester_placed(&r_, &plan, now_);
			collect();
			return true;
		case BELLHOP_REQUESTER_FAIL:
			REQUIRE(r_.unacked != r_.newest);
			REQUIRE(bellhop_responder_refuse(plan.reason)->requester !=
				BELLHOP_WC_FATAL_ERR);
			return false;
		default:
			return true;
		}
	}

	void collect()
	{
		u32 request;

		while (bellhop_requester_done(&r_, &request))
			REQUIRE(request == done_++ % kDepth);
	}

	/* Something but an acknowledgment is waited for: of what was sent, or of all of it. */
	bool waits_for_answers(bool whole) const
	{
		for (u32 i = r_.unacked; i != r_.newest; i++) {
			const bellhop_request &request = requests_[i % kDepth];

			if (bellhop_request_has_answer(&request) && request.first < r_.sent &&
			    (!whole || request.first >= r_.una))
				return true;
		}
		return false;
	}

	void check() const
	{
		REQUIRE(r_.una <= r_.sent && r_.sent <= r_.high && r_.high <= r_.end);
		REQUIRE(r_.newest - r_.oldest <= kDepth);
		REQUIRE(r_.unacked - r_.oldest <= kDepth);
		REQUIRE(r_.sent - r_.una < r_.window + BELLHOP_SEGMENT_READ_PACKETS);
		REQUIRE(r_.reads <= r_.max_rd_atomic);
		REQUIRE(!r_.reads || waits_for_answers(false));
		REQUIRE(r_.reads || !waits_for_answers(true));
		REQUIRE(r_.probe.before <= r_.high);
		REQUIRE((r_.sent == r_.end) == (r_.sending == r_.newest));
		REQUIRE((r_.una == r_.end) == (r_.unacked == r_.newest));
		REQUIRE(r_.repair >= r_.repair_end ||
			(r_.una <= r_.repair && r_.repair_end <= r_.sent));
		REQUIRE(r_.allowed >= 1 && r_.allowed <= r_.window);
		REQUIRE(!r_.probe.due_ns || r_.deadline_ns);
		REQUIRE(r_.probe.count <= BELLHOP_PROBES);
	}

	FuzzedDataProvider &input_;
	std::array<bellhop_request, kDepth> requests_{};
	std::array<u32, kDepth> lengths_{};
	bellhop_requester r_{};
	u64 now_ = 1;
	u32 done_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input(data, size);
	Driver driver(input);

	while (input.remaining_bytes() && driver.step())
		;
	return 0;
}
