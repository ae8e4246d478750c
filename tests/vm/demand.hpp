// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// demand.hpp: regions of pages on demand, and what their process has of them.
#ifndef BELLHOP_VM_DEMAND_HPP
#define BELLHOP_VM_DEMAND_HPP

#include <fstream>
#include "endpoint.hpp"
#include "request.hpp"

namespace vm
{

inline constexpr int access_on_demand = access_all | IBV_ACCESS_ON_DEMAND;
inline constexpr size_t page = 4096;

/** Memory that nobody has touched, and a region over all of it. */
struct DemandRegion : Region {
	DemandRegion(const Pd &pd, size_t length, int access = access_on_demand, int flags = 0)
	    : Region(pd, length, access, flags)
	{
	}
};

/** Kilobytes that /proc/self/status says after @name, such as "VmPin". */
inline long status_kb(const std::string &name)
{
	std::ifstream file("/proc/self/status");
	std::string word;
	long value = -1;

	while (file >> word)
		if (word == name + ":")
			file >> value;
	return value;
}

/** Other pages, which are zero, in the place of those that are mapped there. */
inline void map_anew(uint8_t *start, size_t length, int protection = PROT_READ | PROT_WRITE)
{
	require_errno(mmap(start, length, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			   0) == start,
		      "mmap");
}

} // namespace vm

#endif
