// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// service.hpp: the transport services that QPs are of (IBA 3.2.2).
#pragma once

#include <cstdint>
#include <infiniband/verbs.h>

namespace bellhop
{

// A QP has one. What is for several has the bits of all.
enum Service : std::uint8_t {
	SERVICE_NONE = 0,
	SERVICE_RC = 1 << 0,
	SERVICE_UC = 1 << 1,
	SERVICE_UD = 1 << 2,
	SERVICE_XRC = 1 << 3,
	SERVICE_RAW = 1 << 4, // whole frames of the link's
	SERVICES_RELIABLE = SERVICE_RC | SERVICE_XRC,
	SERVICES_CONNECTED = SERVICES_RELIABLE | SERVICE_UC,
	SERVICES_ADDRESSED = SERVICE_UD | SERVICE_XRC, // each request says whom it is for
	SERVICES_IBA = SERVICES_CONNECTED | SERVICE_UD,
	SERVICES_ALL = SERVICES_IBA | SERVICE_RAW,
};

// SERVICE_NONE of a type that there is not.
constexpr Service service_of(ibv_qp_type type) noexcept
{
	switch (type) {
	case IBV_QPT_RC:
		return SERVICE_RC;
	case IBV_QPT_UC:
		return SERVICE_UC;
	case IBV_QPT_UD:
		return SERVICE_UD;
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return SERVICE_XRC;
	case IBV_QPT_RAW_PACKET:
		return SERVICE_RAW;
	default:
		return SERVICE_NONE;
	}
}

} // namespace bellhop
