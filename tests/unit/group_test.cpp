// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// group_test.cpp: group.c: which GIDs are groups, who is in them, and how many.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "gid.hpp"

extern "C" {
#include "group.h"
}

namespace
{

/* A group with a list of its own, exactly as long as it must be. */
class Group
{
public:
	explicit Group(std::vector<bellhop_member> members) : members_(std::move(members))
	{
		group_ = { {}, u32(members_.size()), members_.data() };
	}

	/* @from with one member more; none is a group's beginning. */
	Group(const Gid &gid, const Group *from, u32 qpn)
	    : members_(from ? bellhop_group_count(from->get()) + 1 : 1)
	{
		group_.members = members_.data();
		bellhop_group_extend(&group_, gid.raw, from ? from->get() : nullptr, qpn);
	}

	const bellhop_group *get() const
	{
		return &group_;
	}

	std::vector<u32> members() const
	{
		std::vector<u32> found;

		for (u32 qpn = bellhop_group_next(&group_, 0); qpn;
		     qpn = bellhop_group_next(&group_, qpn))
			found.push_back(qpn);
		return found;
	}

private:
	std::vector<bellhop_member> members_;
	bellhop_group group_ = {};
};

using Numbers = std::vector<u32>;

const Group sparse({ { 2, 1 }, { 5, 0 }, { 9, 3 }, { 0xfffffe, 1 } });

} // namespace

TEST(Group, is_multicast__of_both_families)
{
	for (const char *address :
	     { "ff00::", "ff02::1", "ff0e::8:8", "ffff:ffff::", "::ffff:224.0.0.0",
	       "::ffff:230.1.1.1", "::ffff:239.255.255.255" })
		EXPECT_TRUE(bellhop_group_is_multicast(gid_of(address).raw)) << address;
	for (const char *address :
	     { "::", "fe80::1", "fd00::ff", "::224.0.0.1", "::ffff:223.255.255.255",
	       "::ffff:240.0.0.0", "::ffff:255.255.255.255", "::fffe:224.0.0.1",
	       "::1:ffff:224.0.0.1" })
		EXPECT_FALSE(bellhop_group_is_multicast(gid_of(address).raw)) << address;
}

TEST(Group, find__also_who_has_left)
{
	for (u32 qpn : { 2u, 5u, 9u, 0xfffffeu }) {
		const bellhop_member *member = bellhop_group_find(sparse.get(), qpn);

		ASSERT_TRUE(member) << qpn;
		EXPECT_EQ(member->qpn, qpn);
	}
	for (u32 qpn : { 0u, 1u, 3u, 8u, 10u, 0xfffffdu, 0xffffffu, ~0u })
		EXPECT_FALSE(bellhop_group_find(sparse.get(), qpn)) << qpn;
}

TEST(Group, has__members_only)
{
	for (u32 qpn : { 2u, 9u, 0xfffffeu })
		EXPECT_TRUE(bellhop_group_has(sparse.get(), qpn)) << qpn;
	for (u32 qpn : { 0u, 1u, 5u, 10u })
		EXPECT_FALSE(bellhop_group_has(sparse.get(), qpn)) << qpn;
}

TEST(Group, next__in_order_from_anywhere)
{
	EXPECT_EQ(sparse.members(), (Numbers{ 2, 9, 0xfffffe }));
	EXPECT_EQ(bellhop_group_next(sparse.get(), 1), 2u);
	EXPECT_EQ(bellhop_group_next(sparse.get(), 3), 9u);
	EXPECT_EQ(bellhop_group_next(sparse.get(), 5), 9u);
	EXPECT_EQ(bellhop_group_next(sparse.get(), 0xfffffe), 0u);
	EXPECT_EQ(bellhop_group_next(Group({}).get(), 0), 0u);
	EXPECT_EQ(bellhop_group_next(Group({ { 7, 0 } }).get(), 0), 0u);
}

TEST(Group, count__members_only)
{
	EXPECT_EQ(bellhop_group_count(sparse.get()), 3u);
	EXPECT_EQ(bellhop_group_count(Group({}).get()), 0u);
}

TEST(Group, admit__up_to_each_limit)
{
	bellhop_group_tally tally = { BELLHOP_MAX_GROUPS - 1, BELLHOP_MAX_ATTACHMENTS - 1 };

	EXPECT_EQ(bellhop_group_admit(&tally, nullptr, 7), 0);
	EXPECT_EQ(bellhop_group_admit(&tally, sparse.get(), 7), 0);
	tally.groups++;
	EXPECT_EQ(bellhop_group_admit(&tally, nullptr, 7), -ENOMEM);
	EXPECT_EQ(bellhop_group_admit(&tally, sparse.get(), 7), 0);
	tally = { 1, BELLHOP_MAX_ATTACHMENTS };
	EXPECT_EQ(bellhop_group_admit(&tally, nullptr, 7), -ENOMEM);
	EXPECT_EQ(bellhop_group_admit(&tally, sparse.get(), 7), -ENOMEM);
	EXPECT_EQ(bellhop_group_admit(&tally, sparse.get(), 2), -ENOMEM);
}

TEST(Group, admit__a_full_group_takes_its_members_again)
{
	const bellhop_group_tally tally = { 1, BELLHOP_MAX_MEMBERS };
	std::vector<bellhop_member> members;

	for (u32 i = 0; i < BELLHOP_MAX_MEMBERS; i++)
		members.push_back({ 2 * i + 2, 1 });
	EXPECT_EQ(bellhop_group_admit(&tally, Group(members).get(), 1), -ENOMEM);
	EXPECT_EQ(bellhop_group_admit(&tally, Group(members).get(), 2), 0);
	/* Who has left is a member as any other, and leaves room. */
	members[0].attachments = 0;
	EXPECT_EQ(bellhop_group_admit(&tally, Group(members).get(), 1), 0);
	EXPECT_EQ(bellhop_group_admit(&tally, Group(members).get(), 2), 0);
}

TEST(Group, extend__begins_a_group)
{
	const Gid gid = gid_of("ff0e::1");
	const Group group(gid, nullptr, 7);

	EXPECT_EQ(std::memcmp(group.get()->gid, gid.raw, 16), 0);
	EXPECT_EQ(group.members(), Numbers{ 7 });
	EXPECT_EQ(bellhop_group_find(group.get(), 7)->attachments, 1u);
}

TEST(Group, extend__leaves_out_who_has_left)
{
	for (const auto &[qpn, members] : std::map<u32, Numbers>{
		     { 1, { 1, 2, 9, 0xfffffe } },
		     { 4, { 2, 4, 9, 0xfffffe } },
		     { 7, { 2, 7, 9, 0xfffffe } },
		     { 0xffffff, { 2, 9, 0xfffffe, 0xffffff } },
	     }) {
		const Group group(gid_of("ff0e::1"), &sparse, qpn);

		EXPECT_EQ(group.members(), members);
		EXPECT_EQ(group.get()->num, 4u);
		EXPECT_EQ(bellhop_group_find(group.get(), 9)->attachments, 3u);
		EXPECT_EQ(bellhop_group_find(group.get(), qpn)->attachments, 1u);
	}
}

/* As mcast.c does it, against a map. */
TEST(Group, all__agree_with_a_map)
{
	const Gid gid = gid_of("::ffff:230.1.1.1");
	std::mt19937 random(1);
	std::map<u32, u32> expected;
	auto group = std::make_unique<Group>(std::vector<bellhop_member>{});

	for (int i = 0; i < 20000; i++) {
		const u32 qpn = 1 + random() % 40;
		bellhop_member *member = bellhop_group_find(group->get(), qpn);

		ASSERT_EQ(bellhop_group_has(group->get(), qpn), expected.contains(qpn));
		if (random() % 2) {
			if (member)
				member->attachments++;
			else
				group = std::make_unique<Group>(gid, group.get(), qpn);
			expected[qpn]++;
		} else if (expected.contains(qpn)) {
			member->attachments--;
			if (!--expected[qpn])
				expected.erase(qpn);
		}
		Numbers members;
		for (const auto &[number, attachments] : expected) {
			members.push_back(number);
			ASSERT_EQ(bellhop_group_find(group->get(), number)->attachments,
				  attachments);
		}
		ASSERT_EQ(group->members(), members);
		ASSERT_EQ(bellhop_group_count(group->get()), members.size());
	}
}
