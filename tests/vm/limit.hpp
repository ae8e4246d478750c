// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// limit.hpp: for how long a call on a socket may wait.
#ifndef BELLHOP_VM_LIMIT_HPP
#define BELLHOP_VM_LIMIT_HPP

#include <sys/socket.h>
#include <sys/time.h>
#include "require.hpp"

namespace vm
{

/** No longer than a test has patience. @option: SO_RCVTIMEO or SO_SNDTIMEO. */
inline void limit_waiting(int fd, int option)
{
	const timeval limit = { static_cast<time_t>(patience), 0 };

	require_errno(!setsockopt(fd, SOL_SOCKET, option, &limit, sizeof(limit)),
		      "a limit of waiting");
}

} // namespace vm

#endif
