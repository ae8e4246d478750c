// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// method.hpp: calls of the uverbs ioctl interface that libibverbs does not offer to providers.
#pragma once

#include <cstdint>
#include <cstring>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <span>

namespace bellhop
{

inline ib_uverbs_attr make_attribute(unsigned id, std::size_t length, std::uint64_t data) noexcept
{
	ib_uverbs_attr attribute{};

	attribute.attr_id = static_cast<std::uint16_t>(id);
	attribute.len = static_cast<std::uint16_t>(length);
	attribute.flags = UVERBS_ATTR_F_MANDATORY;
	attribute.data = data;
	return attribute;
}

// An object by its handle; or one, or a file, that is to be made.
inline ib_uverbs_attr object_attribute(unsigned id, std::uint32_t handle = 0) noexcept
{
	return make_attribute(id, 0, handle);
}

// A number, which stands in the attribute itself.
template <class T>
ib_uverbs_attr number_attribute(unsigned id, T number) noexcept
{
	ib_uverbs_attr attribute = make_attribute(id, sizeof(T), 0);

	static_assert(sizeof(T) <= sizeof(attribute.data));
	std::memcpy(&attribute.data, &number, sizeof(T));
	return attribute;
}

// Room for an answer.
template <class T>
ib_uverbs_attr answer_attribute(unsigned id, T &room) noexcept
{
	return make_attribute(id, sizeof(T), reinterpret_cast<std::uintptr_t>(&room));
}

constexpr std::size_t MAX_ATTRIBUTES = 9;

// Calls a method of an object; where the kernel answers in an attribute itself, it does so in
// place. cmd_fd: the uverbs file; attributes: MAX_ATTRIBUTES at most. Returns 0 or an errno.
int call_method(int cmd_fd, std::uint16_t object, std::uint16_t method,
		std::span<ib_uverbs_attr> attributes) noexcept;

} // namespace bellhop
