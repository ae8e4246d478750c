// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mappings.hpp: finds what this process has mapped of the device, and its kick files.
#ifndef BELLHOP_VM_MAPPINGS_HPP
#define BELLHOP_VM_MAPPINGS_HPP

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace vm
{

/** A mapping of the device's file. */
struct Mapping {
	uint8_t *start;
	size_t length;
	off_t offset; /* in the file */
	bool writable;
};

/** All of them, from /proc/self/maps. */
inline std::vector<Mapping> find_mappings()
{
	std::ifstream maps("/proc/self/maps");
	std::vector<Mapping> found;
	std::string line;

	while (std::getline(maps, line)) {
		unsigned long start, end, offset;
		char rights[5];

		if (line.find("/dev/infiniband/uverbs") != std::string::npos &&
		    std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &start, &end, rights, &offset) ==
			    4)
			found.push_back({ reinterpret_cast<uint8_t *>(start), end - start,
					  static_cast<off_t>(offset), rights[1] == 'w' });
	}
	return found;
}

/** The kick files, from /proc/self/fd. */
inline std::vector<int> find_kicks()
{
	std::vector<int> found;

	for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
		std::error_code error;
		const std::string target = std::filesystem::read_symlink(entry, error).string();

		if (target.find("bellhop_kick") != std::string::npos)
			found.push_back(std::stoi(entry.path().filename()));
	}
	return found;
}

/** What appeared in this process's mappings of the device while @make ran, the longest first. */
inline std::vector<Mapping> new_mappings(const std::function<void()> &make)
{
	const std::vector<Mapping> before = find_mappings();
	std::vector<Mapping> found;

	make();
	for (const Mapping &mapping : find_mappings())
		if (std::none_of(before.begin(), before.end(), [&](const Mapping &known) {
			    return known.start == mapping.start;
		    }))
			found.push_back(mapping);
	std::sort(found.begin(), found.end(),
		  [](const Mapping &a, const Mapping &b) { return a.length > b.length; });
	return found;
}

} // namespace vm

#endif
