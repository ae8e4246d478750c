// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rule_test.cpp: rule.c: who gets a frame.
#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "rule.h"
}

namespace
{

struct Entry {
	bellhop_rule rule;
	u32 qpn;
};

bellhop_rule rule(bellhop_rule_kind kind, u16 priority = 0)
{
	bellhop_rule rule{};

	rule.kind = kind;
	rule.priority = priority;
	return rule;
}

/* Wants a destination port. */
bellhop_rule for_port(u16 port, u16 priority = 0)
{
	bellhop_rule wanted = rule(BELLHOP_RULE_NORMAL, priority);

	wanted.mask.destination_port = 0xffff;
	wanted.value.destination_port = port;
	return wanted;
}

bellhop_frame to_port(u16 port)
{
	bellhop_frame frame{};

	frame.destination_port = port;
	return frame;
}

bellhop_verdict judge(std::vector<Entry> entries, const bellhop_frame &frame, bool sniffed = true,
		      bool steered = true)
{
	bellhop_verdict verdict{};

	verdict.sniffed = sniffed;
	verdict.steered = steered;
	std::ranges::stable_sort(entries, {},
				 [](const Entry &e) { return bellhop_rule_rank(&e.rule); });
	for (const Entry &entry : entries)
		if (!bellhop_rule_judge(&verdict, &entry.rule, entry.qpn, &frame))
			break;
	return verdict;
}

std::vector<u32> takers(const bellhop_verdict &verdict)
{
	return { verdict.qpns, verdict.qpns + verdict.num };
}

using Qpns = std::vector<u32>;

} // namespace

TEST(rule, rank__kinds_come_before_priorities)
{
	const bellhop_rule sniffer = rule(BELLHOP_RULE_SNIFFER),
			   first = rule(BELLHOP_RULE_NORMAL, 0),
			   last = rule(BELLHOP_RULE_NORMAL, 0xffff),
			   multicast = rule(BELLHOP_RULE_MULTICAST), rest = rule(BELLHOP_RULE_REST);

	EXPECT_LT(bellhop_rule_rank(&sniffer), bellhop_rule_rank(&first));
	EXPECT_LT(bellhop_rule_rank(&first), bellhop_rule_rank(&last));
	EXPECT_LT(bellhop_rule_rank(&last), bellhop_rule_rank(&multicast));
	EXPECT_LT(bellhop_rule_rank(&multicast), bellhop_rule_rank(&rest));
}

TEST(rule, matches__each_bit_of_the_mask_and_no_other)
{
	for (size_t bit = 0; bit < 8 * sizeof(bellhop_frame); bit++) {
		bellhop_rule wanted = rule(BELLHOP_RULE_NORMAL);
		bellhop_frame frame;

		std::memset(&frame, 0, sizeof(frame));
		EXPECT_TRUE(bellhop_rule_matches(&wanted, &frame));
		frame.words[bit / 64] ^= 1ull << bit % 64;
		EXPECT_TRUE(bellhop_rule_matches(&wanted, &frame)) << "bit " << bit;
		wanted.mask.words[bit / 64] = 1ull << bit % 64;
		EXPECT_FALSE(bellhop_rule_matches(&wanted, &frame)) << "bit " << bit;
		wanted.value.words[bit / 64] = 1ull << bit % 64;
		EXPECT_TRUE(bellhop_rule_matches(&wanted, &frame)) << "bit " << bit;
	}
}

TEST(rule, judge__the_first_priority_takes_it)
{
	const std::vector<Entry> entries = { { for_port(1, 5), 15 },
					     { for_port(1, 4), 14 },
					     { for_port(2, 1), 21 },
					     { rule(BELLHOP_RULE_REST), 99 } };
	const bellhop_verdict taken = judge(entries, to_port(1));

	EXPECT_EQ(takers(taken), Qpns{ 14 });
	EXPECT_TRUE(taken.taken);
	EXPECT_EQ(takers(judge(entries, to_port(2))), Qpns{ 21 });
	EXPECT_EQ(takers(judge(entries, to_port(3))), Qpns{ 99 });
	EXPECT_FALSE(judge({ { for_port(1), 1 } }, to_port(3)).taken);
}

TEST(rule, judge__all_of_one_priority_get_it_once)
{
	const std::vector<Entry> entries = { { for_port(1, 4), 10 },
					     { rule(BELLHOP_RULE_NORMAL, 4), 11 },
					     { for_port(1, 4), 10 },
					     { for_port(2, 4), 12 },
					     { for_port(1, 5), 13 } };

	EXPECT_EQ(takers(judge(entries, to_port(1))), (Qpns{ 10, 11 }));
}

TEST(rule, judge__copies_end_nothing)
{
	bellhop_rule copies = for_port(1, 1), late = for_port(1, 9);

	copies.copies = true;
	late.copies = true;
	const bellhop_verdict alone = judge({ { copies, 10 } }, to_port(1));
	EXPECT_EQ(takers(alone), Qpns{ 10 });
	EXPECT_FALSE(alone.taken);
	const bellhop_verdict both =
		judge({ { copies, 10 }, { for_port(1, 2), 11 }, { late, 12 } }, to_port(1));
	EXPECT_EQ(takers(both), (Qpns{ 10, 11 }));
	EXPECT_TRUE(both.taken);
}

TEST(rule, judge__what_is_dropped_is_taken_by_nobody)
{
	bellhop_rule drops = for_port(1, 1);

	drops.drops = true;
	const bellhop_verdict verdict =
		judge({ { drops, 10 }, { rule(BELLHOP_RULE_REST), 11 } }, to_port(1));
	EXPECT_TRUE(verdict.taken);
	EXPECT_EQ(verdict.num, 0u);
}

TEST(rule, judge__sniffers_see_what_others_take)
{
	const std::vector<Entry> entries = { { rule(BELLHOP_RULE_SNIFFER), 50 },
					     { for_port(1), 51 } };

	EXPECT_EQ(takers(judge(entries, to_port(1))), (Qpns{ 50, 51 }));
	EXPECT_FALSE(judge(entries, to_port(2)).taken);
	EXPECT_EQ(takers(judge(entries, to_port(2))), Qpns{ 50 });
	EXPECT_EQ(takers(judge(entries, to_port(1), false)), Qpns{ 51 });
	EXPECT_EQ(takers(judge(entries, to_port(1), true, false)), Qpns{ 50 });
	EXPECT_FALSE(judge(entries, to_port(1), true, false).taken);
}

TEST(rule, judge__a_frame_has_a_limit_of_copies)
{
	std::vector<Entry> entries;

	for (u32 qpn = 1; qpn <= BELLHOP_RULE_COPIES + 5; qpn++)
		entries.push_back({ for_port(1), qpn });
	const bellhop_verdict verdict = judge(entries, to_port(1));
	EXPECT_EQ(verdict.num, BELLHOP_RULE_COPIES);
	EXPECT_EQ(verdict.qpns[BELLHOP_RULE_COPIES - 1], BELLHOP_RULE_COPIES);
	EXPECT_TRUE(verdict.taken);
}
