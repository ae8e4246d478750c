/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* port.h: the one port of a device, as its network interface makes it. */
#ifndef BELLHOP_PORT_H
#define BELLHOP_PORT_H

#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include "device.h"

/* Port operations of struct ib_device_ops. */
int bellhop_port_begin(struct ib_device *ibdev);
int bellhop_port_query(struct ib_device *ibdev, u32 port_num, struct ib_port_attr *attr);
int bellhop_port_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey);
int bellhop_port_immutable(struct ib_device *ibdev, u32 port_num,
			   struct ib_port_immutable *immutable);
enum rdma_link_layer bellhop_port_link_layer(struct ib_device *ibdev, u32 port_num);

/**
 * bellhop_port_is_active() - whether the interface is up and has a carrier
 * @device: the device
 *
 * Context: any.
 */
static inline bool bellhop_port_is_active(const struct bellhop_device *device)
{
	return netif_running(device->netdev) && netif_carrier_ok(device->netdev);
}

/**
 * bellhop_port_joins() - whether a message gets from one port to another, or to itself
 * @from: a device
 * @to: a device
 *
 * Both are up and in one network namespace.
 * Context: any.
 */
static inline bool bellhop_port_joins(const struct bellhop_device *from,
				      const struct bellhop_device *to)
{
	if (!bellhop_port_is_active(to))
		return false;
	return from == to ||
	       (bellhop_port_is_active(from) && net_eq(dev_net(from->netdev), dev_net(to->netdev)));
}

/**
 * bellhop_port_has_gid() - whether a GID is one of the port's
 * @device: the device
 * @gid: the GID
 * @netdev: the interface that must have it as an address, @device's own or a VLAN of it; or NULL,
 * if it does not matter which
 *
 * Context: any.
 */
bool bellhop_port_has_gid(struct bellhop_device *device, const union ib_gid *gid,
			  struct net_device *netdev);

/**
 * bellhop_port_vlan() - which VLAN an address of the port is in
 * @device: the device
 * @gid: the address
 *
 * Context: any but hard interrupts.
 * Return: one more than the VLAN's number; 0, if it is in none.
 */
u16 bellhop_port_vlan(struct bellhop_device *device, const union ib_gid *gid);

/**
 * bellhop_port_mtu() - the largest path MTU that fits the interface's
 * @device: the device
 *
 * Context: any.
 */
enum ib_mtu bellhop_port_mtu(const struct bellhop_device *device);

/**
 * bellhop_port_update() - tells the port's users when its state has changed
 * @device: the device
 *
 * Context: under RTNL, from the interface's notifier.
 */
void bellhop_port_update(struct bellhop_device *device);

#endif
