// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wq.hpp: receive work queues, and the tables by which frames are spread over them.
#pragma once

#include "queue_pair.hpp"

namespace bellhop
{

// To the kernel it is a QP that only receives, and so it is here.
struct ReceiveWorkQueue : ibv_wq {
	// is_locked, domain: as of QueuePair.
	ReceiveWorkQueue(bool is_locked, ibv_pd *domain) noexcept
	    : ibv_wq{}, receiver(is_locked, domain)
	{
	}

	static ReceiveWorkQueue *of(ibv_wq *wq) noexcept
	{
		return static_cast<ReceiveWorkQueue *>(wq);
	}

	QueuePair receiver;
};

// Operations of libibverbs. Those that create return null and set errno; the others return 0
// or an errno.
ibv_wq *create_wq(ibv_context *context, ibv_wq_init_attr *attr) noexcept;
int modify_wq(ibv_wq *wq, ibv_wq_attr *attr) noexcept;
int destroy_wq(ibv_wq *wq) noexcept;
ibv_rwq_ind_table *create_rwq_ind_table(ibv_context *context,
					ibv_rwq_ind_table_init_attr *attr) noexcept;
int destroy_rwq_ind_table(ibv_rwq_ind_table *table) noexcept;

} // namespace bellhop
