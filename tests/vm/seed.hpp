// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// seed.hpp: where the chance of a random test comes from, so that it can be had again.
#ifndef BELLHOP_VM_SEED_HPP
#define BELLHOP_VM_SEED_HPP

#include <cstdlib>
#include <random>
#include "ktap.hpp"

namespace vm
{

/** The seed of a random test: BELLHOP_TEST_SEED, or a new one; it is printed. */
inline uint32_t seed()
{
	const char *given = std::getenv("BELLHOP_TEST_SEED");
	const uint32_t value = given ? static_cast<uint32_t>(std::strtoul(given, nullptr, 0))
				     : std::random_device()();

	note("BELLHOP_TEST_SEED=%u", value);
	return value;
}

} // namespace vm

#endif
