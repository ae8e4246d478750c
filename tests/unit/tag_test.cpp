// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tag_test.cpp: tag.c: which buffer a message takes.
#include <array>
#include <set>

#include <gtest/gtest.h>

extern "C" {
#include "tag.h"
}

namespace
{

class tag : public testing::Test
{
protected:
	static constexpr u64 all = ~u64(0);

	tag()
	{
		bellhop_tags_init(&tags, entries.data(), u32(entries.size()));
	}

	int add(u64 value, u64 mask = all)
	{
		return bellhop_tags_add(&tags, value, mask, ++handle);
	}

	int match(u64 value)
	{
		return bellhop_tags_match(&tags, value);
	}

	int find(u32 wanted) const
	{
		return bellhop_tags_find(&tags, wanted);
	}

	std::array<bellhop_tag, 4> entries;
	bellhop_tags tags;
	u32 handle = 100; /* of the last one */
};

} // namespace

TEST_F(tag, match__takes_the_oldest)
{
	const int first = add(7), second = add(7);

	EXPECT_NE(first, second);
	EXPECT_EQ(match(7), first);
	EXPECT_EQ(match(7), second);
	EXPECT_EQ(match(7), -ENOENT);
	EXPECT_EQ(tags.unmatched, 1u);
}

TEST_F(tag, match__looks_at_the_bits_of_the_mask)
{
	const int any_low = add(0xab00, 0xff00), exact = add(0xabcd), any = add(0, 0);

	EXPECT_EQ(match(0xab12), any_low);
	EXPECT_EQ(match(0xabcd), exact);
	EXPECT_EQ(match(0x1234), any);
}

TEST_F(tag, add__has_room_for_so_many)
{
	std::set<int> places;

	for (u64 i = 0; i < entries.size(); i++)
		places.insert(add(i));
	EXPECT_EQ(places.size(), entries.size());
	EXPECT_EQ(add(9), -ENOMEM);
	const int place = match(2);
	EXPECT_EQ(add(9), -ENOMEM) << "one that is taken is not free";
	bellhop_tags_remove(&tags, u32(place));
	EXPECT_EQ(add(9), place);
	EXPECT_EQ(match(9), place);
	EXPECT_EQ(match(3), 3);
}

TEST_F(tag, add__waits_until_both_agree)
{
	EXPECT_EQ(match(1), -ENOENT);
	const int late = add(1);
	EXPECT_EQ(tags.waiting, 1u);
	EXPECT_EQ(match(1), -ENOENT) << "it may be meant for the one before";
	bellhop_tags_sync(&tags, 1);
	EXPECT_EQ(tags.waiting, 1u) << "there was one more";
	bellhop_tags_sync(&tags, 2);
	EXPECT_EQ(tags.waiting, 0u);
	EXPECT_EQ(match(1), late);
}

TEST_F(tag, add__those_before_do_not_wait)
{
	const int before = add(1);

	EXPECT_EQ(match(2), -ENOENT);
	const int behind = add(1);
	EXPECT_EQ(match(1), before);
	EXPECT_EQ(match(1), -ENOENT);
	bellhop_tags_sync(&tags, 2);
	EXPECT_EQ(match(1), behind);
}

TEST_F(tag, unmatch__is_as_if_it_had_not_come)
{
	EXPECT_EQ(match(1), -ENOENT);
	const int place = add(1);
	bellhop_tags_unmatch(&tags);
	EXPECT_EQ(tags.waiting, 0u);
	EXPECT_EQ(match(1), place);
}

TEST_F(tag, give_back__keeps_the_order)
{
	const int first = add(1), second = add(1);

	EXPECT_EQ(match(1), first);
	EXPECT_EQ(find(101), -ENOENT) << "a message has it";
	bellhop_tags_give_back(&tags, u32(first));
	EXPECT_EQ(find(101), first);
	EXPECT_EQ(match(1), first);
	EXPECT_EQ(match(1), second);
}

TEST_F(tag, find__what_is_there)
{
	const int first = add(1), second = add(2);

	EXPECT_EQ(find(102), second);
	bellhop_tags_remove(&tags, u32(first));
	EXPECT_EQ(find(101), -ENOENT);
	EXPECT_EQ(find(102), second);
	EXPECT_EQ(find(103), -ENOENT);
	handle = 101;
	const int third = add(3);
	EXPECT_EQ(find(102), second) << "the oldest";
	bellhop_tags_remove(&tags, u32(second));
	EXPECT_EQ(find(102), third);
}

TEST_F(tag, remove__from_anywhere)
{
	for (int gone = 0; gone < 3; gone++) {
		bellhop_tags_init(&tags, entries.data(), u32(entries.size()));
		const int places[] = { add(1), add(1), add(1) };

		bellhop_tags_remove(&tags, u32(places[gone]));
		for (int i = 0; i < 3; i++) {
			if (i != gone) {
				EXPECT_EQ(match(1), places[i]);
			}
		}
		EXPECT_EQ(match(1), -ENOENT);
	}
}

TEST_F(tag, remove__of_one_that_waits)
{
	EXPECT_EQ(match(1), -ENOENT);
	const int gone = add(1), place = add(2);
	bellhop_tags_remove(&tags, u32(gone));
	bellhop_tags_sync(&tags, 1);
	EXPECT_EQ(tags.waiting, 0u);
	EXPECT_EQ(match(2), place);
	EXPECT_EQ(match(1), -ENOENT);
}
