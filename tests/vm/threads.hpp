// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// threads.hpp: where the threads of a process are, when they do not get on.
#ifndef BELLHOP_VM_THREADS_HPP
#define BELLHOP_VM_THREADS_HPP

#include <filesystem>
#include <fstream>
#include "ktap.hpp"

namespace vm
{

/** Prints where in the kernel the threads of a process are. */
inline void note_threads(pid_t pid)
{
	const std::string tasks = "/proc/" + std::to_string(pid) + "/task";

	if (!std::filesystem::exists(tasks))
		return;
	for (const auto &task : std::filesystem::directory_iterator(tasks)) {
		std::ifstream stat(task.path() / "stat"), call(task.path() / "syscall"),
			stack(task.path() / "stack");

		note("thread %s", task.path().filename().c_str());
		for (std::ifstream *file : { &stat, &call, &stack })
			for (std::string line; std::getline(*file, line);)
				note("    %s", line.c_str());
	}
}

} // namespace vm

#endif
