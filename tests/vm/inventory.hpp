// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// inventory.hpp: what there is of a device and of this process, counted quickly enough to be
// counted after every call.
#ifndef BELLHOP_VM_INVENTORY_HPP
#define BELLHOP_VM_INVENTORY_HPP

#include <filesystem>
#include <fstream>
#include "device.hpp"
#include "rdma_netlink.hpp"

namespace vm
{

/** Objects of the device by kind; references to the module; this process's files and mappings of
 * devices, and its locked pages. */
class Inventory
{
public:
	Inventory()
	{
		const std::optional<uint32_t> device = rdma_index(device_name());

		counts_["devices"] = count_entries("/sys/class/infiniband");
		if (device)
			for (const auto &[kind, count] : rdma_objects(*device))
				counts_[kind] = count;
		counts_["references"] = read_number("/sys/module/bellhop/refcnt");
		counts_["files"] = count_entries("/proc/self/fd");
		count_mappings();
	}

	bool operator==(const Inventory &) const = default;

	/** Whether all is as it was then, within @seconds: the kernel puts some of it away later.
	 */
	bool is_back(double seconds = patience) const
	{
		const Deadline deadline(seconds);

		while (!(Inventory() == *this)) {
			if (deadline.passed())
				return false;
			usleep(1000);
		}
		return true;
	}

	/** What there is more now, in words. */
	std::string describe_difference() const
	{
		const Inventory now;
		std::string text;

		for (const auto &[what, count] : now.counts_) {
			const auto found = counts_.find(what);
			const uint64_t then = found == counts_.end() ? 0 : found->second;

			if (then != count)
				text += what + ": " + std::to_string(then) + " before, " +
					std::to_string(count) + " now; ";
		}
		return text;
	}

private:
	static uint64_t count_entries(const char *folder)
	{
		std::error_code error;
		const std::filesystem::directory_iterator entries(folder, error);

		return error ? 0 : std::distance(begin(entries), end(entries));
	}

	static uint64_t read_number(const char *path)
	{
		std::ifstream file(path);
		uint64_t number = 0;

		file >> number;
		return number;
	}

	void count_mappings()
	{
		std::ifstream maps("/proc/self/maps");
		std::string line;
		uint64_t count = 0;

		while (std::getline(maps, line))
			count += line.find("/dev/infiniband/uverbs") != std::string::npos;
		counts_["mappings"] = count;
		std::ifstream status("/proc/self/status");
		while (std::getline(status, line))
			if (line.starts_with("VmPin:"))
				counts_["KiB locked"] = std::stoul(line.substr(6));
	}

	std::map<std::string, uint64_t> counts_;
};

} // namespace vm

#endif
