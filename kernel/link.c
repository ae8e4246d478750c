// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* link.c: `rdma link add NAME type bellhop netdev NETDEV`, and the interface's notifier. */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>
#include "device.h"
#include "link.h"
#include "port.h"

/* One device per interface: looking for one and making one is a single step. */
static DEFINE_MUTEX(newlink_lock);

static int newlink(const char *name, struct net_device *netdev)
{
	struct ib_device *existing;
	int err;

	/* The addresses of any other type make no RoCE GID. */
	if (netdev->type != ARPHRD_ETHER)
		return -EINVAL;
	/* The core gives a VLAN's addresses to the device that is over what is below it, if any. */
	if (is_vlan_dev(netdev))
		return -EINVAL;
	mutex_lock(&newlink_lock);
	existing = ib_device_get_by_netdev(netdev, BELLHOP_DRIVER_ID);
	if (existing) {
		ib_device_put(existing);
		err = -EEXIST;
	} else {
		err = bellhop_device_create(name, netdev);
	}
	mutex_unlock(&newlink_lock);
	return err;
}

static struct rdma_link_ops link_ops = {
	.type = "bellhop",
	.newlink = newlink,
};

static int netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct ib_device *ibdev = ib_device_get_by_netdev(netdev, BELLHOP_DRIVER_ID);

	if (!ibdev)
		return NOTIFY_OK;
	switch (event) {
	case NETDEV_UNREGISTER:
		ib_unregister_device_queued(ibdev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		bellhop_port_update(bellhop_device_of(ibdev));
		break;
	default:
		break;
	}
	ib_device_put(ibdev);
	return NOTIFY_OK;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

int bellhop_link_init(void)
{
	int err = register_netdevice_notifier(&netdev_notifier);

	if (err)
		return err;
	rdma_link_register(&link_ops);
	return 0;
}

void bellhop_link_exit(void)
{
	rdma_link_unregister(&link_ops);
	unregister_netdevice_notifier(&netdev_notifier);
}

MODULE_ALIAS_RDMA_LINK("bellhop");
