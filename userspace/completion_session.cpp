// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// completion_session.cpp: the calls of an extended CQ that poll and read one completion at a time.
#include "completion_session.hpp"

#include "completion_queue.hpp"

namespace bellhop
{

namespace
{

template <bool Locked>
int start_poll(ibv_cq_ex *cq, ibv_poll_cq_attr *attr) noexcept
{
	return CompletionQueue::of(cq)->start<Locked>(*attr);
}

int next_poll(ibv_cq_ex *cq) noexcept
{
	return CompletionQueue::of(cq)->next();
}

template <bool Locked>
void end_poll(ibv_cq_ex *cq) noexcept
{
	CompletionQueue::of(cq)->end<Locked>();
}

const bellhop_cqe &current(ibv_cq_ex *cq) noexcept
{
	return CompletionQueue::of(cq)->current();
}

// A reader of one field, under the name and type that struct ibv_cq_ex gives it.
template <class Value, auto Field>
Value read(ibv_cq_ex *cq) noexcept
{
	return static_cast<Value>(current(cq).*Field);
}

// It is told with the completion that says which buffer the message has matched.
void read_tm_info(ibv_cq_ex *cq, ibv_wc_tm_info *info) noexcept
{
	const bellhop_cqe &cqe = current(cq);

	*info = {};
	if (cqe.wc_flags & BELLHOP_WC_TM_MATCH)
		*info = { .tag = cqe.tag, .priv = cqe.tag_context };
}

// A field of addressing that RoCE does not have.
template <class Value>
Value read_none(ibv_cq_ex *) noexcept
{
	return 0;
}

} // namespace

void offer_completion_session(CompletionQueue &cq, std::uint64_t wc_flags) noexcept
{
	ibv_cq_ex &calls = cq.cq_ex;

	calls.start_poll = cq.is_locked() ? start_poll<true> : start_poll<false>;
	calls.next_poll = next_poll;
	calls.end_poll = cq.is_locked() ? end_poll<true> : end_poll<false>;
	calls.read_opcode = read<ibv_wc_opcode, &bellhop_cqe::opcode>;
	calls.read_vendor_err = read<std::uint32_t, &bellhop_cqe::vendor_err>;
	calls.read_wc_flags = read<unsigned int, &bellhop_cqe::wc_flags>;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		calls.read_byte_len = read<std::uint32_t, &bellhop_cqe::byte_len>;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		calls.read_imm_data = read<__be32, &bellhop_cqe::ex>;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		calls.read_qp_num = read<std::uint32_t, &bellhop_cqe::qpn>;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		calls.read_src_qp = read<std::uint32_t, &bellhop_cqe::src_qp>;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		calls.read_slid = read_none<std::uint32_t>;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		calls.read_sl = read<std::uint8_t, &bellhop_cqe::sl>;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		calls.read_dlid_path_bits = read_none<std::uint8_t>;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		calls.read_completion_ts = read<std::uint64_t, &bellhop_cqe::timestamp>;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		calls.read_completion_wallclock_ns = read<std::uint64_t, &bellhop_cqe::wallclock>;
	if (wc_flags & IBV_WC_EX_WITH_TM_INFO)
		calls.read_tm_info = read_tm_info;
}

} // namespace bellhop
