// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* join.c: joins groups with an interface, and leaves them. */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include "device.h"
#include "join.h"
#include "proto/grh.h"
#include "socket.h"

static __be32 ipv4_of(const union ib_gid *gid)
{
	__be32 address;

	memcpy(&address, gid->raw + 12, sizeof(address));
	return address;
}

static int join_ipv4(struct net_device *netdev, const union ib_gid *gid)
{
	struct in_device *in_dev = __in_dev_get_rtnl(netdev);

	if (in_dev)
		ip_mc_inc_group(in_dev, ipv4_of(gid));
	return 0;
}

static void leave_ipv4(struct net_device *netdev, const union ib_gid *gid)
{
	struct in_device *in_dev = __in_dev_get_rtnl(netdev);

	if (in_dev)
		ip_mc_dec_group(in_dev, ipv4_of(gid));
}

#if IS_ENABLED(CONFIG_IPV6)

static int join_ipv6(struct net_device *netdev, const union ib_gid *gid)
{
	int err = ipv6_dev_mc_inc(netdev, (const struct in6_addr *)gid->raw);

	return err == -ENOMEM ? err : 0;
}

static void leave_ipv6(struct net_device *netdev, const union ib_gid *gid)
{
	ipv6_dev_mc_dec(netdev, (const struct in6_addr *)gid->raw);
}

#else

static int join_ipv6(struct net_device *netdev, const union ib_gid *gid)
{
	return 0;
}

static void leave_ipv6(struct net_device *netdev, const union ib_gid *gid) {}

#endif

int bellhop_join_begin(struct bellhop_device *device, const union ib_gid *gid)
{
	struct net_device *netdev = device->netdev;
	int err;

	if (!bellhop_socket_is_open(&device->plug))
		return 0;
	rtnl_lock();
	err = bellhop_grh_is_ipv4(gid->raw) ? join_ipv4(netdev, gid) : join_ipv6(netdev, gid);
	rtnl_unlock();
	return err;
}

void bellhop_join_end(struct bellhop_device *device, const union ib_gid *gid)
{
	struct net_device *netdev = device->netdev;

	if (!bellhop_socket_is_open(&device->plug))
		return;
	rtnl_lock();
	if (bellhop_grh_is_ipv4(gid->raw))
		leave_ipv4(netdev, gid);
	else
		leave_ipv6(netdev, gid);
	rtnl_unlock();
}
