// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// device.cpp: what a device and its port tell about themselves.
#include "device.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include "context.hpp"

namespace bellhop
{

int query_device_ex(ibv_context *context, const ibv_query_device_ex_input *input,
		    ibv_device_attr_ex *attr, std::size_t attr_size) noexcept
{
	ib_uverbs_ex_query_device_resp response{};
	std::size_t response_size = sizeof(response);
	int error = ibv_cmd_query_device_any(context, input, attr, attr_size, &response,
					     &response_size);

	if (error)
		return error;
	std::uint64_t version = response.base.fw_ver;

	std::snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%" PRIu64, version);
	// A program may be older than the fields.
	if (attr_size >= offsetof(ibv_device_attr_ex, rss_caps) + sizeof(attr->rss_caps) &&
	    attr->rss_caps.supported_qpts) {
		attr->rss_caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
		attr->rss_caps.rx_hash_fields_mask = BELLHOP_HASH_FIELDS;
	}
	return 0;
}

int query_port(ibv_context *context, std::uint8_t port_num, ibv_port_attr *attr) noexcept
{
	Request<ib_uverbs_query_port> request{};

	return ibv_cmd_query_port(context, port_num, attr, &request, sizeof(request));
}

int query_rt_values(ibv_context *context, ibv_values_ex *values) noexcept
{
	if (values->comp_mask & ~std::uint32_t{ IBV_VALUES_MASK_RAW_CLOCK })
		return EOPNOTSUPP;
	if (!values->comp_mask)
		return 0;
	std::int64_t clock = Context::of(context)->own.kick.clock();

	if (clock < 0)
		return errno;
	// All ticks in the one field, where programs look for what a completion's timestamp has.
	values->raw_clock = { .tv_sec = 0, .tv_nsec = static_cast<long>(clock) };
	return 0;
}

} // namespace bellhop
