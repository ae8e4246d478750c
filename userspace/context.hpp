// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// context.hpp: an open device.
#pragma once

#include "kick.hpp"
#include "mapping.hpp"
#include "qp_table.hpp"
#include "verbs_abi.hpp"

namespace bellhop
{

// libibverbs allocates it, zeroed, and fills in the base; the constructor of own runs later.
struct Context : verbs_context {
	struct Own {
		Mapping status;
		Kick kick;
		QpTable qps;
	} own;

	static Context *of(ibv_context *context) noexcept
	{
		return static_cast<Context *>(verbs_get_ctx(context));
	}
};

// Opens a device on cmd_fd, which it owns from here on, even on failure. Returns null and
// sets errno.
verbs_context *alloc_context(ibv_device *device, int cmd_fd, void *private_data) noexcept;

// The same of a file on which another process, or another part of this one, has opened the device:
// both reach the objects of one context of the kernel's.
verbs_context *import_context(ibv_device *device, int cmd_fd) noexcept;

void free_context(ibv_context *context) noexcept;

} // namespace bellhop
