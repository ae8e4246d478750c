// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe_bench.cpp: what it costs to copy and check an entry.
#include <vector>

#include <benchmark/benchmark.h>

extern "C" {
#include "wqe.h"
}

namespace
{

constexpr bellhop_wqe_limits kLimits = { BELLHOP_MAX_SGE, BELLHOP_MAX_INLINE, BELLHOP_SERVICE_RC };

// A ring's worth of entries, so that the loads are not all of one line.
constexpr u32 kSlots = 64;

class Slots
{
public:
	explicit Slots(u32 stride) : stride_{ stride }, words_(kSlots * stride / sizeof(u64)) {}

	void *at(u32 i)
	{
		return reinterpret_cast<u8 *>(words_.data()) + std::size_t{ i % kSlots } * stride_;
	}

private:
	u32 stride_;
	std::vector<u64> words_;
};

void decode_send(benchmark::State &state, Slots &slots)
{
	bellhop_send_wqe wqe;
	u32 i = 0;

	for (auto _ : state) {
		if (bellhop_wqe_decode_send(&wqe, slots.at(i++), &kLimits)) {
			state.SkipWithError("refused");
			break;
		}
		benchmark::DoNotOptimize(wqe);
	}
}

void wqe_decode_send_sge(benchmark::State &state)
{
	Slots slots{ bellhop_wqe_send_stride(&kLimits) };

	for (u32 i = 0; i < kSlots; i++) {
		auto *sqe = static_cast<bellhop_sqe *>(slots.at(i));
		auto *sge = reinterpret_cast<bellhop_sge *>(sqe + 1);

		sqe->opcode = BELLHOP_WR_RDMA_WRITE;
		sqe->num_sge = u16(state.range(0));
		for (u32 k = 0; k < sqe->num_sge; k++)
			sge[k] = { 0x1000, 64, 1 };
	}
	decode_send(state, slots);
}
BENCHMARK(wqe_decode_send_sge)->Arg(1)->Arg(2)->Arg(32);

void wqe_decode_send_inline(benchmark::State &state)
{
	Slots slots{ bellhop_wqe_send_stride(&kLimits) };

	for (u32 i = 0; i < kSlots; i++) {
		auto *sqe = static_cast<bellhop_sqe *>(slots.at(i));

		sqe->opcode = BELLHOP_WR_SEND;
		sqe->flags = BELLHOP_SQE_INLINE;
		sqe->inline_length = u32(state.range(0));
	}
	decode_send(state, slots);
}
BENCHMARK(wqe_decode_send_inline)->Arg(8)->Arg(64)->Arg(512);

void wqe_decode_recv(benchmark::State &state)
{
	Slots slots{ bellhop_wqe_recv_stride(&kLimits) };
	bellhop_recv_wqe wqe;
	u32 i = 0;

	for (u32 k = 0; k < kSlots; k++)
		static_cast<bellhop_rqe *>(slots.at(k))->num_sge = u32(state.range(0));
	for (auto _ : state) {
		if (bellhop_wqe_decode_recv(&wqe, slots.at(i++), &kLimits)) {
			state.SkipWithError("refused");
			break;
		}
		benchmark::DoNotOptimize(wqe);
	}
}
BENCHMARK(wqe_decode_recv)->Arg(1)->Arg(32);

} // namespace
