// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// letters.hpp: datagrams of a QP to itself, for attackers whose memory may be gone.
#ifndef BELLHOP_VM_LETTERS_HPP
#define BELLHOP_VM_LETTERS_HPP

#include <algorithm>
#include "datagram.hpp"

namespace vm
{

/** A QP that sends datagrams to itself. */
class Letters
{
public:
	Letters(const Device &device, const Pd &pd)
	    : cq_(device, 64), qp_(device, pd.get(), cq_, cq_, { .type = IBV_QPT_UD }),
	      ah_(pd, device.gid())
	{
		require_errno(!(errno = qp_.open(qkey)), "to RTS");
	}

	/** Sends from one place to another. Returns whether it arrived; a QP that has failed
	 * begins again. */
	bool exchange(ibv_sge from, const ibv_sge &to)
	{
		from.length = std::min(from.length, 1024u);
		require(!post_recv(qp_, { to }, 1), "ibv_post_recv");
		post(qp_, { .opcode = IBV_WR_SEND,
			    .sges = { from },
			    .flags = IBV_SEND_SIGNALED,
			    .ah = ah_.get(),
			    .qpn = qp_.get()->qp_num,
			    .qkey = qkey });
		/* A failed one is the last. */
		bool succeeds = true;
		for (int i = 0; i < 2 && succeeds; i++) {
			const std::optional<ibv_wc> wc = cq_.wait();

			if (!wc)
				_exit(2);
			succeeds = wc->status == IBV_WC_SUCCESS;
		}
		if (succeeds)
			return true;
		qp_.modify(to_state(IBV_QPS_RESET));
		require_errno(!(errno = qp_.open(qkey)), "to RTS");
		return false;
	}

private:
	static constexpr uint32_t qkey = 0x22222222;

	Cq cq_;
	Qp qp_;
	AddressHandle ah_;
};

} // namespace vm

#endif
