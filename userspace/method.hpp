// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// method.hpp: calls of the uverbs ioctl interface that libibverbs does not offer to providers.
#pragma once

#include <cstdint>
#include <rdma/rdma_user_ioctl_cmds.h>

namespace bellhop
{

// Calls a method of an object with one attribute, which must be known there; where the kernel
// answers in the attribute itself, it does so in place. cmd_fd: the uverbs file. Returns 0 or an
// errno.
int call_method(int cmd_fd, std::uint16_t object, std::uint16_t method,
		ib_uverbs_attr &attribute) noexcept;

} // namespace bellhop
