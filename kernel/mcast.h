/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * mcast.h: the multicast groups, and which QPs are attached to them.
 *
 * There is one table for all devices of this kernel, as a network between them would have: whom
 * a member's copy reaches is decided when it is sent, as for any datagram. Members are known by
 * their numbers (slot.h), so that a group never leads to a QP that is gone.
 */
#ifndef BELLHOP_MCAST_H
#define BELLHOP_MCAST_H

#include <rdma/ib_verbs.h>

/**
 * bellhop_mcast_init() - prepares the table
 *
 * Context: may sleep.
 */
void bellhop_mcast_init(void);

/**
 * bellhop_mcast_next() - goes through a group's members
 * @gid: the group
 * @qpn: the member that was last, or 0
 *
 * Numbers only grow, and a group has a limit, so that this comes to an end whoever joins meanwhile.
 * Context: any but hard interrupts.
 * Return: the member with the next greater number, or 0 if there is none.
 */
u32 bellhop_mcast_next(const union ib_gid *gid, u32 qpn);

/**
 * bellhop_mcast_has() - whether a QP is a member of a group
 * @gid: the group
 * @qpn: its number
 *
 * Under the QP's slot lock the answer holds until that is released: bellhop_mcast_detach()
 * does not return in between.
 * Context: any but hard interrupts.
 */
bool bellhop_mcast_has(const union ib_gid *gid, u32 qpn);

/*
 * Operations of struct ib_device_ops (IBA 11.3.1, 11.3.2). A QP gets one copy however often it is
 * attached, which takes as many calls to end: RoCE has no LIDs, and the core, which counts
 * attachments by them, does not destroy a QP that has some left. Return 0; -EINVAL of a
 * QP that is no UD QP, a GID that is no group's, or what is not attached; -ENOMEM without memory
 * and at each of the device's limits.
 */
int bellhop_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int bellhop_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif
