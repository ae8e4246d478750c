// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ring_bench.cpp: what the kernel's ends of the rings and the run word cost on one processor.
#include <vector>

#include <benchmark/benchmark.h>

extern "C" {
#include "ring.h"
#include "run.h"
}

namespace
{

constexpr u32 kSlots = 256;

std::vector<u64> memory_of(u32 stride)
{
	return std::vector<u64>((BELLHOP_RING_SLOTS + std::size_t{ kSlots } * stride) /
				sizeof(u64));
}

// One entry published, noticed and taken.
void ring_pending_take(benchmark::State &state)
{
	std::vector<u64> memory = memory_of(64);
	auto *hdr = reinterpret_cast<bellhop_wq_hdr *>(memory.data());
	bellhop_work_ring ring = { hdr, kSlots - 1, 64, 0, 0 };

	for (auto _ : state) {
		__atomic_store_n(&hdr->producer, hdr->producer + 1, __ATOMIC_RELEASE);
		if (bellhop_ring_pending(&ring) != 1) {
			state.SkipWithError("not pending");
			break;
		}
		benchmark::DoNotOptimize(bellhop_ring_front(&ring));
		benchmark::DoNotOptimize(bellhop_ring_take(&ring));
	}
}
BENCHMARK(ring_pending_take);

// A look at an empty ring.
void ring_pending_empty(benchmark::State &state)
{
	std::vector<u64> memory = memory_of(64);
	bellhop_work_ring ring = { reinterpret_cast<bellhop_wq_hdr *>(memory.data()), kSlots - 1,
				   64, 0, 0 };

	for (auto _ : state)
		benchmark::DoNotOptimize(bellhop_ring_pending(&ring));
}
BENCHMARK(ring_pending_empty);

void push(benchmark::State &state, bool fire)
{
	std::vector<u64> memory = memory_of(sizeof(bellhop_cqe));
	auto *hdr = reinterpret_cast<bellhop_cq_hdr *>(memory.data());
	bellhop_completion_ring ring = { hdr, kSlots - 1, 0, 0, 0 };
	bellhop_completion completion{};

	for (auto _ : state) {
		if (bellhop_ring_push(&ring, &completion)) {
			state.SkipWithError("full");
			break;
		}
		__atomic_store_n(&hdr->consumer, ring.producer, __ATOMIC_RELEASE);
		if (fire)
			benchmark::DoNotOptimize(bellhop_ring_fire(&ring, false));
	}
}

void ring_push(benchmark::State &state)
{
	push(state, false);
}
BENCHMARK(ring_push);

// With the fence that looking for a request needs.
void ring_push_fire(benchmark::State &state)
{
	push(state, true);
}
BENCHMARK(ring_push_fire);

void run_enter_leave(benchmark::State &state)
{
	u32 word = BELLHOP_RUN_IDLE;

	for (auto _ : state) {
		if (!bellhop_run_enter(&word) || !bellhop_run_leave(&word)) {
			state.SkipWithError("somebody else ran");
			break;
		}
	}
}
BENCHMARK(run_enter_leave);

} // namespace
