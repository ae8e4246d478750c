// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* device.c: makes, registers and frees devices; the table of their operations. */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/random.h>
#include <rdma/bellhop-abi.h>
#include "advise.h"
#include "ah.h"
#include "compat/ops.h"
#include "cq.h"
#include "device.h"
#include "dm.h"
#include "inbox.h"
#include "kick.h"
#include "mapping.h"
#include "mcast.h"
#include "mr.h"
#include "mw.h"
#include "netdev.h"
#include "pd.h"
#include "port.h"
#include "post.h"
#include "proto/dm.h"
#include "proto/group.h"
#include "qp.h"
#include "resource.h"
#include "rss.h"
#include "srq.h"
#include "tag.h"
#include "ucontext.h"
#include "wq.h"
#include "xrcd.h"

static void dealloc_driver(struct ib_device *ibdev);
static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata);

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.driver_id = BELLHOP_DRIVER_ID,
	.uverbs_abi_ver = BELLHOP_ABI_VERSION,

	.advise_mr = bellhop_advise_mr,
	.alloc_dm = bellhop_dm_alloc,
	.alloc_hw_port_stats = bellhop_counters_alloc,
	.alloc_mw = bellhop_mw_alloc,
	.alloc_pd = bellhop_pd_alloc,
	.alloc_ucontext = bellhop_ucontext_alloc,
	.alloc_xrcd = bellhop_xrcd_alloc,
	.attach_mcast = bellhop_mcast_attach,
	.create_ah = bellhop_ah_create,
	.create_flow = bellhop_rule_create,
	.create_qp = bellhop_qp_create,
	.create_rwq_ind_table = bellhop_table_create,
	.create_srq = bellhop_srq_create,
	.create_user_ah = bellhop_ah_create,
	.create_wq = bellhop_wq_create,
	.dealloc_dm = bellhop_dm_dealloc,
	.dealloc_driver = dealloc_driver,
	.dealloc_mw = bellhop_mw_dealloc,
	.dealloc_pd = bellhop_pd_dealloc,
	.dealloc_ucontext = bellhop_ucontext_dealloc,
	.dealloc_xrcd = bellhop_xrcd_dealloc,
	.dereg_mr = bellhop_mr_deregister,
	.destroy_ah = bellhop_ah_destroy,
	.destroy_cq = bellhop_cq_destroy,
	.destroy_flow = bellhop_rule_destroy,
	.destroy_qp = bellhop_qp_destroy,
	.destroy_rwq_ind_table = bellhop_table_destroy,
	.destroy_srq = bellhop_srq_destroy,
	.destroy_wq = bellhop_wq_destroy,
	.detach_mcast = bellhop_mcast_detach,
	.disassociate_ucontext = bellhop_ucontext_disassociate,
	.enable_driver = bellhop_port_begin,
	.fill_res_cq_entry = bellhop_resource_fill_cq,
	.fill_res_mr_entry = bellhop_resource_fill_mr,
	.fill_res_qp_entry = bellhop_resource_fill_qp,
	.get_dma_mr = bellhop_mr_get_dma,
	.get_hw_stats = bellhop_counters_get,
	.get_link_layer = bellhop_port_link_layer,
	.get_port_immutable = bellhop_port_immutable,
	.mmap = bellhop_mapping_mmap,
	.mmap_free = bellhop_mapping_free,
	.modify_cq = bellhop_cq_modify,
	.modify_qp = bellhop_qp_modify,
	.modify_srq = bellhop_srq_modify,
	.modify_wq = bellhop_wq_modify,
	.poll_cq = bellhop_inbox_poll,
	.post_recv = bellhop_post_recv,
	.post_send = bellhop_post_send,
	.post_srq_recv = bellhop_post_srq_recv,
	.process_mad = bellhop_counters_process_mad,
	.query_ah = bellhop_ah_query,
	.query_device = query_device,
	.query_pkey = bellhop_port_query_pkey,
	.query_port = bellhop_port_query,
	.query_qp = bellhop_qp_query,
	.query_srq = bellhop_srq_query,
	.query_ucontext = bellhop_ucontext_query,
	.reg_dm_mr = bellhop_dm_register,
	.req_notify_cq = bellhop_inbox_arm,
	.rereg_user_mr = bellhop_mr_reregister,

	INIT_RDMA_OBJ_SIZE(ib_ah, bellhop_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, bellhop_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, bellhop_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, bellhop_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, bellhop_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_rwq_ind_table, bellhop_table, ibtable),
	INIT_RDMA_OBJ_SIZE(ib_srq, bellhop_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, bellhop_ucontext, ibucontext),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, bellhop_xrcd, ibxrcd),
};

/* What uverbs offers of bellhop's own. */
static const struct uapi_definition uverbs_defs[] = {
	UAPI_DEF_CHAIN(bellhop_kick_defs),
	UAPI_DEF_CHAIN(bellhop_ucontext_defs),
	UAPI_DEF_CHAIN(bellhop_dm_defs),
	UAPI_DEF_CHAIN(bellhop_tag_defs),
	{},
};

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	if (udata->inlen || udata->outlen)
		return -EINVAL;

	attr->fw_ver = BELLHOP_ABI_VERSION;
	attr->vendor_id = BELLHOP_VENDOR_ID;
	attr->vendor_part_id = BELLHOP_VENDOR_PART_ID;
	attr->sys_image_guid = ibdev->node_guid;
	attr->max_mr_size = ~0ULL;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = BELLHOP_MAX_QP;
	attr->max_qp_wr = BELLHOP_MAX_QP_WR;
	attr->max_send_sge = BELLHOP_MAX_SGE;
	attr->max_recv_sge = BELLHOP_MAX_SGE;
	attr->max_sge_rd = BELLHOP_MAX_SGE;
	attr->max_cq = BELLHOP_MAX_CQ;
	attr->max_cqe = BELLHOP_MAX_CQE;
	attr->cq_caps.max_cq_moderation_count = BELLHOP_MAX_MODERATION_COUNT;
	attr->cq_caps.max_cq_moderation_period = BELLHOP_MAX_MODERATION_PERIOD;
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = BELLHOP_CLOCK_KHZ;
	attr->max_mr = BELLHOP_MAX_MR;
	attr->max_mw = BELLHOP_MAX_MW;
	attr->max_dm_size = BELLHOP_DM_TOTAL;
	attr->max_pd = BELLHOP_MAX_PD;
	attr->max_ah = BELLHOP_MAX_AH;
	attr->max_srq = BELLHOP_MAX_SRQ;
	attr->max_srq_wr = BELLHOP_MAX_SRQ_WR;
	attr->max_srq_sge = BELLHOP_MAX_SGE;
	attr->tm_caps = (struct ib_tm_caps){
		.max_rndv_hdr_size = BELLHOP_MAX_TAG_HEADER,
		.max_num_tags = BELLHOP_MAX_TAGS,
		.max_ops = BELLHOP_MAX_TAGS,
		.max_sge = BELLHOP_MAX_TAG_SGE,
		.flags = IB_TM_CAP_RNDV_RC,
	};
	attr->rss_caps.supported_qpts = BIT(IB_QPT_RAW_PACKET);
	attr->rss_caps.max_rwq_indirection_tables = BELLHOP_MAX_QP;
	attr->rss_caps.max_rwq_indirection_table_size = BELLHOP_MAX_TABLE;
	attr->max_wq_type_rq = BELLHOP_MAX_QP;
	attr->max_mcast_grp = BELLHOP_MAX_GROUPS;
	attr->max_mcast_qp_attach = BELLHOP_MAX_MEMBERS;
	attr->max_total_mcast_qp_attach = BELLHOP_MAX_ATTACHMENTS;
	attr->max_qp_rd_atom = BELLHOP_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = BELLHOP_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = BELLHOP_MAX_RD_ATOMIC * BELLHOP_MAX_QP;
	/* Atomic to the processors, too; but UCX takes no other word than this for atomics at all.
	 */
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->max_pkeys = 1;
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_SRQ_RESIZE | IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B | IB_DEVICE_XRC |
				 IB_DEVICE_ATOMIC_WRITE | IB_DEVICE_MANAGED_FLOW_STEERING;
	attr->kernel_cap_flags =
		IBK_ALLOW_USER_UNREG | IBK_BLOCK_MULTICAST_LOOPBACK | IBK_ON_DEMAND_PAGING;
	attr->odp_caps.general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	attr->odp_caps.per_transport_caps.rc_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_WRITE |
		IB_ODP_SUPPORT_READ | IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV;
	attr->odp_caps.per_transport_caps.xrc_odp_caps =
		attr->odp_caps.per_transport_caps.rc_odp_caps;
	attr->odp_caps.per_transport_caps.uc_odp_caps = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
							IB_ODP_SUPPORT_WRITE |
							IB_ODP_SUPPORT_SRQ_RECV;
	attr->odp_caps.per_transport_caps.ud_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV;
	return 0;
}

/* Interfaces can share a MAC address, and a device can be made anew: the guid never repeats. */
static __be64 unique_guid(void)
{
	static atomic_t serial;
	union {
		u8 bytes[8];
		__be64 guid;
	} u;

	get_random_bytes(u.bytes, sizeof(u.bytes));
	u.bytes[0] = 0x02; /* locally administered */
	u.bytes[7] = (u8)atomic_inc_return(&serial);
	return u.guid;
}

/* What the device itself holds, beside the core's part and its interface. */
static void release(struct bellhop_device *device)
{
	platform_device_unregister(device->parent);
	bellhop_keys_exit(&device->keys);
	bellhop_counters_destroy(&device->counters);
}

static void dealloc_driver(struct ib_device *ibdev)
{
	struct bellhop_device *device = bellhop_device_of(ibdev);

	bellhop_socket_close(device);
	bellhop_tap_exit(device);
	if (device->owns_netdev)
		bellhop_netdev_destroy(device->netdev);
	else
		dev_put(device->netdev);
	release(device);
}

static struct bellhop_device *alloc_device(const char *name)
{
	struct bellhop_device *device;
	struct ib_device *ibdev;
	int err;

	device = ib_alloc_device(bellhop_device, ibdev);
	if (!device)
		return ERR_PTR(-ENOMEM);
	err = bellhop_counters_create(&device->counters);
	if (err)
		goto err_device;
	device->parent = platform_device_register_simple("bellhop", PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(device->parent)) {
		err = PTR_ERR(device->parent);
		goto err_counters;
	}
	bellhop_keys_init(&device->keys);
	bellhop_rules_init(&device->rules);
	bellhop_tap_init(device);

	ibdev = &device->ibdev;
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->node_guid = unique_guid();
	ibdev->dev.parent = &device->parent->dev;
	ibdev->driver_def = uverbs_defs;
	strscpy(ibdev->node_desc, name, sizeof(ibdev->node_desc));
	return device;

err_counters:
	bellhop_counters_destroy(&device->counters);
err_device:
	ib_dealloc_device(&device->ibdev);
	return ERR_PTR(err);
}

/* Of a device that was not registered. */
static void discard_device(struct bellhop_device *device)
{
	release(device);
	ib_dealloc_device(&device->ibdev);
}

static int register_device(struct bellhop_device *device, const char *name)
{
	struct ib_device *ibdev = &device->ibdev;
	int err;

	err = ib_device_set_netdev(ibdev, device->netdev, 1);
	if (err)
		return err;
	/* Only now, so that until here ib_dealloc_device() frees no more than the memory. */
	ib_set_device_ops(ibdev, &device_ops);
	bellhop_ops_adapt(ibdev);
	err = ib_register_device(ibdev, name, NULL);
	if (err) {
		bellhop_socket_close(device);
		ibdev->ops.dealloc_driver = NULL;
	}
	return err;
}

int bellhop_device_create(const char *name, struct net_device *netdev)
{
	struct bellhop_device *device = alloc_device(name);
	int err;

	if (IS_ERR(device))
		return PTR_ERR(device);
	/* ib_core's own reference goes before the port's files in sysfs do. */
	dev_hold(netdev);
	device->netdev = netdev;
	err = register_device(device, name);
	if (err) {
		dev_put(netdev);
		discard_device(device);
	}
	return err;
}

int bellhop_device_create_alone(const char *name)
{
	struct bellhop_device *device = alloc_device(name);
	int err;

	if (IS_ERR(device))
		return PTR_ERR(device);
	device->netdev = bellhop_netdev_create(name, &device->parent->dev);
	if (IS_ERR(device->netdev)) {
		err = PTR_ERR(device->netdev);
		goto err_device;
	}
	device->owns_netdev = true;
	err = register_device(device, name);
	if (err)
		goto err_netdev;
	return 0;

err_netdev:
	/* Destroying would wait for the reference that ib_core took at set_netdev. */
	ib_device_set_netdev(&device->ibdev, NULL, 1);
	bellhop_netdev_destroy(device->netdev);
err_device:
	discard_device(device);
	return err;
}
