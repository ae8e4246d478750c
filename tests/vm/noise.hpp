// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// noise.hpp: unsound commands of the uverbs write() interface.
#ifndef BELLHOP_VM_NOISE_HPP
#define BELLHOP_VM_NOISE_HPP

#include <cstring>
#include "handles.hpp"
#include "written.hpp"

namespace vm
{

/** Commands that the device has not, and bodies that no command has. */
inline Command noise(const Handles &handles, std::mt19937 &random, uint64_t response)
{
	Command command;
	const size_t words = random() % 64;
	const uint32_t number = random() % 64;

	for (size_t i = 0; i < words; i++)
		command.append(random() % 4 ? handles.some(qp_object, random)
					    : static_cast<uint32_t>(random()));
	if (words >= 2)
		std::memcpy(command.bytes.data(), &response, sizeof(response));
	const ib_uverbs_cmd_hdr head = { random() % 2 ? number
						      : number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
					 static_cast<uint16_t>(words + 2),
					 static_cast<uint16_t>(random() % 64) };
	const auto *start = reinterpret_cast<const uint8_t *>(&head);
	command.bytes.insert(command.bytes.begin(), start, start + sizeof(head));
	if (words >= 2)
		command.answers_at = { sizeof(head) };
	return command;
}

} // namespace vm

#endif
