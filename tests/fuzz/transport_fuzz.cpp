// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// transport_fuzz.cpp: any bytes as a packet: what is read of it is written as the same bytes, but
// for those that are reserved, and its CRC is the same in one piece and in several.
#include <algorithm>
#include <cstring>
#include <memory>

extern "C" {
#include "icrc.h"
#include "transport.h"
}
#include "require.hpp"

namespace
{

/* Makes the reserved bits of the headers zero, as they are sent. */
void clear_reserved(u8 *bytes, const bellhop_bth *row)
{
	u8 *at = bytes + BELLHOP_BTH_BYTES;

	bytes[4] &= 0xc1;
	bytes[8] &= 0x80;
	if (row->headers & BELLHOP_HAS_XRCETH) {
		at[0] = 0;
		at += BELLHOP_XRCETH_BYTES;
	}
	if (row->headers & BELLHOP_HAS_DETH)
		at[4] = 0;
	if (row->headers & BELLHOP_HAS_FETH) {
		at[0] = at[1] = at[2] = 0;
		at[3] &= 0x3f;
	}
	if (row->headers & BELLHOP_HAS_RESERVED)
		std::memset(at, 0, BELLHOP_RESERVED_BYTES);
}

void there_and_back(const u8 *data, size_t size)
{
	/* From memory of just that size, so that a byte too many is found. */
	const size_t most = std::min<size_t>(size, BELLHOP_BTH_MAX_BYTES);
	const auto exact = std::make_unique<u8[]>(most);
	bellhop_transport transport, again;

	std::memcpy(exact.get(), data, most);
	std::memset(&transport, 0xee, sizeof(transport));
	const u32 length =
		bellhop_transport_decode(&transport, exact.get(), static_cast<u32>(size));
	if (!length) {
		const auto *bytes = reinterpret_cast<const u8 *>(&transport);

		REQUIRE(std::all_of(bytes, bytes + sizeof(transport),
				    [](u8 byte) { return !byte; }));
		return;
	}
	const bellhop_bth *row = bellhop_bth_row(data[0]);
	const u32 pad = bellhop_transport_pad(transport.payload);

	REQUIRE(length == row->bytes);
	REQUIRE(length + transport.payload + pad == size);
	REQUIRE(pad == (data[1] >> 4 & 3));
	REQUIRE((row->traits & BELLHOP_BTH_HAS_PAYLOAD) || !transport.payload);

	const auto written = std::make_unique<u8[]>(length);

	REQUIRE(bellhop_transport_encode(&transport, written.get()) == length);
	clear_reserved(exact.get(), row);
	REQUIRE(!std::memcmp(written.get(), exact.get(), length));
	std::memset(&again, 0x55, sizeof(again));
	REQUIRE(bellhop_transport_decode(&again, exact.get(), static_cast<u32>(size)) == length);
	REQUIRE(again.payload == transport.payload);
	REQUIRE(bellhop_transport_encode(&again, written.get()) == length);
	REQUIRE(!std::memcmp(written.get(), exact.get(), length));
}

void in_pieces(const u8 *data, size_t size)
{
	const bool ipv6 = data[0] >> 4 == 6;
	const size_t first = ipv6 ? 60 : 40;

	if (size < first)
		return;
	const auto exact = std::make_unique<u8[]>(first);

	std::memcpy(exact.get(), data, first);
	const u32 begun = bellhop_icrc_begin(exact.get(), ipv6);
	const u32 whole = bellhop_icrc_add(begun, data + first, size - first);
	const size_t cut = first + data[size - 1] % (size - first + 1);
	const u32 icrc = bellhop_icrc_add(bellhop_icrc_add(begun, data + first, cut - first),
					  data + cut, size - cut);

	REQUIRE(icrc == whole);
	/* A CRC over itself too is the same, whatever the packet. */
	u8 end[BELLHOP_ICRC_BYTES];

	bellhop_icrc_end(whole, end);
	REQUIRE(bellhop_icrc_add(whole, end, sizeof(end)) == 0xdebb20e3);
	/* The hop limit, and what congestion leaves, do not count. */
	exact[ipv6 ? 7 : 8] ^= data[size - 1];
	exact[first - BELLHOP_BTH_BYTES + 4] ^= data[size - 1];
	REQUIRE(bellhop_icrc_begin(exact.get(), ipv6) == begun);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	there_and_back(data, size);
	if (size)
		in_pieces(data, size);
	return 0;
}
