// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// key_test.cpp: key.c: keys, access and ranges, up to the last byte of the address space.
#include <gtest/gtest.h>

extern "C" {
#include "key.h"
}

namespace
{

constexpr u64 kTop = ~0ULL;
constexpr u32 kPdn = 7;
constexpr u32 kAll = BELLHOP_ACCESS_LOCAL_WRITE | BELLHOP_ACCESS_REMOTE_WRITE |
		     BELLHOP_ACCESS_REMOTE_READ | BELLHOP_ACCESS_REMOTE_ATOMIC;

bellhop_region region_of(u64 start, u64 length, u32 access = kAll)
{
	u32 lkey = bellhop_key_make(0x1234, 0x56);

	return { start, length, lkey, lkey | BELLHOP_KEY_REMOTE, kPdn, access };
}

u32 rkey_of(const bellhop_region &region)
{
	return region.rkey;
}

// Both kinds of key must judge a range alike.
void expect_range(const bellhop_region &region, u64 addr, u64 length, bool fits)
{
	EXPECT_EQ(bellhop_key_check_local(&region, region.lkey, kPdn, addr, length, 0),
		  fits ? BELLHOP_REASON_NONE : BELLHOP_REASON_LKEY_RANGE)
		<< std::hex << addr << " + " << length << " in " << region.start << " + "
		<< region.length;
	EXPECT_EQ(bellhop_key_check_remote(&region, rkey_of(region), kPdn, addr, length,
					   BELLHOP_ACCESS_REMOTE_READ),
		  fits ? BELLHOP_REASON_NONE : BELLHOP_REASON_RKEY_RANGE)
		<< std::hex << addr << " + " << length << " in " << region.start << " + "
		<< region.length;
}

} // namespace

TEST(key, make__puts_index_and_variant_where_the_drawing_has_them)
{
	EXPECT_EQ(bellhop_key_make(0, 0), 0u);
	EXPECT_EQ(bellhop_key_make(1, 0), 0x100u);
	EXPECT_EQ(bellhop_key_make(0x123456, 0xab), 0x123456abu);
	EXPECT_EQ(bellhop_key_make(BELLHOP_KEY_INDEX_MAX, 0xff), 0x7fffffffu);
}

TEST(key, make__never_sets_the_remote_bit)
{
	for (u32 index : { 0u, BELLHOP_KEY_INDEX_MAX, BELLHOP_KEY_INDEX_MAX + 1, ~0u })
		EXPECT_EQ(bellhop_key_make(index, 0xff) & BELLHOP_KEY_REMOTE, 0u) << index;
}

TEST(key, index__comes_back_from_both_keys_and_every_variant)
{
	for (u32 index : { 0u, 1u, 0x1234u, 0x3fffffu, BELLHOP_KEY_INDEX_MAX }) {
		for (unsigned variant : { 0u, 1u, 0x80u, 0xffu }) {
			u32 lkey = bellhop_key_make(index, u8(variant));

			EXPECT_EQ(bellhop_key_index(lkey), index);
			EXPECT_EQ(bellhop_key_index(lkey | BELLHOP_KEY_REMOTE), index);
		}
	}
}

TEST(key, next__is_another_key_of_the_same_index)
{
	for (u32 key : { 0x123456abu, 0x123456ffu, 0x923456abu, 0x923456ffu }) {
		EXPECT_NE(bellhop_key_next(key), key);
		EXPECT_EQ(bellhop_key_next(key) & ~0xffu, key & ~0xffu) << std::hex << key;
	}
	EXPECT_EQ(bellhop_key_next(0x1234567fu), 0x12345680u);
	EXPECT_EQ(bellhop_key_next(0xffffffffu), 0xffffff00u);
}

TEST(key, index__of_any_key_is_in_the_table_s_range)
{
	for (u32 key : { 0u, 0x7fffffffu, 0x80000000u, 0xffffffffu })
		EXPECT_LE(bellhop_key_index(key), u32(BELLHOP_KEY_INDEX_MAX));
}

TEST(key, check_region__empty_and_wrapping_ranges_cannot_exist)
{
	struct {
		u64 start, length;
		int result;
	} const cases[] = {
		{ 0, 0, -EINVAL },
		{ 0x1000, 0, -EINVAL },
		{ kTop, 0, -EINVAL },
		{ 0, 1, 0 },
		{ 0, kTop, 0 },
		{ 1, kTop, 0 }, /* ends with the last byte there is */
		{ 2, kTop, -EINVAL },
		{ kTop, 1, 0 },
		{ kTop, 2, -EINVAL },
		{ kTop - 0xfff, 0x1000, 0 },
		{ kTop - 0xfff, 0x1001, -EINVAL },
		{ 1ULL << 63, 1ULL << 63, 0 },
		{ 1ULL << 63, (1ULL << 63) + 1, -EINVAL },
	};

	for (const auto &c : cases)
		EXPECT_EQ(bellhop_key_check_region(c.start, c.length), c.result)
			<< std::hex << c.start << " + " << c.length;
}

TEST(key, check_local__opens_what_it_should)
{
	bellhop_region region = region_of(0x1000, 0x2000);

	EXPECT_EQ(bellhop_key_check_local(&region, region.lkey, kPdn, 0x1000, 0x2000, 0),
		  BELLHOP_REASON_NONE);
	EXPECT_EQ(bellhop_key_check_local(&region, region.lkey, kPdn, 0x1000, 0x2000,
					  BELLHOP_ACCESS_LOCAL_WRITE),
		  BELLHOP_REASON_NONE);
}

TEST(key, check_local__each_fault_has_its_reason)
{
	bellhop_region region = region_of(0x1000, 0x2000, BELLHOP_ACCESS_REMOTE_READ);
	struct {
		const bellhop_region *region;
		u32 lkey, pdn;
		u64 addr, length;
		u32 access;
		bellhop_reason reason;
	} const cases[] = {
		{ nullptr, region.lkey, kPdn, 0x1000, 1, 0, BELLHOP_REASON_LKEY_UNKNOWN },
		/* another variant of the same index: a key that has been invalidated */
		{ &region, region.lkey ^ 1, kPdn, 0x1000, 1, 0, BELLHOP_REASON_LKEY_UNKNOWN },
		{ &region, region.lkey ^ 0x100, kPdn, 0x1000, 1, 0, BELLHOP_REASON_LKEY_UNKNOWN },
		/* the rkey in the lkey's place */
		{ &region, rkey_of(region), kPdn, 0x1000, 1, 0, BELLHOP_REASON_LKEY_UNKNOWN },
		{ &region, region.lkey, kPdn + 1, 0x1000, 1, 0, BELLHOP_REASON_LKEY_PD },
		{ &region, region.lkey, kPdn, 0x1000, 1, BELLHOP_ACCESS_LOCAL_WRITE,
		  BELLHOP_REASON_LKEY_ACCESS },
		{ &region, region.lkey, kPdn, 0xfff, 1, 0, BELLHOP_REASON_LKEY_RANGE },
		{ &region, region.lkey, kPdn, 0x3000, 1, 0, BELLHOP_REASON_LKEY_RANGE },
		{ &region, region.lkey, kPdn, 0x1000, 1, 0, BELLHOP_REASON_NONE },
	};

	for (const auto &c : cases)
		EXPECT_EQ(bellhop_key_check_local(c.region, c.lkey, c.pdn, c.addr, c.length,
						  c.access),
			  c.reason)
			<< "case " << &c - cases;
}

TEST(key, check_local__key_then_pd_then_access_then_range)
{
	bellhop_region region = region_of(0x1000, 0x2000, 0);
	u32 write = BELLHOP_ACCESS_LOCAL_WRITE;

	EXPECT_EQ(bellhop_key_check_local(&region, region.lkey + 1, kPdn + 1, 0, 1, write),
		  BELLHOP_REASON_LKEY_UNKNOWN);
	EXPECT_EQ(bellhop_key_check_local(&region, region.lkey, kPdn + 1, 0, 1, write),
		  BELLHOP_REASON_LKEY_PD);
	EXPECT_EQ(bellhop_key_check_local(&region, region.lkey, kPdn, 0, 1, write),
		  BELLHOP_REASON_LKEY_ACCESS);
	EXPECT_EQ(bellhop_key_check_local(&region, region.lkey, kPdn, 0, 1, 0),
		  BELLHOP_REASON_LKEY_RANGE);
}

TEST(key, check_remote__opens_what_it_should)
{
	bellhop_region region = region_of(0x1000, 0x2000);

	for (u32 access : { BELLHOP_ACCESS_REMOTE_WRITE, BELLHOP_ACCESS_REMOTE_READ,
			    BELLHOP_ACCESS_REMOTE_ATOMIC })
		EXPECT_EQ(bellhop_key_check_remote(&region, rkey_of(region), kPdn, 0x1000, 0x2000,
						   access),
			  BELLHOP_REASON_NONE);
}

TEST(key, check_remote__each_fault_has_its_reason)
{
	bellhop_region region = region_of(0x1000, 0x2000, BELLHOP_ACCESS_REMOTE_READ);
	u32 rkey = rkey_of(region);
	u32 read = BELLHOP_ACCESS_REMOTE_READ;
	struct {
		const bellhop_region *region;
		u32 rkey, pdn;
		u64 addr, length;
		u32 access;
		bellhop_reason reason;
	} const cases[] = {
		{ nullptr, rkey, kPdn, 0x1000, 1, read, BELLHOP_REASON_RKEY_UNKNOWN },
		{ &region, rkey ^ 1, kPdn, 0x1000, 1, read, BELLHOP_REASON_RKEY_UNKNOWN },
		/* the lkey in the rkey's place */
		{ &region, region.lkey, kPdn, 0x1000, 1, read, BELLHOP_REASON_RKEY_UNKNOWN },
		{ &region, rkey, kPdn + 1, 0x1000, 1, read, BELLHOP_REASON_RKEY_PD },
		{ &region, rkey, kPdn, 0x1000, 1, BELLHOP_ACCESS_REMOTE_WRITE,
		  BELLHOP_REASON_RKEY_ACCESS },
		{ &region, rkey, kPdn, 0x1000, 1, BELLHOP_ACCESS_REMOTE_ATOMIC,
		  BELLHOP_REASON_RKEY_ACCESS },
		{ &region, rkey, kPdn, 0xfff, 1, read, BELLHOP_REASON_RKEY_RANGE },
		{ &region, rkey, kPdn, 0x2fff, 2, read, BELLHOP_REASON_RKEY_RANGE },
		{ &region, rkey, kPdn, 0x1000, 1, read, BELLHOP_REASON_NONE },
	};

	for (const auto &c : cases)
		EXPECT_EQ(bellhop_key_check_remote(c.region, c.rkey, c.pdn, c.addr, c.length,
						   c.access),
			  c.reason)
			<< "case " << &c - cases;
}

TEST(key, check_remote__key_then_pd_then_access_then_range)
{
	bellhop_region region = region_of(0x1000, 0x2000, BELLHOP_ACCESS_REMOTE_READ);
	u32 rkey = rkey_of(region);
	u32 write = BELLHOP_ACCESS_REMOTE_WRITE;

	EXPECT_EQ(bellhop_key_check_remote(&region, rkey + 1, kPdn + 1, 0, 1, write),
		  BELLHOP_REASON_RKEY_UNKNOWN);
	EXPECT_EQ(bellhop_key_check_remote(&region, rkey, kPdn + 1, 0, 1, write),
		  BELLHOP_REASON_RKEY_PD);
	EXPECT_EQ(bellhop_key_check_remote(&region, rkey, kPdn, 0, 1, write),
		  BELLHOP_REASON_RKEY_ACCESS);
	EXPECT_EQ(bellhop_key_check_remote(&region, rkey, kPdn, 0, 1, BELLHOP_ACCESS_REMOTE_READ),
		  BELLHOP_REASON_RKEY_RANGE);
}

TEST(key, check_both__every_access_bit_counts)
{
	for (u32 has = 0; has <= kAll; has++) {
		bellhop_region region = region_of(0x1000, 0x1000, has);

		for (u32 asks = 0; asks <= kAll; asks++) {
			bool allowed = (has & asks) == asks;

			EXPECT_EQ(bellhop_key_check_local(&region, region.lkey, kPdn, 0x1000, 1,
							  asks),
				  allowed ? BELLHOP_REASON_NONE : BELLHOP_REASON_LKEY_ACCESS);
			EXPECT_EQ(bellhop_key_check_remote(&region, rkey_of(region), kPdn, 0x1000,
							   1, asks),
				  allowed ? BELLHOP_REASON_NONE : BELLHOP_REASON_RKEY_ACCESS);
		}
	}
}

TEST(key, check_both__exact_end_fits_and_one_past_does_not)
{
	bellhop_region region = region_of(0x1000, 0x2000);

	expect_range(region, 0x1000, 0x2000, true);
	expect_range(region, 0x1000, 0x2001, false);
	expect_range(region, 0x1001, 0x1fff, true);
	expect_range(region, 0x1001, 0x2000, false);
	expect_range(region, 0x2fff, 1, true);
	expect_range(region, 0x2fff, 2, false);
	expect_range(region, 0x0fff, 0x2001, false);
	expect_range(region, 0, kTop, false);
}

TEST(key, check_both__zero_bytes_still_have_an_address)
{
	bellhop_region region = region_of(0x1000, 0x2000);

	expect_range(region, 0x1000, 0, true);
	expect_range(region, 0x3000, 0, true);
	expect_range(region, 0x0fff, 0, false);
	expect_range(region, 0x3001, 0, false);
}

TEST(key, check_both__nothing_wraps)
{
	bellhop_region low = region_of(0x1000, 0x2000);
	bellhop_region high = region_of(kTop - 0xfff, 0x1000);
	bellhop_region whole = region_of(1, kTop);

	/* addr + length comes out inside of the region when it wraps */
	expect_range(low, 0x1800, kTop, false);
	expect_range(low, 0x1800, kTop - 0x7ff, false);
	expect_range(low, kTop, 0x1802, false);
	expect_range(low, kTop - 0xff, 0x1200, false);

	expect_range(high, kTop - 0xfff, 0x1000, true);
	expect_range(high, kTop - 0xfff, 0x1001, false);
	expect_range(high, kTop, 1, true);
	expect_range(high, kTop, 2, false);
	expect_range(high, kTop, kTop, false);
	expect_range(high, 0, 1, false);
	/* the end of the address space is not its beginning */
	expect_range(high, 0, 0, false);
	expect_range(high, kTop - 0x1000, 1, false);

	expect_range(whole, 1, kTop, true);
	expect_range(whole, 2, kTop, false);
	expect_range(whole, 0, 1, false);
	expect_range(whole, kTop, 1, true);
}
