// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// verbs_abi.hpp: the interface between libibverbs and its providers, as far as bellhop uses it.
//
// No package installs libibverbs' own header of it. This one needs <infiniband/verbs.h> and
// the kernel's uapi only: what follows the release in size (verbs_context, ibv_qp_ex) comes
// from the installed verbs.h, and what follows the private ABI number is chosen by
// BELLHOP_PABI, which the Makefile reads from the installed library. A provider fits the
// release that it was built with and no other, even where the number is the same.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#if !defined(BELLHOP_PABI)
#error "BELLHOP_PABI: the n of libibverbs.so's symbol verbs_register_driver_<n>"
#elif BELLHOP_PABI != 34 && BELLHOP_PABI != 65
#error "this libibverbs' private ABI is not known: compare its driver.h with this file first"
#endif

extern "C" {

// Matching a kernel device with a provider.

enum {
	VERBS_MATCH_END = 0,
	VERBS_MATCH_MODALIAS = 2,
	VERBS_MATCH_DRIVER_ID = 3,
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		std::uint64_t driver_id;
	} u;
	std::uint16_t vendor;
	std::uint16_t device;
	std::uint8_t kind;
};

struct verbs_list_node {
	verbs_list_node *next;
	verbs_list_node *prev;
};

struct verbs_sysfs_dev {
	verbs_list_node entry;
	void *provider_data;
	const verbs_match_ent *match;
	unsigned int flags;
	char sysfs_name[IBV_SYSFS_NAME_MAX];
	dev_t sysfs_cdev;
	char ibdev_name[IBV_SYSFS_NAME_MAX];
	char ibdev_path[IBV_SYSFS_PATH_MAX];
	char modalias[512];
	std::uint64_t node_guid;
	std::uint32_t driver_id;
	ibv_node_type node_type;
	int ibdev_idx;
	std::uint32_t num_ports;
	std::uint32_t abi_ver;
	timespec time_created;
};

struct verbs_device_ops;

struct verbs_device {
	ibv_device device;
	const verbs_device_ops *ops;
	std::atomic<int> refcount;
	verbs_list_node entry;
	verbs_sysfs_dev *sysfs;
	std::uint64_t core_support;
};

struct verbs_device_ops {
	const char *name;
	std::uint32_t match_min_abi_version;
	std::uint32_t match_max_abi_version;
	const verbs_match_ent *match_table;
	const verbs_device_ops **static_providers;
	bool (*match_device)(verbs_sysfs_dev *);
	verbs_context *(*alloc_context)(ibv_device *, int cmd_fd, void *);
	verbs_context *(*import_context)(ibv_device *, int cmd_fd);
	verbs_device *(*alloc_device)(verbs_sysfs_dev *);
	void (*uninit_device)(verbs_device *);
};

// Objects that have a part of libibverbs' beyond what verbs.h shows.

// What libibverbs does with a region's address when it ends.
enum {
	VERBS_MR_TYPE_NULL = 1,
	VERBS_MR_TYPE_DMABUF = 3,
};

struct verbs_mr {
	ibv_mr mr;
	int mr_type;
	int access;
};

struct verbs_dm {
	ibv_dm dm;
	std::uint32_t handle;
};

struct verbs_xrcd {
	ibv_xrcd xrcd;
	std::uint32_t comp_mask;
	std::uint32_t handle;
};

struct verbs_srq {
	ibv_srq srq;
	ibv_srq_type srq_type;
	verbs_xrcd *xrcd;
	ibv_cq *cq;
	std::uint32_t srq_num;
};

enum {
	VERBS_QP_EX = 1 << 1,
};

struct verbs_qp {
	union {
		ibv_qp qp;
		ibv_qp_ex qp_ex;
	};
	std::uint32_t comp_mask;
	verbs_xrcd *xrcd;
};

struct verbs_cq {
	union {
		ibv_cq cq;
		ibv_cq_ex cq_ex;
	};
};

// Operations of a context, in libibverbs' order, which is that of the alphabet. What is left
// null is answered by libibverbs with EOPNOTSUPP.

using verbs_op = void (*)(); // one that bellhop does not have

#if BELLHOP_PABI >= 65
#define BELLHOP_OPS_65(...) verbs_op __VA_ARGS__;
#else
#define BELLHOP_OPS_65(...)
#endif

struct verbs_context_ops {
	int (*advise_mr)(ibv_pd *, ibv_advise_mr_advice, std::uint32_t flags, ibv_sge *sg_list,
			 std::uint32_t num_sge);
	BELLHOP_OPS_65(alloc_buf)
	ibv_dm *(*alloc_dm)(ibv_context *, ibv_alloc_dm_attr *);
	BELLHOP_OPS_65(alloc_dmah)
	ibv_mw *(*alloc_mw)(ibv_pd *, ibv_mw_type);
	ibv_mr *(*alloc_null_mr)(ibv_pd *);
	ibv_pd *(*alloc_parent_domain)(ibv_context *, ibv_parent_domain_init_attr *);
	ibv_pd *(*alloc_pd)(ibv_context *);
	ibv_td *(*alloc_td)(ibv_context *, ibv_td_init_attr *);
	verbs_op async_event, attach_counters_point_flow;
	int (*attach_mcast)(ibv_qp *, const ibv_gid *, std::uint16_t lid);
	int (*bind_mw)(ibv_qp *, ibv_mw *, ibv_mw_bind *);
	int (*close_xrcd)(ibv_xrcd *);
	verbs_op cq_event;
	ibv_ah *(*create_ah)(ibv_pd *, ibv_ah_attr *);
	BELLHOP_OPS_65(create_comp_cntr)
	verbs_op create_counters;
	ibv_cq *(*create_cq)(ibv_context *, int cqe, ibv_comp_channel *, int comp_vector);
	ibv_cq_ex *(*create_cq_ex)(ibv_context *, ibv_cq_init_attr_ex *);
	ibv_flow *(*create_flow)(ibv_qp *, ibv_flow_attr *);
	verbs_op create_flow_action_esp;
	ibv_qp *(*create_qp)(ibv_pd *, ibv_qp_init_attr *);
	ibv_qp *(*create_qp_ex)(ibv_context *, ibv_qp_init_attr_ex *);
	ibv_rwq_ind_table *(*create_rwq_ind_table)(ibv_context *, ibv_rwq_ind_table_init_attr *);
	ibv_srq *(*create_srq)(ibv_pd *, ibv_srq_init_attr *);
	ibv_srq *(*create_srq_ex)(ibv_context *, ibv_srq_init_attr_ex *);
	ibv_wq *(*create_wq)(ibv_context *, ibv_wq_init_attr *);
	BELLHOP_OPS_65(dealloc_dmah)
	int (*dealloc_mw)(ibv_mw *);
	int (*dealloc_pd)(ibv_pd *);
	int (*dealloc_td)(ibv_td *);
	int (*dereg_mr)(verbs_mr *);
	int (*destroy_ah)(ibv_ah *);
	BELLHOP_OPS_65(destroy_comp_cntr)
	verbs_op destroy_counters;
	int (*destroy_cq)(ibv_cq *);
	int (*destroy_flow)(ibv_flow *);
	verbs_op destroy_flow_action;
	int (*destroy_qp)(ibv_qp *);
	int (*destroy_rwq_ind_table)(ibv_rwq_ind_table *);
	int (*destroy_srq)(ibv_srq *);
	int (*destroy_wq)(ibv_wq *);
	int (*detach_mcast)(ibv_qp *, const ibv_gid *, std::uint16_t lid);
	BELLHOP_OPS_65(dm_export_dmabuf_fd, free_buf)
	void (*free_context)(ibv_context *);
	int (*free_dm)(ibv_dm *);
	int (*get_srq_num)(ibv_srq *, std::uint32_t *srq_num);
	ibv_dm *(*import_dm)(ibv_context *, std::uint32_t handle);
	ibv_mr *(*import_mr)(ibv_pd *, std::uint32_t handle);
	ibv_pd *(*import_pd)(ibv_context *, std::uint32_t handle);
	BELLHOP_OPS_65(inc_comp_cntr, inc_err_comp_cntr)
	int (*modify_cq)(ibv_cq *, ibv_modify_cq_attr *);
	verbs_op modify_flow_action_esp;
	int (*modify_qp)(ibv_qp *, ibv_qp_attr *, int attr_mask);
	verbs_op modify_qp_rate_limit;
	int (*modify_srq)(ibv_srq *, ibv_srq_attr *, int attr_mask);
	int (*modify_wq)(ibv_wq *, ibv_wq_attr *);
	ibv_qp *(*open_qp)(ibv_context *, ibv_qp_open_attr *);
	ibv_xrcd *(*open_xrcd)(ibv_context *, ibv_xrcd_init_attr *);
	int (*poll_cq)(ibv_cq *, int num_entries, ibv_wc *);
	int (*post_recv)(ibv_qp *, ibv_recv_wr *, ibv_recv_wr **bad_wr);
	int (*post_send)(ibv_qp *, ibv_send_wr *, ibv_send_wr **bad_wr);
	int (*post_srq_ops)(ibv_srq *, ibv_ops_wr *, ibv_ops_wr **bad_wr);
	int (*post_srq_recv)(ibv_srq *, ibv_recv_wr *, ibv_recv_wr **bad_wr);
	BELLHOP_OPS_65(qp_attach_comp_cntr, query_comp_cntr_caps)
	int (*query_device_ex)(ibv_context *, const ibv_query_device_ex_input *,
			       ibv_device_attr_ex *, std::size_t attr_size);
	verbs_op query_ece;
	int (*query_port)(ibv_context *, std::uint8_t port_num, ibv_port_attr *);
	BELLHOP_OPS_65(query_port_speed)
	int (*query_qp)(ibv_qp *, ibv_qp_attr *, int attr_mask, ibv_qp_init_attr *);
	verbs_op query_qp_data_in_order;
	int (*query_rt_values)(ibv_context *, ibv_values_ex *);
	int (*query_srq)(ibv_srq *, ibv_srq_attr *);
	BELLHOP_OPS_65(read_comp_cntr)
	verbs_op read_counters;
	BELLHOP_OPS_65(read_err_comp_cntr)
	ibv_mr *(*reg_dm_mr)(ibv_pd *, ibv_dm *, std::uint64_t offset, std::size_t length,
			     unsigned access);
	ibv_mr *(*reg_dmabuf_mr)(ibv_pd *, std::uint64_t offset, std::size_t length,
				 std::uint64_t iova, int fd, int access);
	ibv_mr *(*reg_mr)(ibv_pd *, void *addr, std::size_t length, std::uint64_t iova, int access);
	BELLHOP_OPS_65(reg_mr_ex)
	int (*req_notify_cq)(ibv_cq *, int solicited_only);
	int (*rereg_mr)(verbs_mr *, int flags, ibv_pd *, void *addr, std::size_t length,
			int access);
	int (*resize_cq)(ibv_cq *, int cqe);
	BELLHOP_OPS_65(set_comp_cntr)
	verbs_op set_ece;
	BELLHOP_OPS_65(set_err_comp_cntr)
	void (*unimport_dm)(ibv_dm *);
	void (*unimport_mr)(ibv_mr *);
	void (*unimport_pd)(ibv_pd *);
};

#undef BELLHOP_OPS_65

// What libibverbs offers to providers.

#define BELLHOP_PASTE(a, b) a##b
#define BELLHOP_PASTE_VALUES(a, b) BELLHOP_PASTE(a, b)
#define verbs_register_driver BELLHOP_PASTE_VALUES(verbs_register_driver_, BELLHOP_PABI)
void verbs_register_driver(const verbs_device_ops *);

void *_verbs_init_and_alloc_context(ibv_device *, int cmd_fd, std::size_t size,
				    verbs_context *offset, std::uint32_t driver_id);
void verbs_uninit_context(verbs_context *);
void verbs_set_ops(verbs_context *, const verbs_context_ops *);

// Commands to the kernel. Each takes a request (Request, RequestEx below) and, where there
// is an answer, room for it. They return 0 or a positive errno.

int ibv_cmd_get_context(verbs_context *, void *cmd, std::size_t cmd_size,
#if BELLHOP_PABI >= 65
			struct ibv_fd_arr *,
#endif
			ib_uverbs_get_context_resp *, std::size_t resp_size);
int ibv_cmd_query_context(ibv_context *, struct ibv_command_buffer *);
int ibv_cmd_query_device_any(ibv_context *, const ibv_query_device_ex_input *, ibv_device_attr_ex *,
			     std::size_t attr_size, ib_uverbs_ex_query_device_resp *,
			     std::size_t *resp_size);
int ibv_cmd_query_port(ibv_context *, std::uint8_t port_num, ibv_port_attr *, void *cmd,
		       std::size_t cmd_size);
int ibv_cmd_alloc_pd(ibv_context *, ibv_pd *, void *cmd, std::size_t cmd_size,
		     ib_uverbs_alloc_pd_resp *, std::size_t resp_size);
int ibv_cmd_dealloc_pd(ibv_pd *);
int ibv_cmd_reg_mr(ibv_pd *, void *addr, std::size_t length, std::uint64_t iova, int access,
		   verbs_mr *, void *cmd, std::size_t cmd_size, ib_uverbs_reg_mr_resp *,
		   std::size_t resp_size);
int ibv_cmd_query_mr(ibv_pd *, verbs_mr *, std::uint32_t handle);
int ibv_cmd_rereg_mr(verbs_mr *, std::uint32_t flags, void *addr, std::size_t length,
		     std::uint64_t iova, int access, ibv_pd *, void *cmd, std::size_t cmd_size,
		     ib_uverbs_rereg_mr_resp *, std::size_t resp_size);
int ibv_cmd_dereg_mr(verbs_mr *);
int ibv_cmd_free_dm(verbs_dm *);
int ibv_cmd_reg_dm_mr(ibv_pd *, verbs_dm *, std::uint64_t offset, std::size_t length,
		      unsigned access, verbs_mr *, struct ibv_command_buffer *);
int ibv_cmd_advise_mr(ibv_pd *, ibv_advise_mr_advice, std::uint32_t flags, ibv_sge *sg_list,
		      std::uint32_t num_sge);
int ibv_cmd_alloc_mw(ibv_pd *, ibv_mw_type, ibv_mw *, void *cmd, std::size_t cmd_size,
		     ib_uverbs_alloc_mw_resp *, std::size_t resp_size);
int ibv_cmd_dealloc_mw(ibv_mw *);
int ibv_cmd_create_ah(ibv_pd *, ibv_ah *, ibv_ah_attr *, ib_uverbs_create_ah_resp *,
		      std::size_t resp_size);
int ibv_cmd_destroy_ah(ibv_ah *);
int ibv_cmd_create_cq_ex(ibv_context *, const ibv_cq_init_attr_ex *,
#if BELLHOP_PABI >= 65
			 struct verbs_create_cq_prov_attr *,
#endif
			 verbs_cq *, void *cmd, std::size_t cmd_size, ib_uverbs_ex_create_cq_resp *,
			 std::size_t resp_size, std::uint32_t cmd_flags);
int ibv_cmd_modify_cq(ibv_cq *, ibv_modify_cq_attr *, void *cmd, std::size_t cmd_size);
int ibv_cmd_resize_cq(ibv_cq *, int cqe, void *cmd, std::size_t cmd_size,
		      ib_uverbs_resize_cq_resp *, std::size_t resp_size);
int ibv_cmd_destroy_cq(ibv_cq *);
int ibv_cmd_create_qp_ex2(ibv_context *, verbs_qp *, ibv_qp_init_attr_ex *, void *cmd,
#if BELLHOP_PABI >= 65
			  std::size_t cmd_size, ib_uverbs_ex_create_qp_resp *,
			  std::size_t resp_size, struct ibv_command_buffer *);
#else
			  std::size_t cmd_size, ib_uverbs_ex_create_qp_resp *,
			  std::size_t resp_size);
#endif
int ibv_cmd_open_qp(ibv_context *, verbs_qp *, int vqp_size, ibv_qp_open_attr *, void *cmd,
		    std::size_t cmd_size, ib_uverbs_create_qp_resp *, std::size_t resp_size);
int ibv_cmd_modify_qp(ibv_qp *, ibv_qp_attr *, int attr_mask, void *cmd, std::size_t cmd_size);
int ibv_cmd_query_qp(ibv_qp *, ibv_qp_attr *, int attr_mask, ibv_qp_init_attr *, void *cmd,
		     std::size_t cmd_size);
int ibv_cmd_destroy_qp(ibv_qp *);
int ibv_cmd_attach_mcast(ibv_qp *, const ibv_gid *, std::uint16_t lid);
int ibv_cmd_detach_mcast(ibv_qp *, const ibv_gid *, std::uint16_t lid);
int ibv_cmd_create_flow(ibv_qp *, ibv_flow *, ibv_flow_attr *, void *driver_data,
			std::size_t driver_size);
int ibv_cmd_destroy_flow(ibv_flow *);
int ibv_cmd_create_wq(ibv_context *, ibv_wq_init_attr *, ibv_wq *, void *cmd, std::size_t cmd_size,
		      ib_uverbs_ex_create_wq_resp *, std::size_t resp_size);
int ibv_cmd_modify_wq(ibv_wq *, ibv_wq_attr *, void *cmd, std::size_t cmd_size);
int ibv_cmd_destroy_wq(ibv_wq *);
int ibv_cmd_create_rwq_ind_table(ibv_context *, ibv_rwq_ind_table_init_attr *, ibv_rwq_ind_table *,
				 ib_uverbs_ex_create_rwq_ind_table_resp *, std::size_t resp_size);
int ibv_cmd_destroy_rwq_ind_table(ibv_rwq_ind_table *);
int ibv_cmd_create_srq(ibv_pd *, ibv_srq *, ibv_srq_init_attr *, void *cmd, std::size_t cmd_size,
		       ib_uverbs_create_srq_resp *, std::size_t resp_size);
int ibv_cmd_create_srq_ex(ibv_context *, verbs_srq *, ibv_srq_init_attr_ex *, void *cmd,
			  std::size_t cmd_size, ib_uverbs_create_srq_resp *, std::size_t resp_size);
int ibv_cmd_modify_srq(ibv_srq *, ibv_srq_attr *, int attr_mask, void *cmd, std::size_t cmd_size);
int ibv_cmd_query_srq(ibv_srq *, ibv_srq_attr *, void *cmd, std::size_t cmd_size);
int ibv_cmd_destroy_srq(ibv_srq *);
int ibv_cmd_open_xrcd(ibv_context *, verbs_xrcd *, int vxrcd_size, ibv_xrcd_init_attr *, void *cmd,
		      std::size_t cmd_size, ib_uverbs_open_xrcd_resp *, std::size_t resp_size);
int ibv_cmd_close_xrcd(verbs_xrcd *);

} // extern "C"

namespace bellhop
{

// A request: a header, the kernel's struct, and nothing of the driver's own.
template <class Core>
struct Request {
	ib_uverbs_cmd_hdr hdr;
	Core core;
};

// The same with the driver's own struct behind. As bytes, because the kernel's ends in an array
// without a size, and C++ lets nothing follow that.
template <class Core, class Driver>
class DriverRequest
{
public:
	explicit DriverRequest(const Driver &driver) noexcept
	{
		std::memcpy(bytes_ + sizeof(Request<Core>), &driver, sizeof(driver));
	}

private:
	alignas(8) std::byte bytes_[sizeof(Request<Core>) + sizeof(Driver)]{};
};

// A request of the commands that were extended later.
template <class Core>
struct RequestEx {
	ib_uverbs_cmd_hdr hdr;
	ib_uverbs_ex_cmd_hdr ex_hdr;
	Core core;
};

// The same, with the driver's own struct behind.
template <class Core, class Driver>
struct DriverRequestEx {
	RequestEx<Core> core;
	Driver driver;
};

// An answer: the kernel's struct, then the driver's; as bytes, too.
template <class Core, class Driver>
class Response
{
public:
	Core *core() noexcept
	{
		return reinterpret_cast<Core *>(bytes_);
	}

	Driver driver() const noexcept
	{
		Driver driver;

		std::memcpy(&driver, bytes_ + sizeof(Core), sizeof(driver));
		return driver;
	}

private:
	alignas(8) std::byte bytes_[sizeof(Core) + sizeof(Driver)]{};
};

} // namespace bellhop
