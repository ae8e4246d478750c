// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// kernel_end.hpp: rings in plain memory, and the kernel's end of each for the tests to move.
#pragma once

#include <cstdint>
#include <cstring>
#include <rdma/bellhop-abi.h>
#include "ring_memory.hpp"

extern "C" {
#include "ring.h"
#include "shared_ring.h"
#include "wqe.h"
}

// An SQ or RQ.
class WorkEnd
{
public:
	// slots: a power of two; stride: bytes from slot to slot.
	WorkEnd(std::uint32_t slots, std::uint32_t stride)
	    : map{ .offset = 0,
		   .length = static_cast<std::uint32_t>(BELLHOP_RING_SLOTS + slots * stride),
		   .slots = slots,
		   .stride = stride,
		   .reserved = 0 },
	      memory(slots, stride), ring{ memory.hdr(), slots - 1, stride, 0, 0 }
	{
		// What was there before must not matter.
		std::memset(memory.slot(0), 0xff, std::size_t{ slots } * stride);
	}

	// How many entries the kernel sees.
	int pending()
	{
		return bellhop_ring_pending(&ring);
	}

	// Decodes the oldest entry and takes it. The entry must be valid.
	bellhop_send_wqe take_send(const bellhop_wqe_limits &limits)
	{
		bellhop_send_wqe wqe{};

		reason = bellhop_wqe_decode_send(&wqe, bellhop_ring_front(&ring), &limits);
		index = bellhop_ring_take(&ring);
		return wqe;
	}
	bellhop_recv_wqe take_recv(const bellhop_wqe_limits &limits)
	{
		bellhop_recv_wqe wqe{};

		reason = bellhop_wqe_decode_recv(&wqe, bellhop_ring_front(&ring), &limits);
		index = bellhop_ring_take(&ring);
		return wqe;
	}

	bellhop_ring_map map;
	RingMemory<bellhop_wq_hdr> memory;
	bellhop_work_ring ring;
	bellhop_reason reason = BELLHOP_REASON_NONE; // of what was taken last
	std::uint32_t index = 0; // its number
};

// A CQ.
class CompletionEnd
{
public:
	explicit CompletionEnd(std::uint32_t slots)
	    : map{ .offset = 0,
		   .length = static_cast<std::uint32_t>(BELLHOP_RING_SLOTS +
							slots * sizeof(bellhop_cqe)),
		   .slots = slots,
		   .stride = sizeof(bellhop_cqe),
		   .reserved = 0 },
	      memory(slots, sizeof(bellhop_cqe)), ring{ memory.hdr(), slots - 1, 0, 0, 0 }
	{
	}

	// Returns 0, or -EOVERFLOW when the library has not given the slot back.
	int push(const bellhop_completion &completion)
	{
		return bellhop_ring_push(&ring, &completion);
	}

	// The same of a CQ whose completions say when they were.
	int push(const bellhop_completion &completion, std::uint64_t timestamp,
		 std::uint64_t wallclock)
	{
		return bellhop_ring_push_stamped(&ring, &completion, timestamp, wallclock);
	}

	int push_tagged(const bellhop_completion &completion, std::uint64_t tag,
			std::uint32_t context)
	{
		return bellhop_ring_push_tagged(&ring, &completion, 0, tag, context);
	}

	// A completion of entry number index of the QP's SQ or RQ.
	int push_send(std::uint32_t qpn, std::uint32_t index)
	{
		bellhop_completion completion{};

		completion.qpn = qpn;
		completion.wqe_index = index;
		completion.opcode = BELLHOP_WC_SEND;
		return push(completion);
	}
	int push_recv(std::uint32_t qpn, std::uint32_t index)
	{
		bellhop_completion completion{};

		completion.qpn = qpn;
		completion.wqe_index = index;
		completion.opcode = BELLHOP_WC_RECV;
		return push(completion);
	}

	// Whether what was pushed last raises an event.
	bool fire(bool solicited)
	{
		return bellhop_ring_fire(&ring, solicited);
	}

	// Has what is pushed later go to another CQ's memory. Returns 0 or -EINVAL.
	int move(CompletionEnd &to)
	{
		return bellhop_ring_move(&ring, &to.ring);
	}

	bellhop_ring_map map;
	RingMemory<bellhop_cq_hdr> memory;
	bellhop_completion_ring ring;
};
