/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* netdev.h: the network interface of a device that has none to sit on. */
#ifndef BELLHOP_NETDEV_H
#define BELLHOP_NETDEV_H

struct device;
struct net_device;

/**
 * bellhop_netdev_create() - makes an interface and brings it up
 * @name: its name
 * @parent: its parent in sysfs
 *
 * It is of Ethernet type, since RoCE needs one, and drops whatever the network stack
 * sends: same-host RDMA traffic never becomes a packet.
 * Context: may sleep; takes RTNL.
 * Return: the interface, or an ERR_PTR.
 */
struct net_device *bellhop_netdev_create(const char *name, struct device *parent);

/**
 * bellhop_netdev_destroy() - unregisters and frees it
 * @netdev: from bellhop_netdev_create()
 *
 * Context: may sleep; takes RTNL; waits until nobody holds the interface.
 */
void bellhop_netdev_destroy(struct net_device *netdev);

#endif
