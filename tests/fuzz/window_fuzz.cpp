// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// window_fuzz.cpp: one window through any binds, invalidations and accesses. What it opens is
// always a part of the region that it is bound to, and nothing while it is not bound.
#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "window.h"
}
#include "require.hpp"

namespace
{

using Wide = unsigned __int128;

// Few values, so that they meet.
u64 number_near(FuzzedDataProvider &input, u64 base)
{
	return base + u64(input.ConsumeIntegralInRange<int>(-4, 4)) +
	       (input.ConsumeIntegralInRange<int>(0, 7) ? 0 : input.ConsumeIntegral<u64>());
}

class Machine
{
public:
	explicit Machine(FuzzedDataProvider &input) : input_{ input }
	{
		window_.type = input.ConsumeBool() ? BELLHOP_WINDOW_TYPE_1 : BELLHOP_WINDOW_TYPE_2;
		window_.region.rkey = kRkey;
		window_.region.pdn = kPdn;
		region_ = { input.ConsumeIntegral<u64>(),
			    input.ConsumeIntegralInRange<u64>(1, 64),
			    kLkey,
			    kLkey | BELLHOP_KEY_REMOTE,
			    kPdn,
			    input.ConsumeIntegralInRange<u32>(0, 31) };
	}

	// No region wraps.
	bool exists() const
	{
		return !bellhop_key_check_region(region_.start, region_.length);
	}

	void step()
	{
		switch (input_.ConsumeIntegralInRange<int>(0, 3)) {
		case 0:
			bind();
			break;
		case 1:
			invalidate();
			break;
		default:
			access();
		}
	}

private:
	static constexpr u32 kRkey = 0x80012300, kLkey = 0x00045600, kPdn = 3;

	u32 any_rkey()
	{
		return input_.PickValueInArray(
			{ kRkey, kRkey + 1, kRkey + 0x100, kRkey & ~BELLHOP_KEY_REMOTE, kLkey });
	}

	void bind()
	{
		bellhop_bind bind{};
		const u32 rkey = any_rkey(), pdn = kPdn + !input_.ConsumeIntegralInRange<int>(0, 5);
		const u64 qp = input_.ConsumeIntegralInRange<u64>(1, 2);
		const bool is_found = input_.ConsumeIntegralInRange<int>(0, 5);
		const bellhop_window_state before = window_.state;

		bind.addr = number_near(input_, region_.start);
		bind.length = number_near(input_, input_.ConsumeBool() ? region_.length : 0);
		bind.lkey = input_.PickValueInArray({ kLkey, kLkey, kLkey, kLkey + 1, 0u });
		bind.access = input_.ConsumeIntegral<u8>() & 0x2e;
		const bellhop_reason reason = bellhop_window_check_bind(
			&window_, is_found ? &region_ : nullptr, &bind, rkey, pdn);
		if (reason) {
			REQUIRE(reason >= BELLHOP_REASON_MW_UNKNOWN &&
				reason <= BELLHOP_REASON_MW_RANGE);
			REQUIRE(bellhop_window_status(reason) == BELLHOP_WC_MW_BIND_ERR);
			return;
		}
		REQUIRE(!((rkey ^ kRkey) & ~0xffu) && pdn == kPdn);
		REQUIRE(window_.type == BELLHOP_WINDOW_TYPE_1 || before == BELLHOP_WINDOW_FREE);
		if (bind.length) {
			REQUIRE(is_found && bind.lkey == kLkey);
			REQUIRE(bind.addr >= region_.start &&
				Wide{ bind.addr } + bind.length <=
					Wide{ region_.start } + region_.length);
			REQUIRE(region_.access & BELLHOP_ACCESS_MW_BIND);
		} else {
			REQUIRE(window_.type == BELLHOP_WINDOW_TYPE_1);
		}
		bellhop_window_bind(&window_, &bind, rkey, qp);
		qp_ = qp;
		bind_ = bind;
		REQUIRE((window_.state == BELLHOP_WINDOW_BOUND) == (bind.length != 0));
	}

	void invalidate()
	{
		const u32 rkey = any_rkey(), pdn = kPdn + !input_.ConsumeIntegralInRange<int>(0, 5);
		const u64 qp = input_.ConsumeIntegralInRange<u64>(1, 2);
		const bool may = window_.type == BELLHOP_WINDOW_TYPE_2 && is_bound() &&
				 rkey == window_.region.rkey && pdn == kPdn && qp == qp_;

		REQUIRE(may == (bellhop_window_check_invalidate(&window_, rkey, pdn, qp) ==
				BELLHOP_REASON_NONE));
		if (may)
			bellhop_window_unbind(&window_, BELLHOP_WINDOW_FREE);
	}

	void access()
	{
		const u32 rkey = any_rkey(), pdn = kPdn + !input_.ConsumeIntegralInRange<int>(0, 5);
		const u64 qp = input_.ConsumeIntegralInRange<u64>(1, 2);
		const bool zero = bind_.access & BELLHOP_BIND_ZERO_BASED;
		const u64 addr = number_near(input_, zero ? 0 : bind_.addr);
		const u64 length = number_near(input_, input_.ConsumeBool() ? bind_.length : 0);
		const u32 wanted = input_.PickValueInArray({ u32(BELLHOP_ACCESS_REMOTE_READ),
							     u32(BELLHOP_ACCESS_REMOTE_WRITE),
							     u32(BELLHOP_ACCESS_REMOTE_ATOMIC) });
		const bellhop_reason reason =
			bellhop_window_check_access(&window_, rkey, pdn, qp, addr, length, wanted);

		if (reason) {
			REQUIRE(reason >= BELLHOP_REASON_RKEY_UNKNOWN &&
				reason <= BELLHOP_REASON_RKEY_QP);
			return;
		}
		REQUIRE(is_bound() && rkey == window_.region.rkey && pdn == kPdn);
		REQUIRE(window_.type == BELLHOP_WINDOW_TYPE_1 || qp == qp_);
		REQUIRE(bind_.access & wanted);
		REQUIRE(wanted == BELLHOP_ACCESS_REMOTE_READ ||
			(region_.access & BELLHOP_ACCESS_LOCAL_WRITE));
		// Where the bytes are: inside of what is bound, and so of the region.
		const u64 offset = addr - bellhop_window_origin(&region_, &bind_);
		REQUIRE(offset >= bind_.addr - region_.start);
		REQUIRE(Wide{ offset } + length <=
			Wide{ bind_.addr - region_.start } + bind_.length);
		REQUIRE(Wide{ offset } + length <= region_.length);
	}

	bool is_bound() const
	{
		return window_.state == BELLHOP_WINDOW_BOUND;
	}

	FuzzedDataProvider &input_;
	bellhop_window window_{};
	bellhop_region region_{};
	bellhop_bind bind_{};
	u64 qp_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input{ data, size };
	Machine machine{ input };

	if (!machine.exists())
		return 0;
	while (input.remaining_bytes())
		machine.step();
	return 0;
}
