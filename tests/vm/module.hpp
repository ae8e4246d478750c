// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// module.hpp: the module comes and goes.
#ifndef BELLHOP_VM_MODULE_HPP
#define BELLHOP_VM_MODULE_HPP

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include "command.hpp"

namespace vm
{

/** One attempt to remove it. Returns 0 or an errno: EWOULDBLOCK when it is in use. */
inline int remove_module()
{
	return syscall(SYS_delete_module, "bellhop", O_NONBLOCK) ? errno : 0;
}

/** Removes it as soon as nobody uses it. False when that is not within @seconds. */
inline bool unload_module(double seconds = patience)
{
	return comes_true([] { return remove_module() == 0; }, seconds);
}

/** The file that it is inserted from. */
inline std::filesystem::path module_path()
{
	utsname system;

	uname(&system);
	return tree() / "build/module" / system.release / "bellhop.ko";
}

/** Inserts it again; what it needs is there from the first time. */
inline void load_module()
{
	const auto path = module_path();
	const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);

	require_errno(file >= 0 && !syscall(SYS_finit_module, file, "", 0), path);
	close(file);
}

} // namespace vm

#endif
