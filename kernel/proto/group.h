/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * group.h: multicast groups of UD QPs, and who is attached to them (IBA 10.5).
 *
 * Senders go through a group while it changes, without a lock: its list of numbers is written once.
 * Whoever leaves stays in the list, without attachments, and whoever is not in it makes another
 * list, which leaves those out.
 */
#ifndef BELLHOP_PROTO_GROUP_H
#define BELLHOP_PROTO_GROUP_H

#include "base.h"

/*
 * What a device reports as max_mcast_grp, max_mcast_qp_attach and max_total_mcast_qp_attach. All
 * devices share them, as they share the groups. Each member costs those who send to the group a
 * copy, so there are no more of them than in hardware.
 */
#define BELLHOP_MAX_GROUPS 8192u
#define BELLHOP_MAX_MEMBERS 256u
#define BELLHOP_MAX_ATTACHMENTS 65536u

/**
 * struct bellhop_member - a QP in a group's list
 * @qpn: its number, not 0
 * @attachments: how often it was attached more than detached; 0: it is no member any more
 */
struct bellhop_member {
	u32 qpn;
	u32 attachments;
};

/**
 * struct bellhop_group - a multicast group
 * @gid: its address
 * @num: entries of @members
 * @members: by number, ascending
 */
struct bellhop_group {
	u8 gid[16];
	u32 num;
	struct bellhop_member *members;
};

/**
 * struct bellhop_group_tally - what there is of all groups
 * @groups: groups with members
 * @attachments: of all members
 */
struct bellhop_group_tally {
	u32 groups;
	u32 attachments;
};

/**
 * bellhop_group_is_multicast() - whether a GID is a group's
 * @gid: 16 bytes
 *
 * Return: true for ff00::/8 (IBA 4.1.1), and for ::ffff:224.0.0.0/100, the IPv4 groups.
 */
bool bellhop_group_is_multicast(const u8 *gid);

/**
 * bellhop_group_find() - a QP's place in the list
 * @group: the group
 * @qpn: its number
 *
 * Context: any; the group stays.
 * Return: the entry, which need not be a member's; or NULL.
 */
struct bellhop_member *bellhop_group_find(const struct bellhop_group *group, u32 qpn);

/**
 * bellhop_group_has() - whether a QP is a member
 * @group: the group
 * @qpn: its number
 *
 * Context: any; the group stays.
 */
bool bellhop_group_has(const struct bellhop_group *group, u32 qpn);

/**
 * bellhop_group_next() - goes through the members
 * @group: the group
 * @qpn: the member that was last, or 0
 *
 * Context: any; the group stays.
 * Return: the member with the next greater number, or 0 if there is none.
 */
u32 bellhop_group_next(const struct bellhop_group *group, u32 qpn);

/**
 * bellhop_group_count() - how many members there are
 * @group: the group
 *
 * Context: any; the group stays.
 */
u32 bellhop_group_count(const struct bellhop_group *group);

/**
 * bellhop_group_admit() - whether a QP may be attached (once more)
 * @tally: what there is
 * @group: the group, or NULL if it has no members yet
 * @qpn: the QP's number
 *
 * Context: whoever changes groups.
 * Return: 0, or -ENOMEM at a limit (IBA 11.3.1).
 */
int bellhop_group_admit(const struct bellhop_group_tally *tally, const struct bellhop_group *group,
			u32 qpn);

/**
 * bellhop_group_extend() - makes the list of a group that a QP joins
 * @to: filled in; its list has room for one member more than @from has
 * @gid: the group's address
 * @from: the group until now, without the QP; NULL if it has no members yet
 * @qpn: the QP's number; it has one attachment in @to
 *
 * Context: whoever changes groups.
 */
void bellhop_group_extend(struct bellhop_group *to, const u8 *gid, const struct bellhop_group *from,
			  u32 qpn);

#endif /* BELLHOP_PROTO_GROUP_H */
