// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// writes.hpp: sound commands of the uverbs write() interface, to be spoilt.
#ifndef BELLHOP_VM_WRITES_HPP
#define BELLHOP_VM_WRITES_HPP

#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <vector>
#include <infiniband/verbs.h>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_user_verbs.h>

namespace vm
{

/** The kinds of objects that have handles. */
enum ObjectKind {
	pd_object,
	mr_object,
	cq_object,
	qp_object,
	object_kinds
};

/** Handles that the kernel has given out, and need not be good any more. Any thread. */
class Handles
{
public:
	void add(ObjectKind kind, uint32_t handle)
	{
		places_[kind][next_++ % places_[kind].size()] = handle;
	}

	/** From now on there is only this one. */
	void fill(ObjectKind kind, uint32_t handle)
	{
		for (std::atomic<uint32_t> &place : places_[kind])
			place = handle;
	}

	/** One that was given out for such an object; now and then another's, or a guess. */
	uint32_t some(ObjectKind kind, std::mt19937 &random) const
	{
		const unsigned chance = random() % 64;

		if (chance == 0)
			return random();
		if (chance == 1)
			return random() % 64;
		if (chance == 2)
			kind = static_cast<ObjectKind>(random() % object_kinds);
		return places_[kind][random() % places_[kind].size()];
	}

private:
	std::array<std::array<std::atomic<uint32_t>, 8>, object_kinds> places_ = {};
	std::atomic<uint32_t> next_ = 0;
};

/** A command as it is handed to write(), and where in it to find what. */
struct Command {
	std::vector<uint8_t> bytes;
	size_t response_at = 0; /* of the response's address; 0: there is none */
	int makes = -1; /* an ObjectKind: the response begins with its handle */
};

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
		dereg_mr,
		create_channel,
		create_cq,
		destroy_cq,
		create_qp,
		query_qp,
		to_init,
		to_rtr,
		to_rts,
		to_reset,
		destroy_qp,
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
			return plain(IB_USER_VERBS_CMD_GET_CONTEXT,
				     ib_uverbs_get_context{ .response = response },
				     sizeof(ib_uverbs_get_context_resp) +
					     sizeof(bellhop_alloc_ucontext_resp));
		case query_device:
			return plain(IB_USER_VERBS_CMD_QUERY_DEVICE,
				     ib_uverbs_query_device{ .response = response },
				     sizeof(ib_uverbs_query_device_resp));
		case query_port:
			return plain(IB_USER_VERBS_CMD_QUERY_PORT,
				     ib_uverbs_query_port{
					     .response = response, .port_num = 1, .reserved = {} },
				     sizeof(ib_uverbs_query_port_resp));
		case alloc_pd:
			return plain(IB_USER_VERBS_CMD_ALLOC_PD,
				     ib_uverbs_alloc_pd{ .response = response },
				     sizeof(ib_uverbs_alloc_pd_resp), pd_object);
		case dealloc_pd:
			return plain(IB_USER_VERBS_CMD_DEALLOC_PD,
				     ib_uverbs_dealloc_pd{ handles_.some(pd_object, random) });
		case reg_mr:
			return plain(
				IB_USER_VERBS_CMD_REG_MR,
				ib_uverbs_reg_mr{ .response = response,
						  .start = room_,
						  .length = 4096u << random() % 5,
						  .hca_va = room_,
						  .pd_handle = handles_.some(pd_object, random),
						  .access_flags = 7 },
				sizeof(ib_uverbs_reg_mr_resp), mr_object);
		case dereg_mr:
			return plain(IB_USER_VERBS_CMD_DEREG_MR,
				     ib_uverbs_dereg_mr{ handles_.some(mr_object, random) });
		case create_channel:
			return plain(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
				     ib_uverbs_create_comp_channel{ response },
				     sizeof(ib_uverbs_create_comp_channel_resp));
		case create_cq:
			return plain(IB_USER_VERBS_CMD_CREATE_CQ,
				     ib_uverbs_create_cq{ .response = response,
							  .user_handle = random(),
							  .cqe = entries(random),
							  .comp_vector = 0,
							  .comp_channel = -1,
							  .reserved = 0 },
				     sizeof(ib_uverbs_create_cq_resp) +
					     sizeof(bellhop_create_cq_resp),
				     cq_object);
		case destroy_cq:
			return plain(
				IB_USER_VERBS_CMD_DESTROY_CQ,
				ib_uverbs_destroy_cq{ .response = response,
						      .cq_handle = handles_.some(cq_object, random),
						      .reserved = 0 },
				sizeof(ib_uverbs_destroy_cq_resp));
		case create_qp:
			return plain(IB_USER_VERBS_CMD_CREATE_QP,
				     queue_pair<ib_uverbs_create_qp>(random, response),
				     sizeof(ib_uverbs_create_qp_resp) +
					     sizeof(bellhop_create_qp_resp),
				     qp_object);
		case query_qp:
			return plain(
				IB_USER_VERBS_CMD_QUERY_QP,
				ib_uverbs_query_qp{ .response = response,
						    .qp_handle = handles_.some(qp_object, random),
						    .attr_mask = 0xfffff },
				sizeof(ib_uverbs_query_qp_resp));
		case to_init:
		case to_rtr:
		case to_rts:
		case to_reset:
			return plain(IB_USER_VERBS_CMD_MODIFY_QP, change(kind, random));
		case destroy_qp:
			return plain(
				IB_USER_VERBS_CMD_DESTROY_QP,
				ib_uverbs_destroy_qp{ .response = response,
						      .qp_handle = handles_.some(qp_object, random),
						      .reserved = 0 },
				sizeof(ib_uverbs_destroy_qp_resp));
		case ex_query_device:
			return extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
					ib_uverbs_ex_query_device{}, response,
					sizeof(ib_uverbs_ex_query_device_resp), 0);
		case ex_create_cq:
			return extended(IB_USER_VERBS_EX_CMD_CREATE_CQ,
					ib_uverbs_ex_create_cq{ .user_handle = random(),
								.cqe = entries(random),
								.comp_vector = 0,
								.comp_channel = -1,
								.comp_mask = 0,
								.flags = 0,
								.reserved = 0 },
					response, sizeof(ib_uverbs_ex_create_cq_resp),
					sizeof(bellhop_create_cq_resp), cq_object);
		case ex_create_qp:
			return extended(IB_USER_VERBS_EX_CMD_CREATE_QP,
					queue_pair<ib_uverbs_ex_create_qp>(random, 0), response,
					sizeof(ib_uverbs_ex_create_qp_resp),
					sizeof(bellhop_create_qp_resp), qp_object);
		case ex_modify_qp:
			return extended(
				IB_USER_VERBS_EX_CMD_MODIFY_QP,
				ib_uverbs_ex_modify_qp{
					.base = change(static_cast<Kind>(to_init + random() % 4),
						       random),
					.rate_limit = 0,
					.reserved = 0 },
				response, sizeof(ib_uverbs_ex_modify_qp_resp), 0);
		default:
			return noise(random, response);
		}
	}

private:
	template <typename Body>
	static void append(std::vector<uint8_t> &bytes, const Body &body)
	{
		const auto *start = reinterpret_cast<const uint8_t *>(&body);

		bytes.insert(bytes.end(), start, start + sizeof(body));
	}

	template <typename Body>
	static Command plain(uint32_t number, const Body &body, size_t out = 0, int makes = -1)
	{
		Command command;
		const ib_uverbs_cmd_hdr head = {
			number, static_cast<uint16_t>((sizeof(head) + sizeof(body)) / 4),
			static_cast<uint16_t>(out / 4)
		};

		append(command.bytes, head);
		append(command.bytes, body);
		command.response_at = out ? sizeof(head) : 0;
		command.makes = makes;
		return command;
	}

	template <typename Body>
	static Command extended(uint32_t number, const Body &body, uint64_t response, size_t out,
				size_t driver_out, int makes = -1)
	{
		Command command;
		const ib_uverbs_cmd_hdr head = { number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
						 static_cast<uint16_t>(sizeof(body) / 8),
						 static_cast<uint16_t>(out / 8) };
		const ib_uverbs_ex_cmd_hdr more = { response, 0,
						    static_cast<uint16_t>(driver_out / 8), 0 };

		append(command.bytes, head);
		append(command.bytes, more);
		append(command.bytes, body);
		command.response_at = sizeof(head);
		command.makes = makes;
		return command;
	}

	static uint32_t entries(std::mt19937 &random)
	{
		return 1 + random() % 256;
	}

	template <typename Body>
	Body queue_pair(std::mt19937 &random, uint64_t response) const
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
		body.qp_type = IBV_QPT_RC;
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

	/* Commands that the device has not, and bodies that no command has. */
	Command noise(std::mt19937 &random, uint64_t response) const
	{
		Command command;
		const size_t words = random() % 64;
		const uint32_t number = random() % 64;

		for (size_t i = 0; i < words; i++)
			append(command.bytes, random() % 4 ? handles_.some(qp_object, random)
							   : static_cast<uint32_t>(random()));
		if (words >= 2)
			std::memcpy(command.bytes.data(), &response, sizeof(response));
		const ib_uverbs_cmd_hdr head = {
			random() % 2 ? number : number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
			static_cast<uint16_t>(words + 2), static_cast<uint16_t>(random() % 64)
		};
		const auto *start = reinterpret_cast<const uint8_t *>(&head);
		command.bytes.insert(command.bytes.begin(), start, start + sizeof(head));
		command.response_at = words >= 2 ? sizeof(head) : 0;
		return command;
	}

	const Handles &handles_;
	uint64_t room_;
	uint8_t gid_[16];
};

} // namespace vm

#endif
