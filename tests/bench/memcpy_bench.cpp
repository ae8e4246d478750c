// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// memcpy_bench.cpp: the machine's own speed, to hold the other figures against.
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

namespace
{

void memcpy_bytes(benchmark::State &state)
{
	std::size_t bytes = std::size_t(state.range(0));
	std::vector<char> from(bytes, 'x'), to(bytes);

	for (auto _ : state) {
		std::memcpy(to.data(), from.data(), bytes);
		benchmark::DoNotOptimize(to.data());
		benchmark::ClobberMemory();
	}
	state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(memcpy_bytes)
	->Arg(8)
	->Arg(64)
	->Arg(512)
	->Arg(4 << 10)
	->Arg(64 << 10)
	->Arg(1 << 20)
	->Arg(8 << 20);

} // namespace
