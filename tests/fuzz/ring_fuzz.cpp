// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ring_fuzz.cpp: a kernel's ends of two rings whose shared words change in any way between any
// two of its steps. Both rings are heap blocks of the length of their mapping.
#include <cstring>
#include <set>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "ring.h"
}
#include "require.hpp"

namespace
{

constexpr u32 kSteps = 400;

// Zeroed memory of a ring; 8-byte words, so that the headers are aligned.
std::vector<u64> memory_of(u32 slots, u32 stride)
{
	return std::vector<u64>((BELLHOP_RING_SLOTS + std::size_t{ slots } * stride) / sizeof(u64));
}

class WorkRing
{
public:
	explicit WorkRing(FuzzedDataProvider &input)
	    : slots_{ 1u << input.ConsumeIntegralInRange<u32>(0, 5) },
	      stride_{ 32 * input.ConsumeIntegralInRange<u32>(1, 18) },
	      memory_{ memory_of(slots_, stride_) }, ring_{ hdr(), slots_ - 1, stride_,
							    input.ConsumeIntegral<u32>(), 0 }
	{
		hdr()->producer = ring_.seen = ring_.head;
	}

	void store(u32 producer)
	{
		hdr()->producer = producer;
	}
	void post(u32 count)
	{
		hdr()->producer += count;
	}

	void take()
	{
		int pending = bellhop_ring_pending(&ring_);
		u32 distance = hdr()->producer - ring_.head;

		REQUIRE(pending == (distance > slots_ ? -EINVAL : int(distance)));
		if (pending <= 0)
			return;
		const u8 *front = static_cast<const u8 *>(bellhop_ring_front(&ring_));
		u32 head = ring_.head;

		/* The first and the last byte of the slot: ASan judges them. */
		std::vector<u8> copy(front, front + stride_);
		REQUIRE(copy.size() == stride_);
		REQUIRE(std::size_t(front - bytes()) ==
			BELLHOP_RING_SLOTS + std::size_t{ head % slots_ } * stride_);
		REQUIRE(bellhop_ring_take(&ring_) == head);
		REQUIRE(bellhop_ring_is_done(&ring_) == (pending == 1));
		REQUIRE(bellhop_ring_pending(&ring_) == pending - 1);
	}

	void want(bool want)
	{
		std::vector<u64> before = memory_;

		bellhop_ring_want(&ring_, want);
		REQUIRE(hdr()->wanted == want);
		hdr()->wanted = reinterpret_cast<bellhop_wq_hdr *>(before.data())->wanted;
		REQUIRE(memory_ == before);
	}

private:
	u8 *bytes()
	{
		return reinterpret_cast<u8 *>(memory_.data());
	}
	bellhop_wq_hdr *hdr()
	{
		return reinterpret_cast<bellhop_wq_hdr *>(memory_.data());
	}

	u32 slots_;
	u32 stride_;
	std::vector<u64> memory_;
	bellhop_work_ring ring_;
};

class CompletionRing
{
public:
	explicit CompletionRing(FuzzedDataProvider &input)
	    : slots_{ 1u << input.ConsumeIntegralInRange<u32>(0, 5) },
	      memory_{ memory_of(slots_, sizeof(bellhop_cqe)) }, ring_{ hdr(), slots_ - 1, 0, 0, 0 }
	{
		u32 start = input.ConsumeIntegral<u32>();

		ring_.producer = ring_.consumer = taken_ = hdr()->consumer = start;
	}

	void store_consumer(u32 consumer)
	{
		hdr()->consumer = consumer;
	}
	void store_arm(u32 arm)
	{
		hdr()->arm = arm;
	}
	void store_fired(u32 fired)
	{
		hdr()->fired = fired;
	}
	/* What a correct library does. */
	void consume(u32 count)
	{
		hdr()->consumer += count;
	}

	void push(u32 number)
	{
		bellhop_completion completion{};
		std::vector<u64> before = memory_;
		u32 index = ring_.producer;
		u32 claimed = hdr()->consumer;

		completion.wqe_index = number;
		int result = bellhop_ring_push(&ring_, &completion);

		if (result == -EOVERFLOW) {
			REQUIRE(memory_ == before);
			REQUIRE(ring_.producer == index);
			/* Refused for a reason: full, or an index that runs wrong. */
			REQUIRE(index - claimed >= slots_ || claimed - taken_ > index - taken_);
			taken_ = ring_.consumer;
			return;
		}
		REQUIRE(result == 0);
		REQUIRE(ring_.producer == index + 1);
		/* The index that is believed goes forwards only, and not past what was pushed. */
		REQUIRE(ring_.consumer - taken_ <= index - taken_);
		taken_ = ring_.consumer;
		REQUIRE(ring_.producer - taken_ <= slots_);

		bellhop_cqe *slot = slot_of(memory_, index);
		REQUIRE(slot->wqe_index == number);
		REQUIRE(slot->phase == !(index & slots_));
		*slot = *slot_of(before, index);
		REQUIRE(memory_ == before);
	}

	void fire(bool solicited)
	{
		u32 arm = hdr()->arm;
		u32 kind = arm & BELLHOP_CQ_ARM_MASK;
		bool asked = kind == BELLHOP_CQ_ARM_NEXT ||
			     (kind == BELLHOP_CQ_ARM_SOLICITED && solicited);
		bool fires = bellhop_ring_fire(&ring_, solicited);

		REQUIRE(fires == (asked && arm != answered_));
		if (!fires)
			return;
		answered_ = arm;
		REQUIRE(hdr()->fired == arm);
		REQUIRE(!bellhop_ring_fire(&ring_, true));
	}

	void move(u32 slots)
	{
		std::vector<u64> next = memory_of(slots, sizeof(bellhop_cqe)), before = memory_;
		auto *next_hdr = reinterpret_cast<bellhop_cq_hdr *>(next.data());
		bellhop_completion_ring to{ next_hdr, slots - 1, 0, 0, 0 };
		u32 waiting = ring_.producer - hdr()->consumer;
		int result = bellhop_ring_move(&ring_, &to);

		REQUIRE(result == (waiting > slots_ || waiting > slots ? -EINVAL : 0));
		if (result) {
			REQUIRE(memory_ == before);
			REQUIRE(ring_.hdr == hdr());
			return;
		}
		REQUIRE(ring_.hdr == next_hdr);
		REQUIRE(next_hdr->arm == hdr()->arm && next_hdr->fired == answered_);
		REQUIRE(hdr()->moved == 1);
		hdr()->moved = reinterpret_cast<bellhop_cq_hdr *>(before.data())->moved;
		REQUIRE(memory_ == before);
		memory_.swap(next);
		slots_ = slots;
		taken_ = 0;
	}

private:
	bellhop_cqe *slot_of(std::vector<u64> &memory, u32 index)
	{
		return reinterpret_cast<bellhop_cqe *>(reinterpret_cast<u8 *>(memory.data()) +
						       BELLHOP_RING_SLOTS) +
		       index % slots_;
	}
	bellhop_cq_hdr *hdr()
	{
		return reinterpret_cast<bellhop_cq_hdr *>(memory_.data());
	}

	u32 slots_;
	std::vector<u64> memory_;
	bellhop_completion_ring ring_;
	u32 taken_ = 0; // the last index that the kernel believed
	u32 answered_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input{ data, size };
	WorkRing work{ input };
	CompletionRing completions{ input };
	bellhop_work_ring none{};

	REQUIRE(bellhop_ring_pending(&none) == 0);
	bellhop_ring_want(&none, input.ConsumeBool());

	for (u32 step = 0; step < kSteps && input.remaining_bytes(); step++) {
		switch (input.ConsumeIntegralInRange<int>(0, 11)) {
		case 0:
			work.store(input.ConsumeIntegral<u32>());
			break;
		case 1:
			work.post(input.ConsumeIntegral<u8>());
			break;
		case 2:
		case 3:
			work.take();
			break;
		case 4:
			work.want(input.ConsumeBool());
			break;
		case 5:
			completions.store_consumer(input.ConsumeIntegral<u32>());
			break;
		case 6:
			completions.consume(input.ConsumeIntegralInRange<u32>(0, 40));
			break;
		case 7:
			for (u32 i = input.ConsumeIntegralInRange<u32>(1, 40); i; i--)
				completions.push(step << 8 | i);
			break;
		case 8:
			completions.store_arm(input.ConsumeIntegral<u16>());
			break;
		case 9:
			completions.fire(input.ConsumeBool());
			break;
		case 10:
			completions.store_fired(input.ConsumeIntegral<u16>());
			break;
		case 11:
			completions.move(1u << input.ConsumeIntegralInRange<u32>(0, 5));
			break;
		}
	}
	return 0;
}
