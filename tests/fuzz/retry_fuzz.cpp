// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// retry_fuzz.cpp: a responder that is silent or not ready in any order: without progress, and
// unless rnr_retry is for ever, a requester gives up after a bounded number of tries.
#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "retry.h"
#include "timeout.h"
}
#include "require.hpp"

namespace
{

constexpr u64 kShortestRnr = 10 * 1000;
constexpr u64 kLongestRnr = 655360 * 1000ULL;

// What the counters must say, kept in another way: events since they were last refilled.
struct Model {
	u32 tries = 0; // without progress
	u32 silences = 0; // since the last answer
	u32 rnrs = 0; // since the last progress
};

void be_silent(bellhop_retry &retry, Model &model, bool &done)
{
	bellhop_retry_plan plan = bellhop_retry_silent(&retry);

	model.silences++;
	REQUIRE(plan.give_up == (model.silences > retry.retry_cnt + 1u));
	REQUIRE(plan.wait_ns == (retry.timeout ? 4096ULL << retry.timeout : 4096ULL << 19));
	done = plan.give_up;
}

void be_not_ready(bellhop_retry &retry, Model &model, u8 code, bool &done)
{
	bellhop_retry_plan plan = bellhop_retry_rnr(&retry, code);

	model.silences = 0;
	model.rnrs++;
	REQUIRE(plan.give_up ==
		(retry.rnr_retry != BELLHOP_RETRY_RNR_FOREVER && model.rnrs > retry.rnr_retry));
	REQUIRE(plan.wait_ns >= kShortestRnr && plan.wait_ns <= kLongestRnr);
	done = plan.give_up;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input{ data, size };
	bellhop_retry retry{};
	Model model;
	bool done = false;

	retry.timeout = input.ConsumeIntegralInRange<u8>(0, 31);
	retry.retry_cnt = input.ConsumeIntegralInRange<u8>(0, 7);
	retry.rnr_retry = input.ConsumeIntegralInRange<u8>(0, 7);
	const u32 bound = (retry.rnr_retry + 1u) * (retry.retry_cnt + 2u);

	while (!done && input.remaining_bytes()) {
		model.tries++;
		switch (input.ConsumeIntegralInRange<int>(0, 8)) {
		case 0:
			bellhop_retry_progress(&retry);
			model = {};
			break;
		case 1:
		case 2:
		case 3:
		case 4:
			be_not_ready(retry, model, input.ConsumeIntegral<u8>(), done);
			break;
		default:
			be_silent(retry, model, done);
		}
		if (retry.rnr_retry != BELLHOP_RETRY_RNR_FOREVER)
			REQUIRE(done || model.tries < bound);
	}
	return 0;
}
