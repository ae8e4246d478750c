// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* rule.c: compares frames with rules. */
#include "rule.h"

bool bellhop_rule_matches(const struct bellhop_rule *rule, const struct bellhop_frame *frame)
{
	u64 difference = 0;
	u32 i;

	for (i = 0; i < BELLHOP_FRAME_WORDS; i++)
		difference |= (frame->words[i] & rule->mask.words[i]) ^ rule->value.words[i];
	return !difference;
}

static void add(struct bellhop_verdict *verdict, u32 qpn)
{
	u32 i;

	for (i = 0; i < verdict->num; i++)
		if (verdict->qpns[i] == qpn)
			return;
	if (verdict->num < BELLHOP_RULE_COPIES)
		verdict->qpns[verdict->num++] = qpn;
}

bool bellhop_rule_judge(struct bellhop_verdict *verdict, const struct bellhop_rule *rule, u32 qpn,
			const struct bellhop_frame *frame)
{
	bool sniffs = rule->kind == BELLHOP_RULE_SNIFFER;
	u32 rank = bellhop_rule_rank(rule);

	if (!sniffs && (!verdict->steered || (verdict->taken && rank > verdict->rank)))
		return false;
	if ((sniffs && !verdict->sniffed) || !bellhop_rule_matches(rule, frame))
		return true;
	if (!rule->drops)
		add(verdict, qpn);
	if (!sniffs && !rule->copies) {
		verdict->taken = true;
		verdict->rank = rank;
	}
	return true;
}
