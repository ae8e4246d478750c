// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// requester_fixture.hpp: a requester of RC, and a responder that says what it likes.
#pragma once

#include <array>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "bth.h"
#include "psn.h"
#include "requester.h"
#include "responder.h"
#include "segment.h"
#include "syndrome.h"
}

namespace fixture
{

inline constexpr u32 kMtu = 256, kPsn = 0xfffffe;
inline constexpr u64 kNow = 1000;

class Requester : public testing::Test
{
protected:
	Requester()
	{
		r.requests = requests.data();
		r.depth = requests.size();
		r.service = BELLHOP_SERVICE_RC;
		r.mtu = kMtu;
		r.window = 32;
		r.max_rd_atomic = 2;
		r.retry.timeout = 1; /* 8192 ns */
		r.retry.retry_cnt = 2;
		r.retry.rnr_retry = 1;
		bellhop_requester_begin(&r, kPsn);
	}

	/* All that may be sent now. */
	std::vector<bellhop_request_packet> sent(u64 now = kNow)
	{
		std::vector<bellhop_request_packet> packets;
		bellhop_request_packet packet;

		while (bellhop_requester_next(&r, now, &packet))
			packets.push_back(packet);
		return packets;
	}

	bellhop_requester_plan hear(u32 ahead, u8 syndrome, u64 now = kNow)
	{
		bellhop_transport transport{};

		transport.opcode = BELLHOP_BTH_RC | BELLHOP_BTH_ACKNOWLEDGE;
		transport.psn = bellhop_psn_add(kPsn, ahead);
		transport.syndrome = syndrome;
		return bellhop_requester_receive(&r, &transport, now);
	}

	bellhop_requester_plan answer(u32 ahead, u8 opcode, u32 payload)
	{
		bellhop_transport transport{};

		transport.opcode = opcode;
		transport.psn = bellhop_psn_add(kPsn, ahead);
		transport.payload = payload;
		return bellhop_requester_receive(&r, &transport, kNow);
	}

	/* An answer that is put where it belongs. */
	bellhop_requester_plan place(u32 ahead, u8 opcode, u32 payload)
	{
		const bellhop_requester_plan plan = answer(ahead, opcode, payload);

		if (plan.verdict == BELLHOP_REQUESTER_PLACE)
			bellhop_requester_placed(&r, &plan, kNow);
		return plan;
	}

	u32 done()
	{
		u32 count = 0, request;

		while (bellhop_requester_done(&r, &request))
			count++;
		return count;
	}

	static constexpr u8 ack = BELLHOP_SYNDROME_ACK, lost = BELLHOP_SYNDROME_NAK;
	static constexpr u8 read_only = BELLHOP_BTH_READ_RESPONSE_ONLY;
	std::array<bellhop_request, 8> requests{};
	bellhop_requester r{};
};

} // namespace fixture
