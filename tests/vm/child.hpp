// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// child.hpp: processes to be killed, or to be looked after.
#ifndef BELLHOP_VM_CHILD_HPP
#define BELLHOP_VM_CHILD_HPP

#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ktap.hpp"
#include "require.hpp"

namespace vm
{

/** A child process that runs @body and exits with what it returns; 99 when it throws. */
class Child
{
public:
	/** To be forked while the parent has nothing of verbs open. */
	explicit Child(const std::function<int()> &body)
	{
		std::fflush(stdout);
		pid_ = fork();
		require_errno(pid_ >= 0, "fork");
		if (pid_)
			return;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int status = 99;
		try {
			status = body();
		} catch (const std::exception &error) {
			note("in a child: %s", error.what());
		}
		std::fflush(stdout);
		_exit(status);
	}

	~Child()
	{
		if (pid_ <= 0)
			return;
		::kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}

	Child(const Child &) = delete;
	Child &operator=(const Child &) = delete;

	void kill(int signal = SIGKILL) const
	{
		::kill(pid_, signal);
	}

	/** Waits for its end. Returns the status that waitpid() gives, or nothing after @seconds.
	 */
	std::optional<int> wait(double seconds = patience)
	{
		const Deadline deadline(seconds);
		int status;

		while (waitpid(pid_, &status, WNOHANG) != pid_) {
			if (deadline.passed())
				return std::nullopt;
			usleep(1000);
		}
		pid_ = 0;
		return status;
	}

	pid_t pid() const
	{
		return pid_;
	}

private:
	pid_t pid_;
};

/** Shares all pages with a child for a moment: it ends at once. Returns whether it came and went.
 */
inline bool share_memory()
{
	const pid_t child = fork();

	if (!child)
		_exit(0);
	return waitpid(child, nullptr, 0) == child;
}

} // namespace vm

#endif
