// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// kick.cpp: gets the kick file from the uverbs ioctl interface.
#include "kick.hpp"

#include <unistd.h>
#include "method.hpp"

namespace bellhop
{

Kick::~Kick()
{
	if (fd_ >= 0)
		close(fd_);
}

int Kick::open(int cmd_fd) noexcept
{
	ib_uverbs_attr file[] = { object_attribute(BELLHOP_ATTR_KICK_ALLOC_FD) };

	if (int error = call_method(cmd_fd, BELLHOP_OBJECT_KICK, BELLHOP_METHOD_KICK_ALLOC, file))
		return error;
	fd_ = static_cast<int>(file[0].data_s64);
	return 0;
}

} // namespace bellhop
