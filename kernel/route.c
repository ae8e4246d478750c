// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* route.c: finds the way to another host. */
#include <linux/netdevice.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/ib_cache.h>
#include "device.h"
#include "route.h"

static struct dst_entry *find_ipv4(const struct net_device *netdev,
				   const struct bellhop_route *route, u16 source_port)
{
	struct flowi4 flow = {
		.flowi4_oif = netdev->ifindex,
		.flowi4_dscp = inet_dsfield_to_dscp(route->traffic_class),
		.flowi4_proto = IPPROTO_UDP,
		.fl4_sport = htons(source_port),
		.fl4_dport = htons(ROCE_V2_UDP_DPORT),
	};
	struct rtable *found;

	memcpy(&flow.saddr, route->sgid + 12, sizeof(flow.saddr));
	memcpy(&flow.daddr, route->dgid + 12, sizeof(flow.daddr));
	found = ip_route_output_flow(dev_net(netdev), &flow, NULL);
	if (IS_ERR(found))
		return ERR_CAST(found);
	/* Not even the host's own programs reach everybody without having asked for it. */
	if (found->rt_flags & RTCF_BROADCAST) {
		ip_rt_put(found);
		return ERR_PTR(-EACCES);
	}
	return &found->dst;
}

#if IS_ENABLED(CONFIG_IPV6)

static struct dst_entry *find_ipv6(const struct net_device *netdev,
				   const struct bellhop_route *route, u16 source_port)
{
	struct flowi6 flow = {
		.flowi6_oif = netdev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(route->traffic_class, htonl(route->flow_label)),
		.fl6_sport = htons(source_port),
		.fl6_dport = htons(ROCE_V2_UDP_DPORT),
	};

	memcpy(&flow.saddr, route->sgid, sizeof(flow.saddr));
	memcpy(&flow.daddr, route->dgid, sizeof(flow.daddr));
	return ip6_dst_lookup_flow(dev_net(netdev), NULL, &flow, NULL);
}

#else

static struct dst_entry *find_ipv6(const struct net_device *netdev,
				   const struct bellhop_route *route, u16 source_port)
{
	return ERR_PTR(-EAFNOSUPPORT);
}

#endif

static struct dst_entry *find_from(const struct net_device *netdev,
				   const struct bellhop_route *route, u16 source_port)
{
	struct dst_entry *found;

	found = bellhop_grh_is_ipv4(route->dgid) ? find_ipv4(netdev, route, source_port)
						 : find_ipv6(netdev, route, source_port);
	if (!IS_ERR(found) && found->dev != netdev) {
		dst_release(found);
		return ERR_PTR(-EHOSTUNREACH);
	}
	return found;
}

/*
 * An address that has gone and come back, as those of a bond do when it fails over, has another
 * place in the table.
 */
static const struct ib_gid_attr *find_own(struct bellhop_device *device, u8 sgid_index,
					  const struct bellhop_route *route)
{
	const struct ib_gid_attr *own = rdma_get_gid_attr(&device->ibdev, 1, sgid_index);
	union ib_gid sgid;

	if (!IS_ERR(own))
		return own;
	memcpy(&sgid, route->sgid, sizeof(sgid));
	return rdma_find_gid_by_port(&device->ibdev, &sgid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
}

struct dst_entry *bellhop_route_find(struct bellhop_device *device, u8 sgid_index,
				     const struct bellhop_route *route, u16 source_port)
{
	const struct ib_gid_attr *own = find_own(device, sgid_index, route);
	const struct net_device *netdev;
	struct dst_entry *found;

	if (IS_ERR(own))
		return ERR_CAST(own);
	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(own);
	found = IS_ERR(netdev) ? ERR_CAST(netdev) : find_from(netdev, route, source_port);
	rcu_read_unlock();
	rdma_put_gid_attr(own);
	return found;
}
