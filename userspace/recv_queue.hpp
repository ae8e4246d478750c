// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// recv_queue.hpp: the receive side of a QP. Open in every state but RESET.
#pragma once

#include <infiniband/verbs.h>
#include "work_queue.hpp"

namespace bellhop
{

class RecvQueue : public WorkQueue
{
public:
	// As ibv_post_recv(): 0, EINVAL or ENOMEM. What stands before *bad_wr is posted.
	template <bool Locked>
	int post(const ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
	{
		bool published;
		int error = append<Locked, encode_recv>(wr, bad_wr, published);

		if (published)
			kick_if_wanted();
		return error;
	}

private:
	void kick_if_wanted() noexcept
	{
		fence_before_kick();
		if (ring_.wanted())
			kick_->run(qpn_);
	}
};

} // namespace bellhop
