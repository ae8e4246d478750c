// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// counted.hpp: what the port's files in sysfs count, from one moment on.
#ifndef BELLHOP_VM_COUNTED_HPP
#define BELLHOP_VM_COUNTED_HPP

#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>
#include "device.hpp"

namespace vm
{

/** The counters as they were when this was made. */
class Counted
{
public:
	explicit Counted(const std::string &device = device_name())
	    : port_("/sys/class/infiniband/" + device + "/ports/1/"), before_(read_all())
	{
	}

	/** How much "counters/port_xmit_data" or the like has grown since. */
	long long grown(const std::string &name) const
	{
		const Values now = read_all();

		require(now.contains(name), "there is no " + name);
		return static_cast<long long>(now.at(name) - before_.at(name));
	}

	bool has(const std::string &name) const
	{
		return before_.contains(name);
	}

	/** The names of all that have grown; those that come with any traffic are left out. */
	std::string all_grown() const
	{
		std::string names;

		for (const auto &[name, value] : read_all())
			if (value != before_.at(name) && name.starts_with("hw_counters/") &&
			    !name.ends_with("/kicks") && !name.ends_with("_to_worker"))
				names += name.substr(name.find('/') + 1) + " ";
		return names;
	}

private:
	using Values = std::map<std::string, uint64_t>;

	Values read_all() const
	{
		Values values;

		/* The core reads them anew when the last look is 10 ms old. */
		usleep(30000);
		for (const std::string folder : { "counters", "hw_counters" }) {
			/* Another's device may have one of them only. */
			if (!std::filesystem::exists(port_ + folder))
				continue;
			for (const auto &entry :
			     std::filesystem::directory_iterator(port_ + folder))
				if (entry.path().filename() != "lifespan")
					std::ifstream(entry.path()) >>
						values[folder + "/" +
						       entry.path().filename().string()];
		}
		return values;
	}

	std::string port_;
	Values before_;
};

} // namespace vm

#endif
