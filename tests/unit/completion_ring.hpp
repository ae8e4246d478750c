// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// completion_ring.hpp: a completion ring with its kernel's end, and entries to push.
#pragma once

#include <gtest/gtest.h>

extern "C" {
#include "ring.h"
}
#include "ring_memory.hpp"

// Where free-running indices are worth starting: at zero, and before both of their wraps.
inline constexpr u32 kStarts[] = { 0, 1, 0x7ffffffd, 0xfffffffd, 0xffffffff };

struct CompletionRing {
	// Slots look as if the library had taken everything before start.
	explicit CompletionRing(u32 slots, u32 start = 0)
	    : memory{ slots, sizeof(bellhop_cqe) }, end{ memory.hdr(), slots - 1, start, start, 0 }
	{
		memory.hdr()->consumer = start;
		for (u32 i = 0; i < slots; i++)
			at(start + i)->phase = !phase_of(start + i);
	}

	bellhop_cqe *at(u32 index)
	{
		return reinterpret_cast<bellhop_cqe *>(memory.slot(index & end.mask));
	}

	u32 phase_of(u32 index) const
	{
		return (index / (end.mask + 1)) % 2 == 0;
	}
	bool has(u32 index)
	{
		return at(index)->phase == phase_of(index);
	}

	RingMemory<bellhop_cq_hdr> memory;
	bellhop_completion_ring end;
};

// Each field says something else, so that none can stand in another's place.
inline bellhop_completion entry(u32 number)
{
	bellhop_completion completion{};

	completion.qpn = ~number;
	completion.wqe_index = number;
	completion.byte_len = number + 0x10000;
	completion.ex = number + 0x20000;
	completion.src_qp = number + 0x30000;
	completion.vendor_err = number + 0x40000;
	completion.opcode = u8(number + 1);
	completion.status = u8(number + 2);
	completion.wc_flags = u16(number + 3);
	return completion;
}

inline void expect_entry(const bellhop_cqe &cqe, u32 number)
{
	bellhop_completion expected = entry(number);

	EXPECT_EQ(cqe.qpn, expected.qpn);
	EXPECT_EQ(cqe.wqe_index, expected.wqe_index);
	EXPECT_EQ(cqe.byte_len, expected.byte_len);
	EXPECT_EQ(cqe.ex, expected.ex);
	EXPECT_EQ(cqe.src_qp, expected.src_qp);
	EXPECT_EQ(cqe.vendor_err, expected.vendor_err);
	EXPECT_EQ(cqe.opcode, expected.opcode);
	EXPECT_EQ(cqe.status, expected.status);
	EXPECT_EQ(cqe.wc_flags, expected.wc_flags);
}
