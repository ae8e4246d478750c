// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// operations.cpp: the table of what bellhop answers itself.
#include "operations.hpp"

#include "ah.hpp"
#include "completion_queue.hpp"
#include "context.hpp"
#include "device.hpp"
#include "dm.hpp"
#include "flow.hpp"
#include "mr.hpp"
#include "mw.hpp"
#include "pd.hpp"
#include "queue_pair.hpp"
#include "shared_queue.hpp"
#include "tagged.hpp"
#include "thread_domain.hpp"
#include "wq.hpp"
#include "xrc_domain.hpp"

namespace bellhop
{

constinit const verbs_context_ops OPERATIONS = [] {
	verbs_context_ops ops{};

	ops.advise_mr = ibv_cmd_advise_mr;
	ops.alloc_dm = alloc_dm;
	ops.alloc_mw = alloc_mw;
	ops.alloc_null_mr = alloc_null_mr;
	ops.alloc_parent_domain = alloc_parent_domain;
	ops.alloc_pd = alloc_pd;
	ops.alloc_td = alloc_td;
	ops.attach_mcast = ibv_cmd_attach_mcast;
	ops.bind_mw = bind_mw;
	ops.close_xrcd = close_xrcd;
	ops.create_ah = create_ah;
	ops.create_cq = create_cq;
	ops.create_cq_ex = create_cq_ex;
	ops.create_flow = create_flow;
	ops.create_qp = create_qp;
	ops.create_qp_ex = create_qp_ex;
	ops.create_rwq_ind_table = create_rwq_ind_table;
	ops.create_srq = create_srq;
	ops.create_srq_ex = create_srq_ex;
	ops.create_wq = create_wq;
	ops.dealloc_mw = dealloc_mw;
	ops.dealloc_pd = dealloc_pd;
	ops.dealloc_td = dealloc_td;
	ops.dereg_mr = dereg_mr;
	ops.destroy_ah = destroy_ah;
	ops.destroy_cq = destroy_cq;
	ops.destroy_flow = destroy_flow;
	ops.destroy_qp = destroy_qp;
	ops.destroy_rwq_ind_table = destroy_rwq_ind_table;
	ops.destroy_srq = destroy_srq;
	ops.destroy_wq = destroy_wq;
	ops.detach_mcast = ibv_cmd_detach_mcast;
	ops.free_context = free_context;
	ops.free_dm = free_dm;
	ops.get_srq_num = get_srq_num;
	ops.import_dm = import_dm;
	ops.import_mr = import_mr;
	ops.import_pd = import_pd;
	ops.modify_cq = modify_cq;
	ops.modify_qp = modify_qp;
	ops.modify_srq = modify_srq;
	ops.modify_wq = modify_wq;
	ops.open_qp = open_qp;
	ops.open_xrcd = open_xrcd;
	ops.poll_cq = poll_cq;
	ops.post_recv = post_recv;
	ops.post_send = post_send;
	ops.post_srq_ops = post_srq_ops;
	ops.post_srq_recv = post_srq_recv;
	ops.query_device_ex = query_device_ex;
	ops.query_port = query_port;
	ops.query_qp = query_qp;
	ops.query_rt_values = query_rt_values;
	ops.query_srq = query_srq;
	ops.reg_dm_mr = reg_dm_mr;
	ops.reg_dmabuf_mr = reg_dmabuf_mr;
	ops.reg_mr = reg_mr;
	ops.req_notify_cq = req_notify_cq;
	ops.rereg_mr = rereg_mr;
	ops.resize_cq = resize_cq;
	ops.unimport_dm = unimport_dm;
	ops.unimport_mr = unimport_mr;
	ops.unimport_pd = unimport_pd;
	return ops;
}();

} // namespace bellhop
