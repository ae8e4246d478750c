// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* port.c: port attributes and port events. */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "device.h"
#include "port.h"

#define GID_TABLE_LEN 1024

/* What the core has in place of a number. */
#define NO_VLAN 0xffffu

enum ib_mtu bellhop_port_mtu(const struct bellhop_device *device)
{
	return iboe_get_mtu(READ_ONCE(device->netdev->mtu)) ?: IB_MTU_256;
}

bool bellhop_port_has_gid(struct bellhop_device *device, const union ib_gid *gid,
			  struct net_device *netdev)
{
	const struct ib_gid_attr *found =
		rdma_find_gid_by_port(&device->ibdev, gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, netdev);

	if (IS_ERR(found))
		return false;
	rdma_put_gid_attr(found);
	return true;
}

u16 bellhop_port_vlan(struct bellhop_device *device, const union ib_gid *gid)
{
	const struct ib_gid_attr *found =
		rdma_find_gid_by_port(&device->ibdev, gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	u16 vlan = NO_VLAN;
	int err;

	if (IS_ERR(found))
		return 0;
	err = rdma_read_gid_l2_fields(found, &vlan, NULL);
	rdma_put_gid_attr(found);
	return err || vlan == NO_VLAN ? 0 : vlan + 1;
}

void bellhop_port_update(struct bellhop_device *device)
{
	bool active = bellhop_port_is_active(device);
	struct ib_event event = {
		.device = &device->ibdev,
		.element.port_num = 1,
		.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	ASSERT_RTNL();
	if (active == device->port_active)
		return;
	device->port_active = active;
	ib_dispatch_event(&event);
}

/*
 * From here on the notifier finds the device. What has happened to the interface before was
 * told to nobody, and nobody can have opened the device yet.
 */
int bellhop_port_begin(struct ib_device *ibdev)
{
	struct bellhop_device *device = bellhop_device_of(ibdev);
	int err = 0;

	rtnl_lock();
	if (device->netdev->reg_state == NETREG_REGISTERED) {
		device->port_active = bellhop_port_is_active(device);
		err = bellhop_socket_open(device);
	} else {
		err = -ENODEV;
	}
	rtnl_unlock();
	return err;
}

/* Of an interface that does not tell, the least that RoCE knows. */
static void query_speed(struct bellhop_device *device, struct ib_port_attr *attr)
{
	const struct ethtool_ops *ops = device->netdev->ethtool_ops;

	attr->active_speed = IB_SPEED_SDR;
	attr->active_width = IB_WIDTH_1X;
	/* The core writes to the kernel log whenever it asks an interface in vain. */
	if (ops->get_link_ksettings)
		ib_get_eth_speed(&device->ibdev, 1, &attr->active_speed, &attr->active_width);
}

int bellhop_port_query(struct ib_device *ibdev, u32 port_num, struct ib_port_attr *attr)
{
	struct bellhop_device *device = bellhop_device_of(ibdev);
	bool active = bellhop_port_is_active(device);

	attr->state = active ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = active ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = bellhop_port_mtu(device);
	attr->gid_tbl_len = GID_TABLE_LEN;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = BELLHOP_MAX_MESSAGE;
	attr->max_vl_num = 1;
	attr->qkey_viol_cntr =
		min_t(u64, bellhop_counters_sum(&device->counters, BELLHOP_COUNTER_DROPPED_QKEY),
		      U16_MAX);
	query_speed(device, attr);
	return 0;
}

int bellhop_port_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

int bellhop_port_immutable(struct ib_device *ibdev, u32 port_num,
			   struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP | RDMA_CORE_PORT_RAW_PACKET;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	immutable->gid_tbl_len = GID_TABLE_LEN;
	immutable->pkey_tbl_len = 1;
	return 0;
}

enum rdma_link_layer bellhop_port_link_layer(struct ib_device *ibdev, u32 port_num)
{
	return IB_LINK_LAYER_ETHERNET;
}
