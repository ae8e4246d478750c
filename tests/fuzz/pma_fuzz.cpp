// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// pma_fuzz.cpp: any management datagram: an answer is never asked for one again, says whose it is,
// and tells nothing but counters.
#include <array>
#include <cstring>

extern "C" {
#include "pma.h"
}
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	std::array<u8, BELLHOP_PMA_BYTES> request{}, reply, again;
	bellhop_pma_counts counts{};

	std::memcpy(request.data(), data, size < request.size() ? size : request.size());
	if (size > request.size())
		std::memcpy(&counts, data + request.size(),
			    size - request.size() < sizeof(counts) ? size - request.size()
								   : sizeof(counts));
	if (!bellhop_pma_is_asked(request.data()))
		return 0;
	/* What was there before does not show. */
	reply.fill(0xff);
	again.fill(0x55);
	bellhop_pma_answer(request.data(), &counts, reply.data());
	bellhop_pma_answer(request.data(), &counts, again.data());
	REQUIRE(reply == again);
	REQUIRE(!bellhop_pma_is_asked(reply.data()));
	REQUIRE(!std::memcmp(reply.data() + 8, request.data() + 8, 8));
	/* Behind the longest of the attributes is nothing. */
	for (size_t i = 64 + 72; i < reply.size(); i++)
		REQUIRE(!reply[i]);
	if (reply[4] || reply[5])
		for (size_t i = 64; i < reply.size(); i++)
			REQUIRE(!reply[i]);
	return 0;
}
