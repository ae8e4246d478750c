// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// method.cpp: calls of the uverbs ioctl interface that libibverbs does not offer to providers.
#include "method.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <rdma/bellhop-abi.h>
#include <sys/ioctl.h>

namespace bellhop
{

int call_method(int cmd_fd, std::uint16_t object, std::uint16_t method,
		std::span<ib_uverbs_attr> attributes) noexcept
{
	// The attributes follow the header.
	alignas(ib_uverbs_ioctl_hdr) std::byte
		request[sizeof(ib_uverbs_ioctl_hdr) + MAX_ATTRIBUTES * sizeof(ib_uverbs_attr)]{};
	auto *hdr = reinterpret_cast<ib_uverbs_ioctl_hdr *>(request);

	if (attributes.size() > MAX_ATTRIBUTES)
		return E2BIG;
	hdr->length = static_cast<std::uint16_t>(sizeof(*hdr) + attributes.size_bytes());
	hdr->object_id = object;
	hdr->method_id = method;
	hdr->num_attrs = static_cast<std::uint16_t>(attributes.size());
	hdr->driver_id = BELLHOP_DRIVER_ID;
	std::copy(attributes.begin(), attributes.end(), hdr->attrs);
	if (ioctl(cmd_fd, RDMA_VERBS_IOCTL, hdr))
		return errno;
	std::copy_n(hdr->attrs, attributes.size(), attributes.begin());
	return 0;
}

} // namespace bellhop
