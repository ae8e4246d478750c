// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// require.hpp: an invariant that is checked in every build, and named when it is broken.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(invariant)                                                                         \
	do {                                                                                       \
		if (!(invariant)) {                                                                \
			std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__,            \
				     #invariant);                                                  \
			std::abort();                                                              \
		}                                                                                  \
	} while (0)
