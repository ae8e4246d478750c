// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mw.cpp: memory windows.
#include "mw.hpp"

#include <cerrno>
#include "heap.hpp"
#include "queue_pair.hpp"

namespace bellhop
{

ibv_mw *alloc_mw(ibv_pd *pd, ibv_mw_type type) noexcept
{
	auto mw = make<ibv_mw>();
	Request<ib_uverbs_alloc_mw> request{};
	ib_uverbs_alloc_mw_resp response{};
	int error = !mw ? ENOMEM
			: ibv_cmd_alloc_mw(pd, type, mw.get(), &request, sizeof(request), &response,
					   sizeof(response));

	if (error) {
		errno = error;
		return nullptr;
	}
	return mw.release();
}

int dealloc_mw(ibv_mw *mw) noexcept
{
	if (int error = ibv_cmd_dealloc_mw(mw))
		return error;
	dispose(mw);
	return 0;
}

int bind_mw(ibv_qp *ibv_qp, ibv_mw *mw, ibv_mw_bind *bind) noexcept
{
	auto *qp = QueuePair::of(ibv_qp);
	// Each bind has another key, so that it ends what the one before has granted.
	const std::uint32_t rkey = ibv_inc_rkey(mw->rkey);
	const BindRequest request{ .wr_id = bind->wr_id,
				   .flags = bind->send_flags,
				   .rkey = rkey,
				   .info = bind->bind_info };
	int error = qp->is_locked() ? qp->send.bind<true>(request) : qp->send.bind<false>(request);

	if (!error)
		mw->rkey = rkey;
	return error;
}

} // namespace bellhop
