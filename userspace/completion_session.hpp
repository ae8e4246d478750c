// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// completion_session.hpp: the calls of an extended CQ that poll and read one completion at a time.
#pragma once

#include <cstdint>
#include <infiniband/verbs.h>

namespace bellhop
{

class CompletionQueue;

// The fields that can be asked for, of enum ibv_create_cq_wc_flags.
inline constexpr std::uint64_t COMPLETION_FIELDS =
	std::uint64_t{ IBV_WC_STANDARD_FLAGS } | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
	IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK | IBV_WC_EX_WITH_TM_INFO;

// Fills in the calls, with those that read the fields of wc_flags, a part of COMPLETION_FIELDS.
void offer_completion_session(CompletionQueue &cq, std::uint64_t wc_flags) noexcept;

} // namespace bellhop
