// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// window_test.cpp: window.c: what may be bound to what, what a bound window opens, and who ends it.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

extern "C" {
#include "window.h"
}

namespace
{

constexpr u32 kPdn = 7;
constexpr u64 kQp = 0x1'0000'0001;
constexpr u32 kRkey = 0x80012334;
constexpr u32 kLkey = 0x00055566;
constexpr u64 kStart = 0x10000;
constexpr u64 kLength = 0x2000;
constexpr u32 kBindable = BELLHOP_ACCESS_LOCAL_WRITE | BELLHOP_ACCESS_MW_BIND;

bellhop_window window_of(bellhop_window_type type)
{
	bellhop_window window{};

	window.region.rkey = kRkey;
	window.region.pdn = kPdn;
	window.type = type;
	return window;
}

constexpr bellhop_region kRegion = { kStart, kLength,  kLkey, kLkey | BELLHOP_KEY_REMOTE,
				     kPdn,   kBindable };

constexpr bellhop_bind kBind = { kStart + 0x100, 0x1000, kLkey, BELLHOP_BIND_REMOTE_WRITE };

bellhop_reason check(const bellhop_window &window, const bellhop_bind &bind = kBind,
		     const bellhop_region &region = kRegion, u32 rkey = kRkey + 1, u32 pdn = kPdn)
{
	return bellhop_window_check_bind(&window, &region, &bind, rkey, pdn);
}

bellhop_window bound(bellhop_window_type type, const bellhop_bind &bind = kBind)
{
	bellhop_window window = window_of(type);

	bellhop_window_bind(&window, &bind, kRkey + 1, kQp);
	return window;
}

bellhop_reason access(const bellhop_window &window, u64 addr, u64 length,
		      u32 wanted = BELLHOP_ACCESS_REMOTE_WRITE, u32 rkey = kRkey + 1,
		      u32 pdn = kPdn, u64 qp = kQp)
{
	return bellhop_window_check_access(&window, rkey, pdn, qp, addr, length, wanted);
}

constexpr bellhop_window_type kTypes[] = { BELLHOP_WINDOW_TYPE_1, BELLHOP_WINDOW_TYPE_2 };

} // namespace

TEST(window, types__are_those_of_verbs)
{
	EXPECT_EQ(int(BELLHOP_WINDOW_TYPE_1), int(IBV_MW_TYPE_1));
	EXPECT_EQ(int(BELLHOP_WINDOW_TYPE_2), int(IBV_MW_TYPE_2));
}

TEST(window, check_bind__a_free_window_to_a_region_that_allows_it)
{
	for (bellhop_window_type type : kTypes)
		EXPECT_EQ(check(window_of(type)), BELLHOP_REASON_NONE);
}

TEST(window, check_bind__the_window_must_be_there_and_the_index_its_own)
{
	for (bellhop_window_type type : kTypes) {
		bellhop_window window = window_of(type);

		EXPECT_EQ(bellhop_window_check_bind(nullptr, &kRegion, &kBind, kRkey, kPdn),
			  BELLHOP_REASON_MW_UNKNOWN);
		for (u32 bit = 0; bit < 32; bit++)
			EXPECT_EQ(check(window, kBind, kRegion, kRkey ^ 1u << bit),
				  bit < 8 ? BELLHOP_REASON_NONE : BELLHOP_REASON_MW_UNKNOWN)
				<< bit;
		bellhop_window_unbind(&window, BELLHOP_WINDOW_GONE);
		EXPECT_EQ(check(window), BELLHOP_REASON_MW_UNKNOWN);
	}
}

TEST(window, check_bind__all_are_of_one_pd)
{
	for (bellhop_window_type type : kTypes) {
		bellhop_window window = window_of(type);
		bellhop_region region = kRegion;

		EXPECT_EQ(check(window, kBind, kRegion, kRkey, kPdn + 1), BELLHOP_REASON_MW_PD);
		region.pdn++;
		EXPECT_EQ(check(window, kBind, region), BELLHOP_REASON_MW_PD);
		EXPECT_EQ(check(window, kBind, region, kRkey, kPdn + 1), BELLHOP_REASON_MW_PD);
	}
}

TEST(window, check_bind__only_type_1_is_bound_twice_or_to_nothing)
{
	bellhop_bind nothing{};

	EXPECT_EQ(check(bound(BELLHOP_WINDOW_TYPE_1)), BELLHOP_REASON_NONE);
	EXPECT_EQ(check(bound(BELLHOP_WINDOW_TYPE_2)), BELLHOP_REASON_MW_BOUND);
	for (bellhop_window_type type : kTypes) {
		bellhop_window window = window_of(type);

		EXPECT_EQ(bellhop_window_check_bind(&window, nullptr, &nothing, kRkey, kPdn),
			  type == BELLHOP_WINDOW_TYPE_1 ? BELLHOP_REASON_NONE
							: BELLHOP_REASON_MW_RANGE);
	}
}

TEST(window, check_bind__only_type_2_is_based_at_zero)
{
	bellhop_bind bind = kBind;

	bind.access |= BELLHOP_BIND_ZERO_BASED;
	EXPECT_EQ(check(window_of(BELLHOP_WINDOW_TYPE_1), bind), BELLHOP_REASON_MW_TYPE);
	EXPECT_EQ(check(window_of(BELLHOP_WINDOW_TYPE_2), bind), BELLHOP_REASON_NONE);
}

TEST(window, check_bind__the_region_must_have_the_key)
{
	for (bellhop_window_type type : kTypes) {
		bellhop_window window = window_of(type);
		bellhop_bind bind = kBind;

		EXPECT_EQ(bellhop_window_check_bind(&window, nullptr, &kBind, kRkey, kPdn),
			  BELLHOP_REASON_MW_REGION);
		for (u32 lkey : { kLkey + 1, kLkey | BELLHOP_KEY_REMOTE, kRkey, 0u }) {
			bind.lkey = lkey;
			EXPECT_EQ(check(window, bind), BELLHOP_REASON_MW_REGION) << lkey;
		}
	}
}

/* Every access a window can have, to regions of every access. */
TEST(window, check_bind__writes_need_a_region_that_its_owner_writes)
{
	for (u32 has = 0; has < 32; has++) {
		for (u32 wants = 0; wants < 16; wants += 2) {
			bellhop_region region = kRegion;
			bellhop_bind bind = kBind;
			bool changes =
				wants & (BELLHOP_BIND_REMOTE_WRITE | BELLHOP_BIND_REMOTE_ATOMIC);
			bool allowed = (has & BELLHOP_ACCESS_MW_BIND) &&
				       (!changes || (has & BELLHOP_ACCESS_LOCAL_WRITE));

			region.access = has;
			bind.access = wants;
			EXPECT_EQ(check(window_of(BELLHOP_WINDOW_TYPE_2), bind, region),
				  allowed ? BELLHOP_REASON_NONE : BELLHOP_REASON_MW_REGION_ACCESS)
				<< has << " gives " << wants;
		}
	}
}

TEST(window, check_bind__not_a_byte_outside_of_the_region)
{
	struct {
		u64 addr, length;
		bool fits;
	} const cases[] = {
		{ kStart, kLength, true },
		{ kStart, 1, true },
		{ kStart + kLength - 1, 1, true },
		{ kStart - 1, 1, false },
		{ kStart - 1, kLength, false },
		{ kStart, kLength + 1, false },
		{ kStart + kLength, 1, false },
		{ kStart + 1, ~0ULL, false },
		{ ~0ULL, 2, false },
		{ 0, ~0ULL, false },
	};

	for (const auto &c : cases) {
		bellhop_bind bind = kBind;

		bind.addr = c.addr;
		bind.length = c.length;
		for (bellhop_window_type type : kTypes)
			EXPECT_EQ(check(window_of(type), bind),
				  c.fits ? BELLHOP_REASON_NONE : BELLHOP_REASON_MW_RANGE)
				<< std::hex << c.addr << " + " << c.length;
	}
}

TEST(window, bind__opens_what_was_asked_for)
{
	for (bellhop_window_type type : kTypes) {
		bellhop_window window = bound(type);

		EXPECT_EQ(access(window, kBind.addr, kBind.length), BELLHOP_REASON_NONE);
		EXPECT_EQ(access(window, kBind.addr, kBind.length + 1), BELLHOP_REASON_RKEY_RANGE);
		EXPECT_EQ(access(window, kBind.addr - 1, 1), BELLHOP_REASON_RKEY_RANGE);
		EXPECT_EQ(access(window, kBind.addr, 1, BELLHOP_ACCESS_REMOTE_READ),
			  BELLHOP_REASON_RKEY_ACCESS);
		EXPECT_EQ(access(window, kBind.addr, 1, BELLHOP_ACCESS_REMOTE_WRITE, kRkey),
			  BELLHOP_REASON_RKEY_UNKNOWN);
		EXPECT_EQ(access(window, kBind.addr, 1, BELLHOP_ACCESS_REMOTE_WRITE, kRkey + 1,
				 kPdn + 1),
			  BELLHOP_REASON_RKEY_PD);
		EXPECT_EQ(access(window, kBind.addr, 1, BELLHOP_ACCESS_REMOTE_WRITE, kRkey + 1,
				 kPdn, kQp + 1),
			  type == BELLHOP_WINDOW_TYPE_1 ? BELLHOP_REASON_NONE
							: BELLHOP_REASON_RKEY_QP);
		/* A key that is not the window's says nothing of the window. */
		EXPECT_EQ(access(window, kBind.addr, 1, BELLHOP_ACCESS_REMOTE_WRITE, kRkey, kPdn,
				 kQp + 1),
			  BELLHOP_REASON_RKEY_UNKNOWN);
	}
}

/* Its lkey is none, so that it is nobody's to send from. */
TEST(window, bind__gives_no_lkey)
{
	for (bellhop_window_type type : kTypes) {
		bellhop_window window = bound(type);

		EXPECT_EQ(window.region.lkey, 0u);
		for (u32 lkey : { kRkey + 1, (kRkey + 1) & ~BELLHOP_KEY_REMOTE })
			EXPECT_EQ(bellhop_key_check_local(&window.region, lkey, kPdn, kBind.addr, 1,
							  0),
				  BELLHOP_REASON_LKEY_UNKNOWN);
	}
}

TEST(window, bind__to_nothing_unbinds)
{
	bellhop_window window = bound(BELLHOP_WINDOW_TYPE_1);
	const bellhop_bind nothing{};

	bellhop_window_bind(&window, &nothing, kRkey + 2, kQp);
	EXPECT_EQ(window.state, BELLHOP_WINDOW_FREE);
	EXPECT_EQ(window.region.rkey, kRkey + 2);
	for (u32 rkey : { kRkey, kRkey + 1, kRkey + 2 })
		EXPECT_EQ(access(window, 0, 0, 0, rkey), BELLHOP_REASON_RKEY_UNKNOWN);
}

TEST(window, origin__leads_from_the_window_s_addresses_to_the_region_s_bytes)
{
	bellhop_bind bind = kBind;

	EXPECT_EQ(bind.addr - bellhop_window_origin(&kRegion, &bind), 0x100u);
	bind.access |= BELLHOP_BIND_ZERO_BASED;
	EXPECT_EQ(0 - bellhop_window_origin(&kRegion, &bind), 0x100u);
	EXPECT_EQ(7 - bellhop_window_origin(&kRegion, &bind), 0x107u);

	bellhop_window window = bound(BELLHOP_WINDOW_TYPE_2, bind);
	EXPECT_EQ(access(window, 0, kBind.length), BELLHOP_REASON_NONE);
	EXPECT_EQ(access(window, 1, kBind.length), BELLHOP_REASON_RKEY_RANGE);
	EXPECT_EQ(access(window, kBind.addr, 1), BELLHOP_REASON_RKEY_RANGE);
	EXPECT_EQ(access(window, 0, 1, BELLHOP_BIND_ZERO_BASED), BELLHOP_REASON_RKEY_ACCESS);
}

TEST(window, check_invalidate__only_type_2_by_its_own_qp_while_it_is_bound)
{
	bellhop_window window = bound(BELLHOP_WINDOW_TYPE_2);
	bellhop_window other = bound(BELLHOP_WINDOW_TYPE_1);
	bellhop_window unbound = window_of(BELLHOP_WINDOW_TYPE_2);
	const auto check = [](const bellhop_window *window, u32 rkey = kRkey + 1, u32 pdn = kPdn,
			      u64 qp = kQp) {
		return bellhop_window_check_invalidate(window, rkey, pdn, qp);
	};

	EXPECT_EQ(check(&window), BELLHOP_REASON_NONE);
	EXPECT_EQ(check(nullptr), BELLHOP_REASON_MW_UNKNOWN);
	EXPECT_EQ(check(&window, kRkey), BELLHOP_REASON_MW_UNKNOWN);
	EXPECT_EQ(check(&window, (kRkey + 1) & ~BELLHOP_KEY_REMOTE), BELLHOP_REASON_MW_UNKNOWN);
	EXPECT_EQ(check(&window, kRkey + 1, kPdn + 1), BELLHOP_REASON_MW_PD);
	EXPECT_EQ(check(&window, kRkey + 1, kPdn, kQp + 1), BELLHOP_REASON_MW_QP);
	EXPECT_EQ(check(&other), BELLHOP_REASON_MW_TYPE);
	EXPECT_EQ(check(&unbound, kRkey), BELLHOP_REASON_MW_UNBOUND);
}

TEST(window, unbind__closes_it)
{
	bellhop_window window = bound(BELLHOP_WINDOW_TYPE_2);

	bellhop_window_unbind(&window, BELLHOP_WINDOW_FREE);
	EXPECT_EQ(access(window, kBind.addr, 1), BELLHOP_REASON_RKEY_UNKNOWN);
	EXPECT_EQ(bellhop_window_check_invalidate(&window, kRkey + 1, kPdn, kQp),
		  BELLHOP_REASON_MW_UNBOUND);
	EXPECT_EQ(check(window), BELLHOP_REASON_NONE);
	bellhop_window_unbind(&window, BELLHOP_WINDOW_GONE);
	EXPECT_EQ(bellhop_window_check_invalidate(&window, kRkey + 1, kPdn, kQp),
		  BELLHOP_REASON_MW_UNKNOWN);
}

TEST(window, status__is_one_for_all_that_fails)
{
	EXPECT_EQ(int(bellhop_window_status(BELLHOP_REASON_NONE)), int(IBV_WC_SUCCESS));
	for (int reason = BELLHOP_REASON_MW_UNKNOWN; reason <= BELLHOP_REASON_MW_RANGE; reason++)
		EXPECT_EQ(int(bellhop_window_status(static_cast<bellhop_reason>(reason))),
			  int(IBV_WC_MW_BIND_ERR));
}
