// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rdma_netlink.hpp: what the command "rdma" asks the kernel, without the command.
#ifndef BELLHOP_VM_RDMA_NETLINK_HPP
#define BELLHOP_VM_RDMA_NETLINK_HPP

#include <map>
#include <optional>
#include <rdma/rdma_netlink.h>
#include "netlink.hpp"

namespace vm
{

inline Message rdma_message(int command, int flags = 0)
{
	return Message(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags);
}

/** The number that the kernel knows an RDMA device by. */
inline std::optional<uint32_t> rdma_index(const std::string &name)
{
	std::optional<uint32_t> found;

	exchange(NETLINK_RDMA, rdma_message(RDMA_NLDEV_CMD_GET, NLM_F_DUMP),
		 [&](const uint8_t *payload, size_t length) {
			 uint32_t index = 0;
			 std::string own;

			 for_each_attr(
				 payload, length, [&](int type, const uint8_t *data, size_t bytes) {
					 if (type == RDMA_NLDEV_ATTR_DEV_INDEX)
						 std::memcpy(&index, data, sizeof(index));
					 else if (type == RDMA_NLDEV_ATTR_DEV_NAME)
						 own.assign(reinterpret_cast<const char *>(data),
							    bytes - 1);
				 });
			 if (own == name)
				 found = index;
		 });
	return found;
}

/** How many objects of each kind a device has, as "rdma resource show" says. */
inline std::map<std::string, uint64_t> rdma_objects(uint32_t index)
{
	std::map<std::string, uint64_t> objects;
	const auto read_entry = [&](int, const uint8_t *data, size_t length) {
		std::string kind;
		uint64_t count = 0;

		for_each_attr(data, length, [&](int type, const uint8_t *value, size_t bytes) {
			if (type == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME)
				kind.assign(reinterpret_cast<const char *>(value), bytes - 1);
			else if (type == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR)
				std::memcpy(&count, value, sizeof(count));
		});
		objects[kind] = count;
	};
	const int error = exchange(
		NETLINK_RDMA,
		rdma_message(RDMA_NLDEV_CMD_RES_GET).put(RDMA_NLDEV_ATTR_DEV_INDEX, index),
		[&](const uint8_t *payload, size_t length) {
			for_each_attr(payload, length,
				      [&](int type, const uint8_t *data, size_t bytes) {
					      if (type == RDMA_NLDEV_ATTR_RES_SUMMARY)
						      for_each_attr(data, bytes, read_entry);
				      });
		});

	require(!error && !objects.empty(), "the kernel does not tell a device's objects");
	return objects;
}

/** "rdma link add NAME type bellhop netdev NETDEV" */
inline Message rdma_link_add(const std::string &name, const std::string &netdev)
{
	return rdma_message(RDMA_NLDEV_CMD_NEWLINK)
		.put(RDMA_NLDEV_ATTR_DEV_NAME, name)
		.put(RDMA_NLDEV_ATTR_LINK_TYPE, "bellhop")
		.put(RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
}

/** "rdma link del", of a device that is there. */
inline Message rdma_link_del(const std::string &name)
{
	const std::optional<uint32_t> index = rdma_index(name);

	require(index.has_value(), name + " is not there");
	return rdma_message(RDMA_NLDEV_CMD_DELLINK).put(RDMA_NLDEV_ATTR_DEV_INDEX, *index);
}

} // namespace vm

#endif
