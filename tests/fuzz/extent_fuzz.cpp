// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// extent_fuzz.cpp: a region from pages in any order: each byte is found where its page lies.
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "extent.h"
}
#include "require.hpp"

namespace
{

constexpr u32 kMostPages = 64;

struct Page {
	u64 offset;
	u64 length;
	u8 *memory;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input{ data, size };
	u64 page_size = 1ULL << input.ConsumeIntegralInRange<u32>(12, 21);
	u64 skip = input.ConsumeIntegralInRange<u64>(0, page_size - 1);
	std::vector<Page> pages;
	u64 end = 0;

	/* Few page frames, so that neighbours are frequent. Nothing is read through these. */
	while (pages.empty() || (pages.size() < kMostPages && input.remaining_bytes())) {
		u64 frame = input.ConsumeIntegralInRange<u64>(1, 8);

		pages.push_back({ end, page_size - skip,
				  reinterpret_cast<u8 *>(frame * page_size + skip) });
		end += page_size - skip;
		skip = 0;
	}

	std::vector<bellhop_extent> runs(pages.size());
	u32 count = 0;

	for (const Page &page : pages)
		count = bellhop_extent_append(runs.data(), count, page.offset, page.memory);
	runs.resize(count);
	runs.shrink_to_fit();

	REQUIRE(count >= 1 && count <= pages.size());
	REQUIRE(runs[0].offset == 0);
	for (u32 i = 1; i < count; i++) {
		REQUIRE(runs[i].offset > runs[i - 1].offset);
		/* What could be one run is one run. */
		REQUIRE(runs[i - 1].memory + (runs[i].offset - runs[i - 1].offset) !=
			runs[i].memory);
	}
	for (const Page &page : pages) {
		for (u64 within : { u64{ 0 }, page.length - 1 }) {
			u64 offset = page.offset + within;
			u32 i = bellhop_extent_find(runs.data(), count, offset);

			REQUIRE(i < count);
			REQUIRE(runs[i].memory + (offset - runs[i].offset) == page.memory + within);
		}
	}
	return 0;
}
