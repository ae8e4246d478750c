// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* netdev.c: an Ethernet-type interface without a wire. */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include "netdev.h"

/* Room for the largest path MTU, 4096, and every RoCEv2 header. */
#define DEFAULT_MTU 4200

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *netdev)
{
	netdev->stats.tx_dropped++;
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

/* Nothing comes in that could be kept out. */
static void set_rx_mode(struct net_device *netdev) {}

static const struct net_device_ops netdev_ops = {
	.ndo_start_xmit = drop,
	.ndo_set_rx_mode = set_rx_mode,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static int get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = SPEED_100000;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static const struct ethtool_ops ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = get_link_ksettings,
};

static void setup(struct net_device *netdev)
{
	ether_setup(netdev);
	netdev->netdev_ops = &netdev_ops;
	netdev->ethtool_ops = &ethtool_ops;
	netdev->flags |= IFF_NOARP;
	netdev->flags &= ~IFF_MULTICAST;
	netdev->priv_flags |= IFF_NO_QUEUE | IFF_UNICAST_FLT;
	netdev->mtu = DEFAULT_MTU;
	netdev->max_mtu = ETH_MAX_MTU;
	eth_hw_addr_random(netdev);
}

struct net_device *bellhop_netdev_create(const char *name, struct device *parent)
{
	struct net_device *netdev = alloc_netdev(0, name, NET_NAME_USER, setup);
	int err;

	if (!netdev)
		return ERR_PTR(-ENOMEM);
	SET_NETDEV_DEV(netdev, parent);

	rtnl_lock();
	err = register_netdevice(netdev);
	if (!err) {
		err = dev_open(netdev, NULL);
		if (err)
			unregister_netdevice(netdev);
	}
	rtnl_unlock();
	if (err) {
		free_netdev(netdev);
		return ERR_PTR(err);
	}
	return netdev;
}

void bellhop_netdev_destroy(struct net_device *netdev)
{
	unregister_netdev(netdev);
	free_netdev(netdev);
}
