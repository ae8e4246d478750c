// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// method.cpp: calls of the uverbs ioctl interface that libibverbs does not offer to providers.
#include "method.hpp"

#include <cerrno>
#include <cstddef>
#include <rdma/bellhop-abi.h>
#include <sys/ioctl.h>

namespace bellhop
{

int call_method(int cmd_fd, std::uint16_t object, std::uint16_t method,
		ib_uverbs_attr &attribute) noexcept
{
	// The attributes follow the header.
	constexpr std::uint16_t SIZE = sizeof(ib_uverbs_ioctl_hdr) + sizeof(ib_uverbs_attr);
	alignas(ib_uverbs_ioctl_hdr) std::byte request[SIZE]{};
	auto *hdr = reinterpret_cast<ib_uverbs_ioctl_hdr *>(request);

	hdr->length = SIZE;
	hdr->object_id = object;
	hdr->method_id = method;
	hdr->num_attrs = 1;
	hdr->driver_id = BELLHOP_DRIVER_ID;
	hdr->attrs[0] = attribute;
	hdr->attrs[0].flags = UVERBS_ATTR_F_MANDATORY;
	if (ioctl(cmd_fd, RDMA_VERBS_IOCTL, hdr))
		return errno;
	attribute = hdr->attrs[0];
	return 0;
}

} // namespace bellhop
