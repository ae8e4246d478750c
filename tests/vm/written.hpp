// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// written.hpp: a command of the uverbs write() interface, as bytes.
#ifndef BELLHOP_VM_WRITTEN_HPP
#define BELLHOP_VM_WRITTEN_HPP

#include <cstdint>
#include <vector>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

namespace vm
{

/** A command as it is handed to write(), and where in it to find what. */
struct Command {
	std::vector<uint8_t> bytes;
	std::vector<size_t> answers_at = {}; /* where the addresses of its answers stand */
	int makes = -1; /* an ObjectKind: the response begins with its handle */

	/** One with a head of 8 bytes. @out: bytes of the response, whose address begins @body. */
	template <typename Body>
	static Command plain(uint32_t number, const Body &body, size_t out = 0, int makes = -1)
	{
		Command command;
		const ib_uverbs_cmd_hdr head = {
			number, static_cast<uint16_t>((sizeof(head) + sizeof(body)) / 4),
			static_cast<uint16_t>(out / 4)
		};

		command.append(head);
		command.append(body);
		if (out)
			command.answers_at = { sizeof(head) };
		command.makes = makes;
		return command;
	}

	/** One with a head of 24 bytes. */
	template <typename Body>
	static Command extended(uint32_t number, const Body &body, uint64_t response, size_t out,
				size_t driver_out, int makes = -1)
	{
		Command command;
		const ib_uverbs_cmd_hdr head = { number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
						 static_cast<uint16_t>(sizeof(body) / 8),
						 static_cast<uint16_t>(out / 8) };
		const ib_uverbs_ex_cmd_hdr more = { response, 0,
						    static_cast<uint16_t>(driver_out / 8), 0 };

		command.append(head);
		command.append(more);
		command.append(body);
		command.answers_at = { sizeof(head) };
		command.makes = makes;
		return command;
	}

	template <typename Body>
	void append(const Body &body)
	{
		const auto *start = reinterpret_cast<const uint8_t *>(&body);

		bytes.insert(bytes.end(), start, start + sizeof(body));
	}
};

/** ib_uverbs_reg_mr, which ends in an array without a size, and what bellhop's library adds. */
struct Registration {
	uint64_t response;
	uint64_t start, length, iova;
	uint32_t pd, access;
	bellhop_reg_mr driver;
};
static_assert(sizeof(Registration) == sizeof(ib_uverbs_reg_mr) + sizeof(bellhop_reg_mr));

/** What makes a null region. */
inline Registration registration_of_nothing(uint64_t response, uint32_t pd)
{
	return { response, 0, ~0ULL, 0, pd, IB_UVERBS_ACCESS_LOCAL_WRITE, { BELLHOP_MR_NULL, 0 } };
}

} // namespace vm

#endif
