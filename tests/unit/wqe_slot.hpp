// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe_slot.hpp: entries in a slot that is not a byte longer than the queue's stride.
#ifndef BELLHOP_TESTS_UNIT_WQE_SLOT_HPP
#define BELLHOP_TESTS_UNIT_WQE_SLOT_HPP

#include <cstring>
#include <memory>
#include <vector>

extern "C" {
#include "wqe.h"
}

inline constexpr bellhop_wqe_limits kLimits = { 4, 64, BELLHOP_SERVICE_RC };
inline constexpr bellhop_wqe_limits kWidest = { BELLHOP_MAX_SGE, BELLHOP_MAX_INLINE,
						BELLHOP_SERVICE_RC };

// Those that there are.
inline std::vector<u8> opcodes()
{
	std::vector<u8> all;

	for (u8 opcode = 0; opcode < BELLHOP_OPCODES; opcode++)
		if (bellhop_opcode_row(opcode)->services)
			all.push_back(opcode);
	return all;
}

// A slot on the heap, so that one byte too far is an error.
template <typename Head>
class Slot
{
public:
	explicit Slot(u32 stride) : stride_{ stride }, bytes_{ new u8[stride]() } {}

	void set_head(const Head &head)
	{
		std::memcpy(bytes_.get(), &head, sizeof(head));
	}
	void set_sge(u32 i, const bellhop_sge &sge)
	{
		std::memcpy(payload() + i * sizeof(sge), &sge, sizeof(sge));
	}
	u8 *payload()
	{
		return bytes_.get() + sizeof(Head);
	}
	const u8 *bytes() const
	{
		return bytes_.get();
	}
	std::vector<u8> copy() const
	{
		return { bytes_.get(), bytes_.get() + stride_ };
	}

private:
	u32 stride_;
	std::unique_ptr<u8[]> bytes_;
};

using SendSlot = Slot<bellhop_sqe>;
using RecvSlot = Slot<bellhop_rqe>;

inline bellhop_sqe send_head(u8 opcode, u8 flags = 0, u16 num_sge = 0, u32 inline_length = 0)
{
	bellhop_sqe head{};

	head.opcode = opcode;
	head.flags = flags;
	head.num_sge = num_sge;
	head.inline_length = inline_length;
	return head;
}

inline bellhop_reason decode(bellhop_send_wqe &wqe, const bellhop_sqe &head,
			     const bellhop_wqe_limits &limits = kLimits)
{
	SendSlot slot{ bellhop_wqe_send_stride(&limits) };

	slot.set_head(head);
	std::memset(&wqe, 0xa5, sizeof(wqe));
	return bellhop_wqe_decode_send(&wqe, slot.bytes(), &limits);
}

#endif
