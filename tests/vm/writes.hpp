// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// writes.hpp: sound commands of the uverbs write() interface, to be spoilt.
#ifndef BELLHOP_VM_WRITES_HPP
#define BELLHOP_VM_WRITES_HPP

#include <cstring>
#include "handles.hpp"
#include "noise.hpp"
#include "written.hpp"
#include <infiniband/verbs.h>
#include <rdma/bellhop-abi.h>

namespace vm
{

/** Makes sound commands. */
class Commands
{
public:
	enum Kind {
		get_context,
		query_device,
		query_port,
		alloc_pd,
		dealloc_pd,
		reg_mr,
		reg_null_mr,
		dereg_mr,
		create_channel,
		create_cq,
		resize_cq,
		move_cq,
		drop_cq_ring,
		destroy_cq,
		create_qp,
		query_qp,
		to_init,
		to_rtr,
		to_rts,
		to_reset,
		destroy_qp,
		create_datagram_qp,
		datagram_init,
		datagram_rtr,
		datagram_rts,
		datagram_reset,
		destroy_datagram_qp,
		attach_mcast,
		detach_mcast,
		create_kernel_qp,
		create_ah,
		destroy_ah,
		create_srq,
		modify_srq,
		resize_srq,
		move_srq,
		drop_srq_ring,
		query_srq,
		destroy_srq,
		post_send,
		post_recv,
		post_srq_recv,
		poll_cq,
		req_notify_cq,
		ex_query_device,
		ex_create_cq,
		ex_create_qp,
		ex_modify_qp,
		unknown,
		kinds
	};

	/** @room: memory that can be registered, of 64 KiB. */
	Commands(const Handles &handles, uint64_t room, const uint8_t *gid)
	    : handles_(handles), room_(room)
	{
		std::memcpy(gid_, gid, sizeof(gid_));
	}

	Command make(Kind kind, std::mt19937 &random, uint64_t response) const
	{
		switch (kind) {
		case get_context:
			return Command::plain(IB_USER_VERBS_CMD_GET_CONTEXT,
					      ib_uverbs_get_context{ .response = response },
					      sizeof(ib_uverbs_get_context_resp) +
						      sizeof(bellhop_alloc_ucontext_resp));
		case query_device:
			return Command::plain(IB_USER_VERBS_CMD_QUERY_DEVICE,
					      ib_uverbs_query_device{ .response = response },
					      sizeof(ib_uverbs_query_device_resp));
		case query_port:
			return Command::plain(IB_USER_VERBS_CMD_QUERY_PORT,
					      ib_uverbs_query_port{ .response = response,
								    .port_num = 1,
								    .reserved = {} },
					      sizeof(ib_uverbs_query_port_resp));
		case alloc_pd:
			return Command::plain(IB_USER_VERBS_CMD_ALLOC_PD,
					      ib_uverbs_alloc_pd{ .response = response },
					      sizeof(ib_uverbs_alloc_pd_resp), pd_object);
		case dealloc_pd:
			return Command::plain(
				IB_USER_VERBS_CMD_DEALLOC_PD,
				ib_uverbs_dealloc_pd{ handles_.some(pd_object, random) });
		case reg_mr:
			return Command::plain(
				IB_USER_VERBS_CMD_REG_MR,
				ib_uverbs_reg_mr{ .response = response,
						  .start = room_,
						  .length = 4096u << random() % 5,
						  .hca_va = room_,
						  .pd_handle = handles_.some(pd_object, random),
						  .access_flags = 7 },
				sizeof(ib_uverbs_reg_mr_resp), mr_object);
		case reg_null_mr:
			return Command::plain(
				IB_USER_VERBS_CMD_REG_MR,
				registration_of_nothing(response, handles_.some(pd_object, random)),
				sizeof(ib_uverbs_reg_mr_resp), mr_object);
		case dereg_mr:
			return Command::plain(
				IB_USER_VERBS_CMD_DEREG_MR,
				ib_uverbs_dereg_mr{ handles_.some(mr_object, random) });
		case create_channel:
			return Command::plain(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
					      ib_uverbs_create_comp_channel{ response },
					      sizeof(ib_uverbs_create_comp_channel_resp));
		case create_cq:
			return Command::plain(IB_USER_VERBS_CMD_CREATE_CQ,
					      ib_uverbs_create_cq{ .response = response,
								   .user_handle = random(),
								   .cqe = entries(random),
								   .comp_vector = 0,
								   .comp_channel = -1,
								   .reserved = 0 },
					      sizeof(ib_uverbs_create_cq_resp) +
						      sizeof(bellhop_create_cq_resp),
					      cq_object);
		case resize_cq:
		case move_cq:
		case drop_cq_ring:
			return resizing_cq(random, response, kind - resize_cq);
		case destroy_cq:
			return Command::plain(
				IB_USER_VERBS_CMD_DESTROY_CQ,
				ib_uverbs_destroy_cq{ .response = response,
						      .cq_handle = handles_.some(cq_object, random),
						      .reserved = 0 },
				sizeof(ib_uverbs_destroy_cq_resp));
		case create_qp:
			return Command::plain(
				IB_USER_VERBS_CMD_CREATE_QP,
				queue_pair<ib_uverbs_create_qp>(random, response, IBV_QPT_RC),
				sizeof(ib_uverbs_create_qp_resp) + sizeof(bellhop_create_qp_resp),
				qp_object);
		case create_datagram_qp:
			return Command::plain(
				IB_USER_VERBS_CMD_CREATE_QP,
				queue_pair<ib_uverbs_create_qp>(random, response, IBV_QPT_UD),
				sizeof(ib_uverbs_create_qp_resp) + sizeof(bellhop_create_qp_resp),
				datagram_qp_object);
		case create_kernel_qp:
			/* QPs 0 and 1 are the kernel's own. */
			return Command::plain(
				IB_USER_VERBS_CMD_CREATE_QP,
				queue_pair<ib_uverbs_create_qp>(random, response, random() % 2),
				sizeof(ib_uverbs_create_qp_resp) + sizeof(bellhop_create_qp_resp));
		case query_qp:
			return Command::plain(
				IB_USER_VERBS_CMD_QUERY_QP,
				ib_uverbs_query_qp{ .response = response,
						    .qp_handle = handles_.some(qp_object, random),
						    .attr_mask = 0xfffff },
				sizeof(ib_uverbs_query_qp_resp));
		case to_init:
		case to_rtr:
		case to_rts:
		case to_reset:
			return Command::plain(IB_USER_VERBS_CMD_MODIFY_QP, change(kind, random));
		case datagram_init:
		case datagram_rtr:
		case datagram_rts:
		case datagram_reset:
			return Command::plain(IB_USER_VERBS_CMD_MODIFY_QP,
					      change_datagram_qp(kind, random));
		case destroy_qp:
			return destroy(handles_.some(qp_object, random), response);
		case destroy_datagram_qp:
			return destroy(handles_.some(datagram_qp_object, random), response);
		case attach_mcast:
			return Command::plain(IB_USER_VERBS_CMD_ATTACH_MCAST,
					      membership<ib_uverbs_attach_mcast>(random));
		case detach_mcast:
			return Command::plain(IB_USER_VERBS_CMD_DETACH_MCAST,
					      membership<ib_uverbs_detach_mcast>(random));
		case create_ah:
			return Command::plain(IB_USER_VERBS_CMD_CREATE_AH,
					      address_handle(random, response),
					      sizeof(ib_uverbs_create_ah_resp), ah_object);
		case destroy_ah:
			return Command::plain(
				IB_USER_VERBS_CMD_DESTROY_AH,
				ib_uverbs_destroy_ah{ handles_.some(ah_object, random) });
		case create_srq:
			return Command::plain(
				IB_USER_VERBS_CMD_CREATE_SRQ,
				ib_uverbs_create_srq{ .response = response,
						      .user_handle = random(),
						      .pd_handle = handles_.some(pd_object, random),
						      .max_wr = entries(random),
						      .max_sge = 1 + uint32_t(random()) % 32,
						      .srq_limit = 0 },
				sizeof(ib_uverbs_create_srq_resp) + sizeof(bellhop_create_srq_resp),
				srq_object);
		case modify_srq:
			return Command::plain(
				IB_USER_VERBS_CMD_MODIFY_SRQ,
				ib_uverbs_modify_srq{
					.srq_handle = handles_.some(srq_object, random),
					.attr_mask = random() % 8 ? uint32_t{ IBV_SRQ_LIMIT }
								  : uint32_t(random() % 4),
					.max_wr = entries(random),
					.srq_limit = entries(random) });
		case resize_srq:
		case move_srq:
		case drop_srq_ring:
			return resizing_srq(random, response, kind - resize_srq);
		case query_srq:
			return Command::plain(IB_USER_VERBS_CMD_QUERY_SRQ,
					      ib_uverbs_query_srq{ .response = response,
								   .srq_handle = handles_.some(
									   srq_object, random),
								   .reserved = 0 },
					      sizeof(ib_uverbs_query_srq_resp));
		case destroy_srq:
			return Command::plain(IB_USER_VERBS_CMD_DESTROY_SRQ,
					      ib_uverbs_destroy_srq{ .response = response,
								     .srq_handle = handles_.some(
									     srq_object, random),
								     .reserved = 0 },
					      sizeof(ib_uverbs_destroy_srq_resp));
		case post_send:
			return post(IB_USER_VERBS_CMD_POST_SEND, datagram(random),
				    handles_.some(datagram_qp_object, random), response);
		case post_recv:
			return post(IB_USER_VERBS_CMD_POST_RECV, ib_uverbs_recv_wr{},
				    handles_.some(datagram_qp_object, random), response);
		case post_srq_recv:
			return post(IB_USER_VERBS_CMD_POST_SRQ_RECV, ib_uverbs_recv_wr{},
				    handles_.some(srq_object, random), response);
		case poll_cq:
			return Command::plain(
				IB_USER_VERBS_CMD_POLL_CQ,
				ib_uverbs_poll_cq{ .response = response,
						   .cq_handle = handles_.some(cq_object, random),
						   .ne = 1 },
				sizeof(ib_uverbs_poll_cq_resp) + sizeof(ib_uverbs_wc));
		case req_notify_cq:
			return Command::plain(
				IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
				ib_uverbs_req_notify_cq{ handles_.some(cq_object, random), 0 });
		case ex_query_device:
			return Command::extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
						 ib_uverbs_ex_query_device{}, response,
						 sizeof(ib_uverbs_ex_query_device_resp), 0);
		case ex_create_cq:
			return Command::extended(
				IB_USER_VERBS_EX_CMD_CREATE_CQ,
				ib_uverbs_ex_create_cq{ .user_handle = random(),
							.cqe = entries(random),
							.comp_vector = 0,
							.comp_channel = -1,
							.comp_mask = 0,
							.flags = uint32_t(random() % 2),
							.reserved = 0 },
				response, sizeof(ib_uverbs_ex_create_cq_resp),
				sizeof(bellhop_create_cq_resp), cq_object);
		case ex_create_qp:
			return Command::extended(
				IB_USER_VERBS_EX_CMD_CREATE_QP,
				queue_pair<ib_uverbs_ex_create_qp>(random, 0, IBV_QPT_RC), response,
				sizeof(ib_uverbs_ex_create_qp_resp), sizeof(bellhop_create_qp_resp),
				qp_object);
		case ex_modify_qp:
			return Command::extended(
				IB_USER_VERBS_EX_CMD_MODIFY_QP,
				ib_uverbs_ex_modify_qp{
					.base = change(static_cast<Kind>(to_init + random() % 4),
						       random),
					.rate_limit = 0,
					.reserved = 0 },
				response, sizeof(ib_uverbs_ex_modify_qp_resp), 0);
		default:
			return noise(handles_, random, response);
		}
	}

private:
	Command resizing_cq(std::mt19937 &random, uint64_t response, uint32_t step) const
	{
		/* The kernel's struct ends in an array without a size. */
		const struct {
			uint64_t response;
			uint32_t cq_handle, cqe;
			bellhop_resize_cq driver;
		} body = {
			response, handles_.some(cq_object, random), entries(random), { step, 0 }
		};

		return Command::plain(IB_USER_VERBS_CMD_RESIZE_CQ, body,
				      sizeof(ib_uverbs_resize_cq_resp) +
					      sizeof(bellhop_resize_cq_resp));
	}

	Command resizing_srq(std::mt19937 &random, uint64_t answer, uint32_t step) const
	{
		const struct {
			uint32_t words[4];
			bellhop_modify_srq driver;
		} body = { { handles_.some(srq_object, random), IBV_SRQ_MAX_WR, entries(random) },
			   { step, 0, step ? 0 : answer } };
		Command command = Command::plain(IB_USER_VERBS_CMD_MODIFY_SRQ, body);

		command.answers_at = { sizeof(ib_uverbs_cmd_hdr) +
				       offsetof(decltype(body), driver.answer) };
		return command;
	}

	static uint32_t entries(std::mt19937 &random)
	{
		return 1 + random() % 256;
	}

	template <typename Body>
	Body queue_pair(std::mt19937 &random, uint64_t response, unsigned type) const
	{
		Body body = {};

		if constexpr (requires { body.response; })
			body.response = response;
		body.pd_handle = handles_.some(pd_object, random);
		body.send_cq_handle = handles_.some(cq_object, random);
		body.recv_cq_handle = handles_.some(cq_object, random);
		body.max_send_wr = random() % 128;
		body.max_recv_wr = random() % 128;
		body.max_send_sge = body.max_recv_sge = 1 + random() % 32;
		body.max_inline_data = random() % 512;
		body.qp_type = static_cast<uint8_t>(type);
		if (handles_.has_any(srq_object) && random() % 4 == 0) {
			body.is_srq = 1;
			body.srq_handle = handles_.some(srq_object, random);
		}
		return body;
	}

	ib_uverbs_modify_qp change(Kind kind, std::mt19937 &random) const
	{
		ib_uverbs_modify_qp body = {};

		body.qp_handle = handles_.some(qp_object, random);
		body.qp_state = kind == to_reset ? int(IBV_QPS_RESET)
						 : IBV_QPS_INIT + (kind - int(to_init));
		body.attr_mask = IBV_QP_STATE;
		if (kind == to_init)
			body.attr_mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
		else if (kind == to_rtr)
			body.attr_mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					  IBV_QP_MIN_RNR_TIMER;
		else if (kind == to_rts)
			body.attr_mask |= IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		body.port_num = 1;
		body.qp_access_flags = 7;
		body.path_mtu = 1 + random() % 3;
		body.dest_qp_num = random() % 0x20000;
		body.timeout = 1 + random() % 8;
		std::memcpy(body.dest.dgid, gid_, sizeof(gid_));
		body.dest.is_global = 1;
		body.dest.port_num = 1;
		body.max_rd_atomic = body.max_dest_rd_atomic = 1;
		return body;
	}

	ib_uverbs_modify_qp change_datagram_qp(Kind kind, std::mt19937 &random) const
	{
		ib_uverbs_modify_qp body = {};

		body.qp_handle = handles_.some(datagram_qp_object, random);
		body.qp_state = kind == datagram_reset ? int(IBV_QPS_RESET)
						       : IBV_QPS_INIT + (kind - int(datagram_init));
		body.attr_mask = IBV_QP_STATE;
		if (kind == datagram_init)
			body.attr_mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
		else if (kind == datagram_rts)
			body.attr_mask |= IBV_QP_SQ_PSN;
		body.port_num = 1;
		body.qkey = random();
		return body;
	}

	/* Nearly always of one group and LID, so that what is attached is met again. */
	template <typename Body>
	Body membership(std::mt19937 &random) const
	{
		Body body = {};

		body.gid[0] = 0xff;
		body.gid[15] = random() % 16 == 0;
		body.qp_handle = handles_.some(datagram_qp_object, random);
		body.mlid = random() % 16 == 0;
		return body;
	}

	static Command destroy(uint32_t qp, uint64_t response)
	{
		return Command::plain(IB_USER_VERBS_CMD_DESTROY_QP,
				      ib_uverbs_destroy_qp{ .response = response,
							    .qp_handle = qp,
							    .reserved = 0 },
				      sizeof(ib_uverbs_destroy_qp_resp));
	}

	ib_uverbs_create_ah address_handle(std::mt19937 &random, uint64_t response) const
	{
		ib_uverbs_create_ah body = {};

		body.response = response;
		body.user_handle = random();
		body.pd_handle = handles_.some(pd_object, random);
		std::memcpy(body.attr.grh.dgid, gid_, sizeof(gid_));
		body.attr.grh.flow_label = random();
		body.attr.grh.hop_limit = static_cast<uint8_t>(random());
		body.attr.grh.traffic_class = static_cast<uint8_t>(random());
		body.attr.is_global = 1;
		body.attr.port_num = 1;
		return body;
	}

	/* ib_uverbs_post_send and its like for receives, which end in arrays of no length. */
	struct Posting {
		uint64_t response;
		uint32_t queue_handle;
		uint32_t wr_count;
		uint32_t sge_count;
		uint32_t wqe_size;
	};
	static_assert(sizeof(Posting) == sizeof(ib_uverbs_post_send) &&
		      sizeof(Posting) == sizeof(ib_uverbs_post_recv) &&
		      sizeof(Posting) == sizeof(ib_uverbs_post_srq_recv));

	template <typename Request>
	static Command post(uint32_t number, const Request &request, uint32_t queue,
			    uint64_t response)
	{
		struct {
			Posting head;
			Request request;
		} body = { { .response = response,
			     .queue_handle = queue,
			     .wr_count = 1,
			     .sge_count = 0,
			     .wqe_size = sizeof(request) },
			   request };

		return Command::plain(number, body, sizeof(ib_uverbs_post_send_resp));
	}

	ib_uverbs_send_wr datagram(std::mt19937 &random) const
	{
		ib_uverbs_send_wr wr = {};

		wr.opcode = IB_UVERBS_WR_SEND;
		wr.wr.ud.ah = handles_.some(ah_object, random);
		wr.wr.ud.remote_qpn = random() % 0x20000;
		wr.wr.ud.remote_qkey = random();
		return wr;
	}

	const Handles &handles_;
	uint64_t room_;
	uint8_t gid_[16];
};

} // namespace vm

#endif
