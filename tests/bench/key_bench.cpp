// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// key_bench.cpp: what it costs to check a key, and to find an offset's run in a region.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

extern "C" {
#include "extent.h"
#include "key.h"
}

namespace
{

constexpr u64 kPage = 4096;

void key_check_local(benchmark::State &state)
{
	bellhop_region region = { 0x10000,
				  1 << 20,
				  bellhop_key_make(77, 3),
				  bellhop_key_make(77, 3) | BELLHOP_KEY_REMOTE,
				  5,
				  BELLHOP_ACCESS_LOCAL_WRITE };
	u64 addr = 0;

	for (auto _ : state) {
		benchmark::DoNotOptimize(region);
		benchmark::DoNotOptimize(bellhop_key_check_local(
			&region, region.lkey, 5, 0x10000 + addr, 64, BELLHOP_ACCESS_LOCAL_WRITE));
		addr = (addr + 64) % (1 << 20);
	}
}
BENCHMARK(key_check_local);

void key_check_remote(benchmark::State &state)
{
	bellhop_region region = { 0x10000,
				  1 << 20,
				  bellhop_key_make(77, 3),
				  bellhop_key_make(77, 3) | BELLHOP_KEY_REMOTE,
				  5,
				  BELLHOP_ACCESS_REMOTE_WRITE };
	u32 rkey = region.rkey;
	u64 addr = 0;

	for (auto _ : state) {
		benchmark::DoNotOptimize(region);
		benchmark::DoNotOptimize(bellhop_key_check_remote(&region, rkey, 5, 0x10000 + addr,
								  64, BELLHOP_ACCESS_REMOTE_WRITE));
		addr = (addr + 64) % (1 << 20);
	}
}
BENCHMARK(key_check_remote);

// Offsets at random, drawn beforehand: in order, every search would take the same way.
void extent_find(benchmark::State &state)
{
	u32 count = u32(state.range(0));
	std::vector<bellhop_extent> runs(count);
	std::vector<u64> offsets(4096);
	std::mt19937_64 random{ 1 };
	u32 i = 0;

	for (u32 k = 0; k < count; k++)
		runs[k] = { k * kPage, nullptr };
	for (u64 &offset : offsets)
		offset = random() % (count * kPage);
	for (auto _ : state)
		benchmark::DoNotOptimize(
			bellhop_extent_find(runs.data(), count, offsets[i++ % offsets.size()]));
}
BENCHMARK(extent_find)->Arg(1)->Arg(16)->Arg(4096)->Arg(524288);

} // namespace
