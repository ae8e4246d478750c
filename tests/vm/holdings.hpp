// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// holdings.hpp: what all programs together hold of the device, so that what the dead have left
// behind shows.
#ifndef BELLHOP_VM_HOLDINGS_HPP
#define BELLHOP_VM_HOLDINGS_HPP

#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>
#include "device.hpp"

namespace vm
{

/** Objects of some devices by kind, references to the module, and pinned pages of the whole system.
 */
class Holdings
{
public:
	explicit Holdings(std::vector<std::string> devices = { device_name() })
	    : devices_(std::move(devices)), references_(count_references()), pins_(count_pins())
	{
		for (const std::string &device : devices_)
			objects_ += device + ": " + count_objects(device) + ", ";
	}

	bool operator==(const Holdings &) const = default;

	std::string describe() const
	{
		return objects_ + std::to_string(references_) + " references, " +
		       std::to_string(pins_) + " pages pinned";
	}

	/** Whether all is as it was then, within @seconds: the kernel frees some of it later. */
	bool are_back(double seconds = patience) const
	{
		const Deadline deadline(seconds);

		while (!(Holdings(devices_) == *this)) {
			if (deadline.passed())
				return false;
			usleep(50000);
		}
		return true;
	}

private:
	static std::string count_objects(const std::string &device)
	{
		const std::string command = "rdma resource show " + device;
		std::FILE *pipe = popen(command.c_str(), "r");
		char line[256] = "";

		require_errno(pipe, "popen");
		const bool read = std::fgets(line, sizeof(line), pipe);
		pclose(pipe);
		std::string text = line;
		require(read && text.find("qp ") != std::string::npos, command + " says nothing");
		text.erase(text.find_last_not_of(" \n") + 1);
		return text.substr(text.find("pd "));
	}

	static long count_references()
	{
		std::ifstream file("/sys/module/bellhop/refcnt");
		long count = 0;

		file >> count;
		return count;
	}

	static long count_pins()
	{
		/* Else each processor may keep some to itself. */
		std::ofstream("/proc/sys/vm/stat_refresh") << "1";
		std::ifstream file("/proc/vmstat");
		std::string name;
		long value, count = 0;

		while (file >> name >> value) {
			if (name == "nr_foll_pin_acquired")
				count += value;
			else if (name == "nr_foll_pin_released")
				count -= value;
		}
		return count;
	}

	std::vector<std::string> devices_;
	std::string objects_;
	long references_;
	long pins_;
};

} // namespace vm

#endif
