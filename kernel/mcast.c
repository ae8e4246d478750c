// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* mcast.c: attaches QPs to multicast groups, and finds them there. */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "join.h"
#include "mcast.h"
#include "proto/group.h"
#include "qp.h"
#include "slot.h"

/**
 * struct bellhop_listed_group - a group in the table
 * @link: in the table
 * @rcu: frees it
 * @group: what it is; read under RCU, its attachments are written under @lock
 * @members: @group's list
 */
struct bellhop_listed_group {
	struct hlist_node link;
	struct rcu_head rcu;
	struct bellhop_group group;
	struct bellhop_member members[];
};

static DEFINE_HASHTABLE(table, 10); /* written under @lock, read under RCU */
static struct bellhop_group_tally tally; /* under @lock */
static DEFINE_MUTEX(lock);
/* So that nobody can choose groups which are all in one place. */
static u32 seed __ro_after_init;

void __init bellhop_mcast_init(void)
{
	seed = get_random_u32();
}

static u32 hash(const union ib_gid *gid)
{
	return jhash(gid->raw, sizeof(gid->raw), seed);
}

/* Under RCU or @lock. */
static struct bellhop_listed_group *find(const union ib_gid *gid)
{
	struct bellhop_listed_group *listed;

	hash_for_each_possible_rcu(table, listed, link, hash(gid), lockdep_is_held(&lock))
	{
		if (!memcmp(listed->group.gid, gid->raw, sizeof(gid->raw)))
			return listed;
	}
	return NULL;
}

u32 bellhop_mcast_next(const union ib_gid *gid, u32 qpn)
{
	const struct bellhop_listed_group *listed;

	rcu_read_lock();
	listed = find(gid);
	qpn = listed ? bellhop_group_next(&listed->group, qpn) : 0;
	rcu_read_unlock();
	return qpn;
}

bool bellhop_mcast_has(const union ib_gid *gid, u32 qpn)
{
	const struct bellhop_listed_group *listed;
	bool has;

	rcu_read_lock();
	listed = find(gid);
	has = listed && bellhop_group_has(&listed->group, qpn);
	rcu_read_unlock();
	return has;
}

/* The group with another member, in the place of the one without. */
static int extend(const union ib_gid *gid, struct bellhop_listed_group *old, u32 qpn)
{
	u32 num = old ? bellhop_group_count(&old->group) : 0;
	struct bellhop_listed_group *new;

	lockdep_assert_held(&lock);

	new = kmalloc(struct_size(new, members, num + 1), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	new->group.members = new->members;
	bellhop_group_extend(&new->group, gid->raw, old ? &old->group : NULL, qpn);
	if (old) {
		hlist_replace_rcu(&old->link, &new->link);
		kfree_rcu(old, rcu);
	} else {
		hash_add_rcu(table, &new->link, hash(gid));
		tally.groups++;
	}
	return 0;
}

static int attach(const union ib_gid *gid, u32 qpn)
{
	struct bellhop_listed_group *listed = find(gid);
	struct bellhop_member *member = listed ? bellhop_group_find(&listed->group, qpn) : NULL;
	int err;

	err = bellhop_group_admit(&tally, listed ? &listed->group : NULL, qpn);
	if (err)
		return err;
	if (member) {
		WRITE_ONCE(member->attachments, member->attachments + 1);
	} else {
		err = extend(gid, listed, qpn);
		if (err)
			return err;
	}
	tally.attachments++;
	return 0;
}

static int detach(const union ib_gid *gid, u32 qpn)
{
	struct bellhop_listed_group *listed = find(gid);
	struct bellhop_member *member = listed ? bellhop_group_find(&listed->group, qpn) : NULL;

	if (!member || !member->attachments)
		return -EINVAL;
	WRITE_ONCE(member->attachments, member->attachments - 1);
	tally.attachments--;
	if (!bellhop_group_count(&listed->group)) {
		hash_del_rcu(&listed->link);
		kfree_rcu(listed, rcu);
		tally.groups--;
	}
	return 0;
}

int bellhop_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct bellhop_qp *qp = bellhop_qp_of(ibqp);
	int err;

	if (ibqp->qp_type != IB_QPT_UD || !bellhop_group_is_multicast(gid->raw))
		return -EINVAL;
	err = bellhop_join_begin(qp->device, gid);
	if (err)
		return err;
	mutex_lock(&lock);
	err = attach(gid, qp->qpn);
	mutex_unlock(&lock);
	if (err)
		bellhop_join_end(qp->device, gid);
	return err;
}

int bellhop_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct bellhop_qp *qp = bellhop_qp_of(ibqp);
	int err;

	mutex_lock(&lock);
	err = detach(gid, qp->qpn);
	mutex_unlock(&lock);
	if (!err)
		bellhop_join_end(qp->device, gid);
	/* Whoever found the QP here and delivers to it has the lock now, or looks again. */
	spin_lock_bh(&qp->slot->lock);
	spin_unlock_bh(&qp->slot->lock);
	return err;
}
