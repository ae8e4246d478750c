// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hash_examples.hpp: the examples that Microsoft gives of the hash for RSS, and their key.
#ifndef BELLHOP_TESTS_HASH_EXAMPLES_HPP
#define BELLHOP_TESTS_HASH_EXAMPLES_HPP

#include <cstdint>

inline constexpr uint8_t hash_example_key[] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/** ip: the hash of the addresses; tcp: of those and the ports. */
struct HashExample {
	const char *source;
	uint16_t source_port;
	const char *destination;
	uint16_t destination_port;
	uint32_t ip, tcp;
};

inline constexpr HashExample hash_examples_ipv4[] = {
	{ "66.9.149.187", 2794, "161.142.100.80", 1766, 0x323e8fc2, 0x51ccc178 },
	{ "199.92.111.2", 14230, "65.69.140.83", 4739, 0xd718262a, 0xc626b0ea },
	{ "24.19.198.95", 12898, "12.22.207.184", 38024, 0xd2d0a5de, 0x5c2b394a },
	{ "38.27.205.30", 48228, "209.142.163.6", 2217, 0x82989176, 0xafc7327f },
	{ "153.39.163.191", 44251, "202.188.127.2", 1303, 0x5d1809c5, 0x10e828a2 },
};

inline constexpr HashExample hash_examples_ipv6[] = {
	{ "3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2cc18cd5, 0x40207d3d },
	{ "3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0f0c461c, 0xdde51bbf },
	{ "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024,
	  0x4b61e985, 0x02d1feef },
};

#endif
