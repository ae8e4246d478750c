// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// window.hpp: memory windows, and the requests that bind and invalidate them.
#ifndef BELLHOP_VM_WINDOW_HPP
#define BELLHOP_VM_WINDOW_HPP

#include "request.hpp"

namespace vm
{

/** A memory window. */
class Window
{
public:
	Window(const Pd &pd, ibv_mw_type type) : mw_(ibv_alloc_mw(pd.get(), type))
	{
		require_errno(mw_, "ibv_alloc_mw");
	}

	~Window()
	{
		if (mw_)
			ibv_dealloc_mw(mw_);
	}

	Window(const Window &) = delete;
	Window &operator=(const Window &) = delete;

	/** Deallocates it now. Returns 0 or an errno. */
	int deallocate()
	{
		return ibv_dealloc_mw(std::exchange(mw_, nullptr));
	}

	ibv_mw *get() const
	{
		return mw_;
	}

	uint32_t rkey() const
	{
		return mw_->rkey;
	}

private:
	ibv_mw *mw_;
};

/** Of a region that windows can be bound to, and others have no access to but by those. */
inline constexpr int access_bindable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

/** What a window is to be bound to; the fields are those of ibv_mw_bind_info. */
struct Bind {
	ibv_mr *mr;
	uint64_t addr;
	uint64_t length;
	unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	ibv_mw_bind_info info() const
	{
		return { mr, addr, length, access };
	}
};

/** ibv_bind_mw(), of a window of type 1. Returns 0 or an errno. */
inline int bind(const Qp &qp, const Window &window, const Bind &to, uint64_t id = 0,
		unsigned flags = IBV_SEND_SIGNALED)
{
	ibv_mw_bind bind = { id, flags, to.info() };

	return ibv_bind_mw(qp.get(), window.get(), &bind);
}

/** The request that binds a window of type 2 and gives it @rkey. */
inline ibv_send_wr to_bind_wr(const Window &window, uint32_t rkey, const Bind &to, uint64_t id = 0)
{
	ibv_send_wr wr = {};

	wr.wr_id = id;
	wr.opcode = IBV_WR_BIND_MW;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.bind_mw = { window.get(), rkey, to.info() };
	return wr;
}

/** Posts it. Returns 0 or an errno. */
inline int post_bind(const Qp &qp, const Window &window, uint32_t rkey, const Bind &to,
		     uint64_t id = 0)
{
	ibv_send_wr wr = to_bind_wr(window, rkey, to, id), *bad;

	return ibv_post_send(qp.get(), &wr, &bad);
}

/** Posts an invalidation of this side's window. Returns 0 or an errno. */
inline int post_local_inv(const Qp &qp, uint32_t rkey, uint64_t id = 0)
{
	ibv_send_wr wr = {}, *bad;

	wr.wr_id = id;
	wr.opcode = IBV_WR_LOCAL_INV;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.invalidate_rkey = rkey;
	return ibv_post_send(qp.get(), &wr, &bad);
}

/** Posts a send that invalidates the other side's. Returns 0 or an errno. */
inline int post_send_inv(const Qp &qp, std::vector<ibv_sge> sges, uint32_t rkey, uint64_t id = 0)
{
	ibv_send_wr wr = {}, *bad;

	wr.wr_id = id;
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.sg_list = sges.data();
	wr.num_sge = static_cast<int>(sges.size());
	wr.invalidate_rkey = rkey;
	return ibv_post_send(qp.get(), &wr, &bad);
}

} // namespace vm

#endif
