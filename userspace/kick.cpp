// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// kick.cpp: gets the kick file from the uverbs ioctl interface.
#include "kick.hpp"

#include <cerrno>
#include <cstddef>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace bellhop
{

Kick::~Kick()
{
	if (fd_ >= 0)
		close(fd_);
}

int Kick::open(int cmd_fd) noexcept
{
	// One method call with one attribute, which follows the header.
	constexpr std::uint16_t SIZE = sizeof(ib_uverbs_ioctl_hdr) + sizeof(ib_uverbs_attr);
	alignas(ib_uverbs_ioctl_hdr) std::byte request[SIZE]{};
	auto *hdr = reinterpret_cast<ib_uverbs_ioctl_hdr *>(request);

	hdr->length = SIZE;
	hdr->object_id = BELLHOP_OBJECT_KICK;
	hdr->method_id = BELLHOP_METHOD_KICK_ALLOC;
	hdr->num_attrs = 1;
	hdr->driver_id = BELLHOP_DRIVER_ID;
	hdr->attrs[0].attr_id = BELLHOP_ATTR_KICK_ALLOC_FD;
	hdr->attrs[0].flags = UVERBS_ATTR_F_MANDATORY;
	if (ioctl(cmd_fd, RDMA_VERBS_IOCTL, hdr))
		return errno;
	fd_ = static_cast<int>(hdr->attrs[0].data_s64);
	return 0;
}

} // namespace bellhop
