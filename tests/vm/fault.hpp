// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fault.hpp: a call of the kernel's that fails as if there were no memory: the nth of a thread's
// allocations and copies from and to user space (Documentation/fault-injection of the kernel).
#ifndef BELLHOP_VM_FAULT_HPP
#define BELLHOP_VM_FAULT_HPP

#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/mount.h>
#include <unistd.h>
#include "require.hpp"

namespace vm
{

/** The fault of one thread; 0 is the calling one. Armed by whichever thread likes. */
class Fault
{
public:
	static constexpr unsigned never = INT_MAX;

	explicit Fault(pid_t thread = 0) : file_(open(path(thread).c_str(), O_RDWR | O_CLOEXEC))
	{
		require_errno(file_ >= 0, path(thread));
	}

	~Fault()
	{
		close(file_);
	}

	Fault(const Fault &) = delete;
	Fault &operator=(const Fault &) = delete;

	/** The @nth call from now on fails that can. */
	void arm(unsigned nth) const
	{
		const std::string text = std::to_string(nth);

		require_errno(pwrite(file_, text.data(), text.size(), 0) ==
				      static_cast<ssize_t>(text.size()),
			      "fail-nth");
	}

	/** No call fails any more. Returns how many were still to come; 0 when one has failed. */
	unsigned disarm() const
	{
		const unsigned left = this->left();

		/* This, too, copies from user space, and fails if it is the nth: it is disarmed
		 * then. */
		if (left && pwrite(file_, "0", 1, 0) != 1)
			require_errno(errno == EFAULT, "fail-nth");
		return left;
	}

	/** How many calls are still to come. */
	unsigned left() const
	{
		char text[16] = "";

		if (pread(file_, text, sizeof(text) - 1, 0) > 0)
			return static_cast<unsigned>(std::strtoul(text, nullptr, 10));
		/* Reading it was the nth. */
		require_errno(errno == EFAULT, "fail-nth");
		return 1;
	}

	/**
	 * Has allocations fail that may sleep, of single pages and for user space, and has the
	 * kernel keep silent about it. Returns why not, or nothing.
	 */
	static std::string enable()
	{
		const std::string debug = "/sys/kernel/debug/";

		if (access(path(0).c_str(), W_OK))
			return "the kernel has no fault injection, or we are not root";
		if (access((debug + "failslab").c_str(), F_OK))
			mount("debugfs", debug.c_str(), "debugfs", 0, nullptr);
		for (const char *knob :
		     { "failslab/ignore-gfp-wait N", "failslab/verbose 0",
		       "fail_page_alloc/ignore-gfp-wait N", "fail_page_alloc/ignore-gfp-highmem N",
		       "fail_page_alloc/min-order 0", "fail_page_alloc/verbose 0",
		       "fail_usercopy/verbose 0" }) {
			const std::string text = knob;
			const size_t space = text.find(' ');
			std::ofstream file(debug + text.substr(0, space));

			if (!(file << text.substr(space + 1) << std::flush))
				return "the kernel has no " + text.substr(0, space);
		}
		return "";
	}

private:
	static std::string path(pid_t thread)
	{
		return "/proc/" + (thread ? std::to_string(thread) : "thread-self") + "/fail-nth";
	}

	int file_;
};

} // namespace vm

#endif
