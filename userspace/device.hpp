// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// device.hpp: what a device and its port tell about themselves.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

// All return 0 or an errno, as libibverbs' operations of the same names.
int query_device_ex(ibv_context *context, const ibv_query_device_ex_input *input,
		    ibv_device_attr_ex *attr, std::size_t attr_size) noexcept;
int query_port(ibv_context *context, std::uint8_t port_num, ibv_port_attr *attr) noexcept;
int query_rt_values(ibv_context *context, ibv_values_ex *values) noexcept;

} // namespace bellhop
