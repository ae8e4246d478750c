/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* join.h: the interface's part in multicast groups: what is sent to them by others comes in. */
#ifndef BELLHOP_JOIN_H
#define BELLHOP_JOIN_H

#include <rdma/ib_verbs.h>

struct bellhop_device;

/**
 * bellhop_join_begin() - has the interface take a group's packets, once more
 * @device: with or without a wire; without one nothing happens
 * @gid: the group's, of IPv4 or IPv6
 *
 * rdma_cm joins groups of IPv4 by itself, and others do not. That others in the network are
 * asked for the packets is IGMP's and MLD's. Where the interface has no address of the family there
 * is nothing to join, and the group's members are those of this host.
 * Context: may sleep; takes RTNL.
 * Return: 0 or -ENOMEM.
 */
int bellhop_join_begin(struct bellhop_device *device, const union ib_gid *gid);

/**
 * bellhop_join_end() - undoes it
 * @device: likewise; an interface that goes has left all its groups
 * @gid: likewise
 *
 * Context: may sleep; takes RTNL.
 */
void bellhop_join_end(struct bellhop_device *device, const union ib_gid *gid);

#endif
