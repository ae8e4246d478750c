// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// acceptor_fuzz.cpp: an acceptor whose peer sends anything: a message stays as long as it said, no
// packet is executed twice, and no answer fetches what was not asked for.
#include <array>
#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "acceptor.h"
#include "bth.h"
#include "psn.h"
#include "segment.h"
}
#include "require.hpp"

namespace
{

constexpr u32 kDepth = 4, kKeep = 3;
constexpr u64 kStart = 0x10000;

class Driver
{
public:
	explicit Driver(FuzzedDataProvider &input) : input_(input)
	{
		constexpr u32 mtus[] = { 256, 512, 1024, 2048, 4096 };

		a_.service = input.PickValueInArray(
			{ BELLHOP_SERVICE_RC, BELLHOP_SERVICE_XRC, BELLHOP_SERVICE_UC });
		a_.mtu = input.PickValueInArray(mtus);
		a_.replies.queue = queue_.data();
		a_.replies.depth = kDepth;
		a_.replies.kept = kept_.data();
		a_.replies.keep = input.ConsumeIntegralInRange<u32>(0, kKeep);
		bellhop_acceptor_begin(&a_, input.ConsumeIntegral<u32>() & BELLHOP_PSN_MASK);
	}

	/* Returns whether it goes on. */
	bool step()
	{
		const u32 chance = input_.ConsumeIntegralInRange(0, 4);

		if (chance == 0)
			reply();
		else if (chance == 1)
			resume();
		else if (!receive())
			return false;
		REQUIRE(a_.replies.tail - a_.replies.head <= kDepth);
		REQUIRE(a_.expected <= BELLHOP_PSN_MASK);
		REQUIRE(a_.received <= BELLHOP_MAX_MESSAGE);
		return true;
	}

private:
	bellhop_transport any()
	{
		bellhop_transport transport{};

		transport.opcode = input_.ConsumeBool()
					   ? bellhop_segment_service(a_.service) |
						     input_.ConsumeIntegralInRange<u8>(0, 31)
					   : input_.ConsumeIntegral<u8>();
		transport.psn = a_.expected;
		if (input_.ConsumeIntegralInRange(0, 3) == 0)
			transport.psn =
				(a_.expected + input_.ConsumeIntegral<s32>()) & BELLHOP_PSN_MASK;
		else if (input_.ConsumeIntegralInRange(0, 3) == 0)
			transport.psn =
				(a_.expected - input_.ConsumeIntegral<u8>()) & BELLHOP_PSN_MASK;
		const bellhop_bth *row = bellhop_bth_row(transport.opcode);

		if (row->traits & BELLHOP_BTH_HAS_PAYLOAD)
			transport.payload = input_.ConsumeBool()
						    ? a_.mtu
						    : input_.ConsumeIntegralInRange<u32>(0, 4200);
		if (row->headers & (BELLHOP_HAS_RETH | BELLHOP_HAS_ATOMICETH)) {
			transport.address =
				kStart + a_.mtu * input_.ConsumeIntegralInRange<u32>(0, 3);
			transport.rkey = input_.ConsumeIntegralInRange<u32>(1, 2);
		}
		if (row->headers & BELLHOP_HAS_RETH)
			transport.length =
				input_.ConsumeBool()
					? input_.ConsumeIntegralInRange<u32>(0, 4 * a_.mtu)
					: input_.ConsumeIntegral<u32>();
		transport.ack_request = input_.ConsumeBool();
		transport.repairs = input_.ConsumeBool();
		return transport;
	}

	bool receive()
	{
		const bellhop_transport transport = any();

		if (bellhop_bth_row(transport.opcode)->traits & BELLHOP_BTH_IS_RESPONSE)
			return true;
		return take(transport);
	}

	/* Those that were kept come back under the numbers that they had. */
	void resume()
	{
		u32 place;

		for (int i = 0; i < 100 && bellhop_acceptor_resume(&a_, &place); i++) {
			REQUIRE(place < BELLHOP_STASH_PLACES);
			REQUIRE(stash_[place].psn == a_.expected);
			take(bellhop_transport(stash_[place]));
		}
	}

	bool take(const bellhop_transport &transport)
	{
		const u32 before = a_.expected, msn = a_.msn;
		const bellhop_acceptor_plan plan = bellhop_acceptor_receive(&a_, &transport);

		switch (plan.verdict) {
		case BELLHOP_ACCEPTOR_EXECUTE:
			execute(plan, transport);
			return true;
		case BELLHOP_ACCEPTOR_REFUSE:
			REQUIRE(plan.reason != BELLHOP_REASON_NONE);
			return false;
		case BELLHOP_ACCEPTOR_KEEP:
			REQUIRE(plan.place < BELLHOP_STASH_PLACES && transport.repairs);
			REQUIRE(transport.psn != a_.expected && a_.expected == before);
			if (input_.ConsumeIntegralInRange(0, 7))
				stash_[plan.place] = transport;
			else
				bellhop_acceptor_lose(&a_, plan.place);
			return true;
		default:
			REQUIRE(a_.msn == msn);
			REQUIRE(a_.expected == before || a_.service == BELLHOP_SERVICE_UC);
			return true;
		}
	}

	void execute(const bellhop_acceptor_plan &plan, const bellhop_transport &transport)
	{
		REQUIRE(a_.service == BELLHOP_SERVICE_UC || transport.psn == a_.expected);
		REQUIRE(plan.bytes == transport.payload && plan.bytes <= a_.mtu);
		REQUIRE(plan.offset <= BELLHOP_MAX_MESSAGE - plan.bytes);
		if (plan.operation == BELLHOP_OPERATION_WRITE)
			REQUIRE(plan.offset + plan.bytes <= plan.length);
		if (plan.operation != BELLHOP_OPERATION_SEND)
			REQUIRE(plan.length <= BELLHOP_MAX_MESSAGE);
		if (input_.ConsumeIntegralInRange(0, 7) == 0) {
			bellhop_acceptor_refuse(
				&a_,
				input_.PickValueInArray({ BELLHOP_REASON_RNR, BELLHOP_REASON_SILENT,
							  BELLHOP_REASON_RKEY_PD }),
				input_.ConsumeIntegral<u8>());
			return;
		}
		if (plan.operation == BELLHOP_OPERATION_READ)
			asked_ += plan.length;
		bellhop_acceptor_commit(&a_, &plan, &transport, 0);
	}

	void reply()
	{
		bellhop_reply_packet packet;

		for (int i = 0; i < 100 && bellhop_replies_next(&a_.replies, &packet); i++) {
			REQUIRE(bellhop_bth_row(packet.opcode)->service == a_.service);
			REQUIRE(bellhop_bth_row(packet.opcode)->traits & BELLHOP_BTH_IS_RESPONSE);
			REQUIRE(packet.bytes <= a_.mtu);
			if (packet.bytes)
				REQUIRE(asked_ && packet.address >= kStart);
			if (packet.kind == BELLHOP_REPLY_READ &&
			    input_.ConsumeIntegralInRange(0, 15) == 0)
				bellhop_replies_refuse(&a_.replies, &packet, 0x62);
		}
	}

	FuzzedDataProvider &input_;
	std::array<bellhop_reply, kDepth> queue_{};
	std::array<bellhop_reply, kKeep> kept_{};
	std::array<bellhop_transport, BELLHOP_STASH_PLACES> stash_{};
	bellhop_acceptor a_{};
	u64 asked_ = 0;
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
