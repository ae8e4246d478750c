/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * rule.h: which raw packet QPs get a frame: what verbs call flows.
 *
 * Rules are asked in the order of their ranks. Of the first rank at which some match, all that do
 * get the frame, and nobody behind them does. Those that only copy end nothing, and sniffers see
 * everything.
 */
#ifndef BELLHOP_PROTO_RULE_H
#define BELLHOP_PROTO_RULE_H

#include "frame.h"

/* How many rules a device has at most: each frame may be compared with all of them. */
#define BELLHOP_MAX_RULES 1024u

/* How many QPs get one frame. */
#define BELLHOP_RULE_COPIES 16u

/* What ibv_create_flow() calls a flow's type; in the order of their ranks. */
enum bellhop_rule_kind {
	BELLHOP_RULE_SNIFFER,
	BELLHOP_RULE_NORMAL,
	BELLHOP_RULE_MULTICAST, /* multicast that no other rule takes */
	BELLHOP_RULE_REST, /* all that no other rule takes */
};

/**
 * struct bellhop_rule - a rule
 * @kind: what it is for
 * @priority: of a normal one; the less, the earlier
 * @copies: the search goes on behind it (don't trap)
 * @drops: the QP does not get what matches
 * @mask: the bits that matter
 * @value: what they are; no others are set
 */
struct bellhop_rule {
	enum bellhop_rule_kind kind;
	u16 priority;
	bool copies;
	bool drops;
	struct bellhop_frame mask;
	struct bellhop_frame value;
};

/**
 * struct bellhop_verdict - who gets a frame
 * @sniffed: sniffers do; whoever asks says so
 * @steered: others do; likewise
 * @taken: some rule keeps the frame for itself
 * @rank: of that one
 * @num: QPs that get it
 * @qpns: their numbers, each once
 */
struct bellhop_verdict {
	bool sniffed;
	bool steered;
	bool taken;
	u32 rank;
	u32 num;
	u32 qpns[BELLHOP_RULE_COPIES];
};

/**
 * bellhop_rule_rank() - a rule's place among others
 * @rule: the rule
 *
 * Return: the less, the earlier.
 */
static inline u32 bellhop_rule_rank(const struct bellhop_rule *rule)
{
	return (u32)rule->kind << 16 | rule->priority;
}

/**
 * bellhop_rule_matches() - whether a rule is about a frame
 * @rule: the rule
 * @frame: the frame
 */
bool bellhop_rule_matches(const struct bellhop_rule *rule, const struct bellhop_frame *frame);

/**
 * bellhop_rule_judge() - asks a rule
 * @verdict: what the rules of lower rank have said; this one's word is added
 * @rule: the next one
 * @qpn: its QP
 * @frame: the frame
 *
 * Return: true when the next rule is to be asked, too.
 */
bool bellhop_rule_judge(struct bellhop_verdict *verdict, const struct bellhop_rule *rule, u32 qpn,
			const struct bellhop_frame *frame);

#endif /* BELLHOP_PROTO_RULE_H */
