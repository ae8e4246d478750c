// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// meminfo.hpp: what the kernel says of the system's memory and of this process's.
#ifndef BELLHOP_VM_MEMINFO_HPP
#define BELLHOP_VM_MEMINFO_HPP

#include <fstream>
#include <string>
#include <unistd.h>

namespace vm
{

/** KiB behind @name in @path, such as "Slab" in /proc/meminfo; 0 where it is not. */
inline long read_kib(const char *path, const std::string &name)
{
	std::ifstream file(path);
	std::string word, rest;
	long value;

	while (file >> word) {
		if (word == name + ":" && file >> value)
			return value;
		std::getline(file, rest);
	}
	return 0;
}

/** KiB of rings and the like. */
inline long vmalloc_used()
{
	return read_kib("/proc/meminfo", "VmallocUsed");
}

/** KiB that this process has pinned and not given back. */
inline long pinned_by_self()
{
	return read_kib("/proc/self/status", "VmPin");
}

/** The system's memory without its caches, in KiB. */
struct Meminfo {
	Meminfo()
	{
		sync();
		std::ofstream("/proc/sys/vm/drop_caches") << "3";
		/* Some is given back by timers and after grace periods. */
		usleep(500000);
		free = read_kib("/proc/meminfo", "MemFree");
		slab = read_kib("/proc/meminfo", "Slab");
		vmalloc = vmalloc_used();
		locked = read_kib("/proc/meminfo", "Mlocked");
	}

	std::string describe() const
	{
		return std::to_string(free) + " KiB free, " + std::to_string(slab) + " in slabs, " +
		       std::to_string(vmalloc) + " in vmalloc, " + std::to_string(locked) +
		       " locked";
	}

	long free, slab, vmalloc, locked;
};

} // namespace vm

#endif
