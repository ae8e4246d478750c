// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// request.hpp: work requests, posted the old way or by ibv_wr_*(), and what completes them.
#ifndef BELLHOP_VM_REQUEST_HPP
#define BELLHOP_VM_REQUEST_HPP

#include <vector>
#include <gtest/gtest.h>
#include <rdma/bellhop-abi.h>
#include "qp.hpp"

namespace vm
{

/** What is to be sent. */
struct Send {
	ibv_wr_opcode opcode = IBV_WR_SEND;
	std::vector<ibv_sge> sges = {};
	uint64_t remote = 0;
	uint32_t rkey = 0;
	__be32 imm = 0;
	unsigned flags = IBV_SEND_SIGNALED;
	uint64_t id = 0;
	ibv_ah *ah = nullptr; /* of a datagram, as are these: */
	uint32_t qpn = 0;
	uint32_t qkey = 0;
	uint64_t compare_add = 0; /* of an atomic, as is this: */
	uint64_t swap = 0;
	uint32_t srqn = 0; /* of XRC: which SRQ it is for */

	bool is_atomic() const
	{
		return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	}
};

/** The work request for @send, which must outlive it. */
inline ibv_send_wr to_wr(const Send &send)
{
	ibv_send_wr wr = {};

	wr.wr_id = send.id;
	wr.sg_list = const_cast<ibv_sge *>(send.sges.data());
	wr.num_sge = static_cast<int>(send.sges.size());
	wr.opcode = send.opcode;
	wr.send_flags = send.flags;
	wr.imm_data = send.imm;
	wr.qp_type.xrc.remote_srqn = send.srqn;
	if (send.ah) {
		wr.wr.ud = { send.ah, send.qpn, send.qkey };
	} else if (send.is_atomic()) {
		wr.wr.atomic = { send.remote, send.compare_add, send.swap, send.rkey };
	} else {
		wr.wr.rdma.remote_addr = send.remote;
		wr.wr.rdma.rkey = send.rkey;
	}
	return wr;
}

/** ibv_post_send(). Returns 0 or an errno. */
inline int post(const Qp &qp, const Send &send)
{
	ibv_send_wr wr = to_wr(send), *bad = nullptr;
	int error = ibv_post_send(qp.get(), &wr, &bad);

	EXPECT_TRUE(!error || bad == &wr) << "bad_wr is not the request that failed";
	return error;
}

/** The same by ibv_wr_*(). Returns 0 or an errno. */
inline int post_extended(const Qp &qp, const Send &send)
{
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());

	require(ex, "the QP has no ibv_qp_ex");
	ibv_wr_start(ex);
	ex->wr_id = send.id;
	ex->wr_flags = send.flags & ~IBV_SEND_INLINE;
	switch (send.opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(ex);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(ex, send.imm);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(ex, send.rkey, send.remote);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(ex, send.rkey, send.remote, send.imm);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(ex, send.rkey, send.remote);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(ex, send.rkey, send.remote, send.compare_add, send.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(ex, send.rkey, send.remote, send.compare_add);
		break;
	default:
		ibv_wr_abort(ex);
		return EINVAL;
	}
	if (send.ah)
		ibv_wr_set_ud_addr(ex, send.ah, send.qpn, send.qkey);
	if (send.srqn)
		ibv_wr_set_xrc_srqn(ex, send.srqn);
	if (send.flags & IBV_SEND_INLINE) {
		std::vector<ibv_data_buf> buffers;

		for (const ibv_sge &sge : send.sges)
			buffers.push_back({ reinterpret_cast<void *>(sge.addr), sge.length });
		ibv_wr_set_inline_data_list(ex, buffers.size(), buffers.data());
	} else {
		ibv_wr_set_sge_list(ex, send.sges.size(), send.sges.data());
	}
	return ibv_wr_complete(ex);
}

/** ibv_post_recv(). Returns 0 or an errno. */
inline int post_recv(const Qp &qp, std::vector<ibv_sge> sges, uint64_t id = 0)
{
	ibv_recv_wr wr = {}, *bad = nullptr;

	wr.wr_id = id;
	wr.sg_list = sges.data();
	wr.num_sge = static_cast<int>(sges.size());
	int error = ibv_post_recv(qp.get(), &wr, &bad);
	EXPECT_TRUE(!error || bad == &wr) << "bad_wr is not the request that failed";
	return error;
}

/** Expects the next completion of @cq to be that of @id on @qp, and to have @status. */
inline ibv_wc expect(const Cq &cq, const Qp &qp, uint64_t id, ibv_wc_status status = IBV_WC_SUCCESS,
		     std::source_location where = std::source_location::current())
{
	ibv_wc wc = cq.next(patience, where);

	EXPECT_EQ(wc.status, status) << "got " << ibv_wc_status_str(wc.status) << ", expected "
				     << ibv_wc_status_str(status) << ", vendor_err "
				     << wc.vendor_err << ", line " << where.line();
	EXPECT_EQ(wc.wr_id, id) << "line " << where.line();
	EXPECT_EQ(wc.qp_num, qp.get()->qp_num) << "line " << where.line();
	return wc;
}

/** Expects @cq to stay empty for @seconds. */
inline void expect_none(const Cq &cq, double seconds = 0.05,
			std::source_location where = std::source_location::current())
{
	std::optional<ibv_wc> wc = cq.wait(seconds);

	EXPECT_FALSE(wc) << "unexpected completion of " << wc->wr_id << ": "
			 << ibv_wc_status_str(wc->status) << ", line " << where.line();
}

/** Expects a failed completion to say why, if the device is one that does. */
inline void expect_reason(const ibv_wc &wc, bellhop_reason reason,
			  std::source_location where = std::source_location::current())
{
	if (is_bellhop())
		EXPECT_EQ(wc.vendor_err, static_cast<uint32_t>(reason)) << "line " << where.line();
}

/** Expects the next event of @device to be @type, of @qp. */
inline void expect_event(const Device &device, ibv_event_type type, const Qp &qp,
			 std::source_location where = std::source_location::current())
{
	std::optional<ibv_async_event> event = device.next_event();

	require(event.has_value(), std::string("no ") + ibv_event_type_str(type) + " in time",
		where);
	EXPECT_EQ(event->event_type, type)
		<< "got " << ibv_event_type_str(event->event_type) << ", expected "
		<< ibv_event_type_str(type) << ", line " << where.line();
	if (event->event_type == type)
		EXPECT_EQ(event->element.qp, qp.get()) << "line " << where.line();
}

/** Expects no event of @device for @seconds. */
inline void expect_no_event(const Device &device, double seconds = 0.05,
			    std::source_location where = std::source_location::current())
{
	std::optional<ibv_async_event> event = device.next_event(seconds);

	EXPECT_FALSE(event) << "unexpected " << ibv_event_type_str(event->event_type) << ", line "
			    << where.line();
}

} // namespace vm

#endif
