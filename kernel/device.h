/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* device.h: one RDMA device over one network interface. */
#ifndef BELLHOP_DEVICE_H
#define BELLHOP_DEVICE_H

#include <rdma/ib_verbs.h>
#include "counters.h"
#include "keys.h"
#include "rule.h"
#include "socket.h"
#include "tap.h"

struct net_device;
struct platform_device;

/*
 * Tools take 0 for a device that says nothing of itself. An OUI that is administered locally (IEEE
 * 802) is nobody's.
 */
#define BELLHOP_VENDOR_ID 0x02be11
#define BELLHOP_VENDOR_PART_ID 1

/**
 * struct bellhop_used - how many objects of each kind a device has
 * @qps: queue pairs
 * @cqs: completion queues
 * @srqs: shared receive queues
 * @pds: protection domains
 * @ahs: address handles
 * @dm_bytes: of device memory, bytes
 *
 * Counted by proto/quota.h, by whoever makes and destroys one.
 */
struct bellhop_used {
	u32 qps;
	u32 cqs;
	u32 srqs;
	u32 pds;
	u32 ahs;
	u32 dm_bytes;
};

/**
 * struct bellhop_device - one ib_device and what its objects share
 * @ibdev: the core's part
 * @parent: the virtual parent of @ibdev and of a network interface of our own
 * @netdev: the port's interface, referenced
 * @owns_netdev: @netdev was made for this device and goes with it
 * @port_active: what the last port event said; under RTNL
 * @used: its objects
 * @counters: what has happened on it
 * @keys: what the keys of its memory open
 * @rules: which of its QPs get which frames of the interface's
 * @tap: how they get them
 * @plug: how it reaches other hosts
 */
struct bellhop_device {
	struct ib_device ibdev;
	struct platform_device *parent;
	struct net_device *netdev;
	bool owns_netdev;
	bool port_active;
	struct bellhop_used used;
	struct bellhop_counters counters;
	struct bellhop_keys keys;
	struct bellhop_rules rules;
	struct bellhop_tap tap;
	struct bellhop_plug plug;
};

static inline struct bellhop_device *bellhop_device_of(struct ib_device *ibdev)
{
	return container_of(ibdev, struct bellhop_device, ibdev);
}

/**
 * bellhop_device_create() - makes and registers a device over an existing interface
 * @name: the RDMA device's name
 * @netdev: an Ethernet interface; the caller holds it
 *
 * Context: may sleep; not under RTNL.
 * Return: 0 or a negative errno.
 */
int bellhop_device_create(const char *name, struct net_device *netdev);

/**
 * bellhop_device_create_alone() - makes a device with an interface of its own
 * @name: the name of both
 *
 * The port is up and has a GID when this returns.
 * Context: may sleep; not under RTNL.
 * Return: 0 or a negative errno.
 */
int bellhop_device_create_alone(const char *name);

#endif
