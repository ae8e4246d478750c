// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// presence.hpp: devices that come and go: whether one is there, all of it, and how it is made with
// faults.
#ifndef BELLHOP_VM_PRESENCE_HPP
#define BELLHOP_VM_PRESENCE_HPP

#include <filesystem>
#include <fstream>
#include "transfer.hpp"

namespace vm
{

/* Of thousands of allocations most are of sysfs, for each entry of a table. */
inline constexpr unsigned most = 90, every = 16;

/* The core does not notice that it had no memory for a platform device's name, but that there is
 * none. */
inline constexpr int nameless = EINVAL;

inline std::string read_line(const std::string &path)
{
	std::ifstream file(path);
	std::string line;

	std::getline(file, line);
	return line;
}

inline bool is_there(const std::string &name)
{
	return !access(("/sys/class/infiniband/" + name).c_str(), F_OK);
}

/*
 * A client of the core's that cannot serve a device is left out, without an error, and so is an
 * address: the device is there, and programs cannot open it.
 */
inline bool is_complete(const std::string &name)
{
	std::error_code error;
	bool has_file = false;

	for (const auto &entry :
	     std::filesystem::directory_iterator("/sys/class/infiniband_verbs", error))
		has_file = has_file || read_line(entry.path() / "ibdev") == name;
	return has_file && read_line("/sys/class/infiniband/" + name + "/ports/1/gids/0")
					   .find_first_not_of("0:") != std::string::npos;
}

inline void expect_works(const std::string &name)
{
	setenv("BELLHOP_TEST_DEVICE", name.c_str(), 1);
	TransferRig(4096).run({ .local = { { 0, 1000 } }, .remote = { { 0, 1000 } } });
	unsetenv("BELLHOP_TEST_DEVICE");
}

} // namespace vm

#endif
