// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// kick_record.cpp: stands in for ioctl(), and takes down the kicks.
#include "kick_record.hpp"

#include <cerrno>
#include <cstdarg>
#include <sys/ioctl.h>
#include <rdma/bellhop-abi.h>

std::vector<std::uint32_t> &kick_record()
{
	static std::vector<std::uint32_t> record;

	return record;
}

extern "C" int ioctl(int, unsigned long request, ...) noexcept
{
	va_list arguments;

	if (request != BELLHOP_IOCTL_KICK) {
		errno = ENOTTY;
		return -1;
	}
	va_start(arguments, request);
	kick_record().push_back(static_cast<std::uint32_t>(va_arg(arguments, unsigned long)));
	va_end(arguments);
	return 0;
}
