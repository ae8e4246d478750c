// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// work_request.cpp: the ibv_wr_* calls of an extended QP.
#include "work_request.hpp"

#include "queue_pair.hpp"

namespace bellhop
{

namespace
{

SendQueue &queue_of(ibv_qp_ex *qp) noexcept
{
	return QueuePair::of(qp)->send;
}

template <bool Locked>
void wr_start(ibv_qp_ex *qp) noexcept
{
	queue_of(qp).start<Locked>();
}

template <bool Locked>
int wr_complete(ibv_qp_ex *qp) noexcept
{
	return queue_of(qp).complete<Locked>();
}

template <bool Locked>
void wr_abort(ibv_qp_ex *qp) noexcept
{
	queue_of(qp).abort<Locked>();
}

void wr_send(ibv_qp_ex *qp) noexcept
{
	queue_of(qp).build(BELLHOP_WR_SEND, *qp, 0, 0, 0);
}

void wr_send_imm(ibv_qp_ex *qp, __be32 imm_data) noexcept
{
	queue_of(qp).build(BELLHOP_WR_SEND_WITH_IMM, *qp, imm_data, 0, 0);
}

void wr_rdma_write(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t remote_addr) noexcept
{
	queue_of(qp).build(BELLHOP_WR_RDMA_WRITE, *qp, 0, rkey, remote_addr);
}

void wr_rdma_write_imm(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t remote_addr,
		       __be32 imm_data) noexcept
{
	queue_of(qp).build(BELLHOP_WR_RDMA_WRITE_WITH_IMM, *qp, imm_data, rkey, remote_addr);
}

void wr_rdma_read(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t remote_addr) noexcept
{
	queue_of(qp).build(BELLHOP_WR_RDMA_READ, *qp, 0, rkey, remote_addr);
}

void wr_atomic_cmp_swp(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t remote_addr,
		       std::uint64_t compare, std::uint64_t swap) noexcept
{
	queue_of(qp).build(BELLHOP_WR_ATOMIC_CMP_AND_SWP, *qp, 0, rkey, remote_addr);
	queue_of(qp).set_operands(compare, swap);
}

void wr_atomic_fetch_add(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t remote_addr,
			 std::uint64_t add) noexcept
{
	queue_of(qp).build(BELLHOP_WR_ATOMIC_FETCH_AND_ADD, *qp, 0, rkey, remote_addr);
	queue_of(qp).set_operands(add, 0);
}

void wr_atomic_write(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t remote_addr,
		     const void *atomic_wr) noexcept
{
	std::uint64_t word;

	std::memcpy(&word, atomic_wr, sizeof(word));
	queue_of(qp).build(BELLHOP_WR_ATOMIC_WRITE, *qp, 0, rkey, remote_addr);
	queue_of(qp).set_operands(word, 0);
}

void wr_send_inv(ibv_qp_ex *qp, std::uint32_t invalidate_rkey) noexcept
{
	queue_of(qp).build(BELLHOP_WR_SEND_WITH_INV, *qp, invalidate_rkey, 0, 0);
}

void wr_local_inv(ibv_qp_ex *qp, std::uint32_t invalidate_rkey) noexcept
{
	queue_of(qp).build(BELLHOP_WR_LOCAL_INV, *qp, invalidate_rkey, 0, 0);
}

void wr_bind_mw(ibv_qp_ex *qp, ibv_mw *mw, std::uint32_t rkey,
		const ibv_mw_bind_info *bind_info) noexcept
{
	queue_of(qp).build(BELLHOP_WR_BIND_MW, *qp, rkey, 0, 0);
	queue_of(qp).set_bind(mw, rkey, *bind_info);
}

void wr_set_ud_addr(ibv_qp_ex *qp, ibv_ah *ah, std::uint32_t remote_qpn,
		    std::uint32_t remote_qkey) noexcept
{
	queue_of(qp).set_address(ah, remote_qpn, remote_qkey);
}

void wr_set_xrc_srqn(ibv_qp_ex *qp, std::uint32_t remote_srqn) noexcept
{
	queue_of(qp).set_srqn(remote_srqn);
}

void wr_set_sge(ibv_qp_ex *qp, std::uint32_t lkey, std::uint64_t addr,
		std::uint32_t length) noexcept
{
	ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	queue_of(qp).set_elements(&sge, 1);
}

void wr_set_sge_list(ibv_qp_ex *qp, std::size_t num_sge, const ibv_sge *sg_list) noexcept
{
	queue_of(qp).set_elements(sg_list, num_sge);
}

void wr_set_inline_data(ibv_qp_ex *qp, void *addr, std::size_t length) noexcept
{
	ibv_data_buf buf = { .addr = addr, .length = length };

	queue_of(qp).set_inline(&buf, 1);
}

void wr_set_inline_data_list(ibv_qp_ex *qp, std::size_t num_buf,
			     const ibv_data_buf *buf_list) noexcept
{
	queue_of(qp).set_inline(buf_list, num_buf);
}

template <bool Locked>
void offer_session(ibv_qp_ex &calls) noexcept
{
	calls.wr_start = wr_start<Locked>;
	calls.wr_complete = wr_complete<Locked>;
	calls.wr_abort = wr_abort<Locked>;
}

} // namespace

void offer_work_requests(QueuePair &qp, std::uint64_t send_ops_flags) noexcept
{
	ibv_qp_ex &calls = qp.qp_ex;

	if (qp.is_locked())
		offer_session<true>(calls);
	else
		offer_session<false>(calls);
	if (send_ops_flags & IBV_QP_EX_WITH_SEND)
		calls.wr_send = wr_send;
	if (send_ops_flags & IBV_QP_EX_WITH_SEND_WITH_IMM)
		calls.wr_send_imm = wr_send_imm;
	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_WRITE)
		calls.wr_rdma_write = wr_rdma_write;
	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		calls.wr_rdma_write_imm = wr_rdma_write_imm;
	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_READ)
		calls.wr_rdma_read = wr_rdma_read;
	if (send_ops_flags & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		calls.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (send_ops_flags & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		calls.wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (send_ops_flags & IBV_QP_EX_WITH_ATOMIC_WRITE)
		calls.wr_atomic_write = wr_atomic_write;
	if (send_ops_flags & IBV_QP_EX_WITH_SEND_WITH_INV)
		calls.wr_send_inv = wr_send_inv;
	if (send_ops_flags & IBV_QP_EX_WITH_LOCAL_INV)
		calls.wr_local_inv = wr_local_inv;
	if (send_ops_flags & IBV_QP_EX_WITH_BIND_MW)
		calls.wr_bind_mw = wr_bind_mw;
	if (qp.qp.qp_type == IBV_QPT_UD)
		calls.wr_set_ud_addr = wr_set_ud_addr;
	if (qp.qp.qp_type == IBV_QPT_XRC_SEND)
		calls.wr_set_xrc_srqn = wr_set_xrc_srqn;
	calls.wr_set_sge = wr_set_sge;
	calls.wr_set_sge_list = wr_set_sge_list;
	calls.wr_set_inline_data = wr_set_inline_data;
	calls.wr_set_inline_data_list = wr_set_inline_data_list;
}

} // namespace bellhop
