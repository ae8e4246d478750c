// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// key_fuzz.cpp: keys and ranges against the same questions asked in 128 bits, where nothing wraps.
#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "key.h"
}
#include "require.hpp"

namespace
{

using Wide = unsigned __int128;

constexpr Wide kEnd = Wide{ 1 } << 64;

// Near an edge of the region more often than not: far away, nothing is decided.
u64 address_near(FuzzedDataProvider &input, const bellhop_region &region)
{
	u64 base = input.PickValueInArray(
		{ u64{ 0 }, region.start, region.start + region.length, ~u64{ 0 } });

	return input.ConsumeBool() ? base + u64(input.ConsumeIntegral<int8_t>())
				   : input.ConsumeIntegral<u64>();
}

u64 length_near(FuzzedDataProvider &input, const bellhop_region &region, u64 addr)
{
	u64 base = input.PickValueInArray(
		{ u64{ 0 }, region.length, region.start + region.length - addr, 0 - addr });

	return input.ConsumeBool() ? base + u64(input.ConsumeIntegral<int8_t>())
				   : input.ConsumeIntegral<u64>();
}

bool fits(const bellhop_region &region, u64 addr, u64 length)
{
	return addr >= region.start &&
	       Wide{ addr } + length <= Wide{ region.start } + region.length;
}

// Faults in the order in which they are told; 0 is none.
int first_fault(bool known, bool same_pd, bool allowed, bool inside)
{
	return !known ? 1 : !same_pd ? 2 : !allowed ? 3 : !inside ? 4 : 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input{ data, size };
	u32 index = input.ConsumeIntegral<u32>();
	u8 variant = input.ConsumeIntegral<u8>();
	bellhop_region region{};

	region.lkey = bellhop_key_make(index, variant);
	region.rkey = region.lkey | BELLHOP_KEY_REMOTE;
	REQUIRE(!(region.lkey & BELLHOP_KEY_REMOTE));
	REQUIRE(bellhop_key_index(region.lkey) == (index & BELLHOP_KEY_INDEX_MAX));
	REQUIRE(bellhop_key_index(region.lkey | BELLHOP_KEY_REMOTE) ==
		bellhop_key_index(region.lkey));

	region.start = input.ConsumeIntegral<u64>();
	region.length = input.ConsumeBool()
				? input.ConsumeIntegral<u64>()
				: 0 - region.start + u64(input.ConsumeIntegral<int8_t>());
	region.pdn = input.ConsumeIntegral<u8>();
	region.access = input.ConsumeIntegralInRange<u32>(0, 15);

	bool exists = region.length && Wide{ region.start } + region.length <= kEnd;

	REQUIRE(bellhop_key_check_region(region.start, region.length) == (exists ? 0 : -EINVAL));
	if (!exists)
		return 0;

	u64 addr = address_near(input, region);
	u64 length = length_near(input, region, addr);
	u32 access = input.ConsumeIntegralInRange<u32>(0, 15);
	u32 pdn = input.ConsumeBool() ? region.pdn : input.ConsumeIntegral<u32>();
	u32 key = input.PickValueInArray({ region.lkey, region.lkey | BELLHOP_KEY_REMOTE,
					   region.lkey ^ 1, region.lkey ^ 0x100,
					   input.ConsumeIntegral<u32>() });
	const bellhop_region *found = input.ConsumeBool() ? &region : nullptr;

	bool same_pd = pdn == region.pdn;
	bool allowed = (region.access & access) == access;
	bool inside = fits(region, addr, length);
	bool is_lkey = found && key == region.lkey;
	bool is_rkey = found && key == (region.lkey | BELLHOP_KEY_REMOTE);
	int local = first_fault(is_lkey, same_pd, allowed, inside);
	int remote = first_fault(is_rkey, same_pd, allowed, inside);
	constexpr bellhop_reason lkey_reasons[] = {
		BELLHOP_REASON_NONE, BELLHOP_REASON_LKEY_UNKNOWN, BELLHOP_REASON_LKEY_PD,
		BELLHOP_REASON_LKEY_ACCESS, BELLHOP_REASON_LKEY_RANGE
	};
	constexpr bellhop_reason rkey_reasons[] = {
		BELLHOP_REASON_NONE, BELLHOP_REASON_RKEY_UNKNOWN, BELLHOP_REASON_RKEY_PD,
		BELLHOP_REASON_RKEY_ACCESS, BELLHOP_REASON_RKEY_RANGE
	};

	REQUIRE(bellhop_key_check_local(found, key, pdn, addr, length, access) ==
		lkey_reasons[local]);
	REQUIRE(bellhop_key_check_remote(found, key, pdn, addr, length, access) ==
		rkey_reasons[remote]);
	return 0;
}
