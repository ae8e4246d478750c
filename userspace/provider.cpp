// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// provider.cpp: makes bellhop known to libibverbs, and says which devices are its own.
#include <cerrno>
#include <rdma/bellhop-abi.h>
#include "context.hpp"
#include "heap.hpp"
#include "verbs_abi.hpp"

namespace bellhop
{

namespace
{

verbs_device *alloc_device(verbs_sysfs_dev *) noexcept
{
	auto device = make<verbs_device>();

	if (!device)
		errno = ENOMEM;
	return device.release();
}

void uninit_device(verbs_device *device) noexcept
{
	dispose(device);
}

// By the driver's number where the kernel tells it, and by the device's name where not.
constexpr verbs_match_ent MATCHES[] = {
	{ .driver_data = nullptr,
	  .u = { .driver_id = BELLHOP_DRIVER_ID },
	  .vendor = 0,
	  .device = 0,
	  .kind = VERBS_MATCH_DRIVER_ID },
	{ .driver_data = nullptr,
	  .u = { .modalias = "rdma_device:*Nbell*" },
	  .vendor = 0,
	  .device = 0,
	  .kind = VERBS_MATCH_MODALIAS },
	{},
};

constexpr verbs_device_ops DEVICE_OPERATIONS = [] {
	verbs_device_ops ops{};

	ops.name = "bellhop";
	ops.match_min_abi_version = BELLHOP_ABI_VERSION;
	ops.match_max_abi_version = BELLHOP_ABI_VERSION;
	ops.match_table = MATCHES;
	ops.alloc_context = alloc_context;
	ops.alloc_device = alloc_device;
	ops.import_context = import_context;
	ops.uninit_device = uninit_device;
	return ops;
}();

[[gnu::constructor]] void register_provider()
{
	verbs_register_driver(&DEVICE_OPERATIONS);
}

} // namespace

} // namespace bellhop
