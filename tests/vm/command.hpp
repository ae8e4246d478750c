// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// command.hpp: shell commands, each with a limit of time.
#ifndef BELLHOP_VM_COMMAND_HPP
#define BELLHOP_VM_COMMAND_HPP

#include <fcntl.h>
#include <filesystem>
#include "child.hpp"
#include "threads.hpp"

namespace vm
{

/** The folder of all sources, above that of this program. */
inline std::filesystem::path tree()
{
	return std::filesystem::read_symlink("/proc/self/exe")
		.parent_path()
		.parent_path()
		.parent_path();
}

/**
 * Runs @text in a shell. Returns its exit status, or -1 when it had to be killed: then where
 * in the kernel it was is printed. What it says is printed when it fails and @is_loud.
 */
inline int run_command(const std::string &text, bool is_loud = true, double seconds = 2 * patience)
{
	int pipe[2];

	require_errno(!pipe2(pipe, O_CLOEXEC | O_NONBLOCK), "pipe2");
	Child shell([&] {
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(pipe[1], 1);
		dup2(pipe[1], 2);
		execl("/bin/sh", "sh", "-c", text.c_str(), nullptr);
		return 127;
	});
	const std::optional<int> status = shell.wait(seconds);
	char said[4096];
	ssize_t length = read(pipe[0], said, sizeof(said));

	close(pipe[0]);
	close(pipe[1]);
	if (!status) {
		note("does not end: %s", text.c_str());
		note_threads(shell.pid());
		return -1;
	}
	if (*status && is_loud) {
		note("status %d: %s", *status, text.c_str());
		note_text(std::string(said, std::max<ssize_t>(length, 0)));
	}
	return WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

/** Runs @text, which must succeed. */
inline void expect_command(const std::string &text)
{
	EXPECT_EQ(run_command(text), 0) << text;
}

/** Whether @holds within @seconds. */
inline bool comes_true(const std::function<bool()> &holds, double seconds = patience)
{
	const Deadline deadline(seconds);

	while (!holds()) {
		if (deadline.passed())
			return false;
		usleep(5000);
	}
	return true;
}

} // namespace vm

#endif
