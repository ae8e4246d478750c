// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* group.c: addresses, lists and limits of multicast groups. */
#include "grh.h"
#include "group.h"

bool bellhop_group_is_multicast(const u8 *gid)
{
	return gid[0] == 0xff || (bellhop_grh_is_ipv4(gid) && gid[12] >> 4 == 0xe);
}

/* The place of the first number that is not less. */
static u32 lower_bound(const struct bellhop_group *group, u32 qpn)
{
	u32 begin = 0, end = group->num;

	while (begin < end) {
		u32 middle = begin + (end - begin) / 2;

		if (group->members[middle].qpn < qpn)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

struct bellhop_member *bellhop_group_find(const struct bellhop_group *group, u32 qpn)
{
	u32 at = lower_bound(group, qpn);

	return at < group->num && group->members[at].qpn == qpn ? &group->members[at] : NULL;
}

static bool is_attached(const struct bellhop_member *member)
{
	return READ_ONCE(member->attachments) != 0;
}

bool bellhop_group_has(const struct bellhop_group *group, u32 qpn)
{
	const struct bellhop_member *member = bellhop_group_find(group, qpn);

	return member && is_attached(member);
}

u32 bellhop_group_next(const struct bellhop_group *group, u32 qpn)
{
	u32 at;

	for (at = lower_bound(group, qpn + 1); at < group->num; at++)
		if (is_attached(&group->members[at]))
			return group->members[at].qpn;
	return 0;
}

u32 bellhop_group_count(const struct bellhop_group *group)
{
	u32 count = 0;
	u32 at;

	for (at = 0; at < group->num; at++)
		count += is_attached(&group->members[at]);
	return count;
}

int bellhop_group_admit(const struct bellhop_group_tally *tally, const struct bellhop_group *group,
			u32 qpn)
{
	if (tally->attachments >= BELLHOP_MAX_ATTACHMENTS)
		return -ENOMEM;
	if (!group)
		return tally->groups < BELLHOP_MAX_GROUPS ? 0 : -ENOMEM;
	return bellhop_group_has(group, qpn) || bellhop_group_count(group) < BELLHOP_MAX_MEMBERS
		       ? 0
		       : -ENOMEM;
}

void bellhop_group_extend(struct bellhop_group *to, const u8 *gid, const struct bellhop_group *from,
			  u32 qpn)
{
	const struct bellhop_member newcomer = { .qpn = qpn, .attachments = 1 };
	u32 before = from ? lower_bound(from, qpn) : 0;
	u32 at;

	memcpy(to->gid, gid, sizeof(to->gid));
	to->num = 0;
	for (at = 0; at < before; at++)
		if (is_attached(&from->members[at]))
			to->members[to->num++] = from->members[at];
	to->members[to->num++] = newcomer;
	for (; from && at < from->num; at++)
		if (is_attached(&from->members[at]))
			to->members[to->num++] = from->members[at];
}
