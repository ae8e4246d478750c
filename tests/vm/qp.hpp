// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// qp.hpp: queue pairs, and the changes of attributes that connect them.
#ifndef BELLHOP_VM_QP_HPP
#define BELLHOP_VM_QP_HPP

#include "cq.hpp"
#include "memory.hpp"

namespace vm
{

/** What a connection is told; the fields are those of ibv_qp_attr. */
struct Path {
	unsigned access = access_all;
	uint8_t max_rd_atomic = 16;
	uint8_t max_dest_rd_atomic = 16;
	uint8_t min_rnr_timer = 1; /* 0.01 ms */
	uint8_t timeout = 14; /* 67 ms */
	uint8_t retry_cnt = 7;
	uint8_t rnr_retry = 7; /* for ever */
	ibv_mtu mtu = IBV_MTU_1024;
};

/** Where a QP is. */
struct Address {
	ibv_gid gid;
	uint32_t qpn;
};

/** One call of ibv_modify_qp(). */
struct Change {
	ibv_qp_attr attr;
	int mask;
};

inline constexpr uint32_t first_psn = 0x123456;

inline Change to_state(ibv_qp_state state)
{
	Change change = { .attr = {}, .mask = IBV_QP_STATE };

	change.attr.qp_state = state;
	return change;
}

inline Change to_init(const Path &path = {})
{
	Change change = to_state(IBV_QPS_INIT);

	change.attr.port_num = 1;
	change.attr.qp_access_flags = path.access;
	change.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	return change;
}

inline Change to_rtr(const Address &peer, const Path &path = {})
{
	Change change = to_state(IBV_QPS_RTR);

	change.attr.path_mtu = path.mtu;
	change.attr.dest_qp_num = peer.qpn;
	change.attr.rq_psn = first_psn;
	change.attr.max_dest_rd_atomic = path.max_dest_rd_atomic;
	change.attr.min_rnr_timer = path.min_rnr_timer;
	change.attr.ah_attr.is_global = 1;
	change.attr.ah_attr.port_num = 1;
	change.attr.ah_attr.grh.dgid = peer.gid;
	change.attr.ah_attr.grh.sgid_index = Device::gid_index();
	change.attr.ah_attr.grh.hop_limit = 64;
	change.mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return change;
}

inline Change to_rts(const Path &path = {})
{
	Change change = to_state(IBV_QPS_RTS);

	change.attr.sq_psn = first_psn;
	change.attr.timeout = path.timeout;
	change.attr.retry_cnt = path.retry_cnt;
	change.attr.rnr_retry = path.rnr_retry;
	change.attr.max_rd_atomic = path.max_rd_atomic;
	change.mask |= IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_MAX_QP_RD_ATOMIC;
	return change;
}

/** Of a UD QP, which takes datagrams with @qkey; to_state() alone makes it RTR. */
inline Change to_datagram_init(uint32_t qkey)
{
	Change change = to_state(IBV_QPS_INIT);

	change.attr.port_num = 1;
	change.attr.qkey = qkey;
	change.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	return change;
}

inline Change to_datagram_rts()
{
	Change change = to_state(IBV_QPS_RTS);

	change.attr.sq_psn = first_psn;
	change.mask |= IBV_QP_SQ_PSN;
	return change;
}

inline constexpr ibv_qp_cap cap_default = { 64, 64, 4, 4, 64 };

/** Everything ibv_create_qp_ex() is asked for. */
struct QpShape {
	ibv_qp_cap cap = cap_default;
	bool signal_all = false;
	bool extended = false; /* ibv_wr_*() may be used */
	ibv_qp_type type = IBV_QPT_RC;
	ibv_srq *srq = nullptr; /* where it receives from */
	bool windows = false; /* with @extended, those of memory windows as well */
	bool atomic_writes = false; /* likewise */
	uint32_t flags = 0; /* IBV_QP_CREATE_* */
};

/** A queue pair. */
class Qp
{
public:
	Qp(const Device &device, ibv_pd *pd, const Cq &send_cq, const Cq &recv_cq,
	   const QpShape &shape = {})
	    : device_(device)
	{
		ibv_qp_init_attr_ex attr = {};

		attr.send_cq = send_cq.get();
		attr.recv_cq = shape.type == IBV_QPT_XRC_SEND ? nullptr : recv_cq.get();
		attr.srq = shape.srq;
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		attr.pd = pd;
		create(attr, shape);
	}

	/** A target QP. */
	Qp(const Device &device, ibv_xrcd *xrcd) : device_(device)
	{
		ibv_qp_init_attr_ex attr = {};

		attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		attr.xrcd = xrcd;
		create(attr, { .cap = {}, .type = IBV_QPT_XRC_RECV });
	}

	/** One that is there already, maybe another process's. */
	Qp(const Device &device, ibv_xrcd *xrcd, uint32_t qpn) : device_(device)
	{
		ibv_qp_open_attr attr = {};

		attr.comp_mask =
			IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
		attr.qp_num = qpn;
		attr.xrcd = xrcd;
		attr.qp_type = IBV_QPT_XRC_RECV;
		qp_ = ibv_open_qp(device.get(), &attr);
		require_errno(qp_, "ibv_open_qp");
	}

	~Qp()
	{
		if (qp_)
			ibv_destroy_qp(qp_);
	}

	Qp(const Qp &) = delete;
	Qp &operator=(const Qp &) = delete;

	ibv_qp *get() const
	{
		return qp_;
	}

	/** What it can do: at least what was asked for. */
	const ibv_qp_cap &cap() const
	{
		return cap_;
	}

	Address address() const
	{
		return { device_.gid(), qp_->qp_num };
	}

	/** Less what an unreliable connection has not. Returns 0 or an errno. */
	int modify(Change change) const
	{
		if (qp_->qp_type == IBV_QPT_UC)
			change.mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
					 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					 IBV_QP_MAX_QP_RD_ATOMIC);
		return ibv_modify_qp(qp_, &change.attr, change.mask);
	}

	/** RESET to RTS. */
	void connect(const Address &peer, const Path &path = {}) const
	{
		require(!modify(to_init(path)), "to INIT");
		require(!modify(to_rtr(peer, path)), "to RTR");
		require(!modify(to_rts(path)), "to RTS");
	}

	/** RESET to RTS, of a UD QP. Returns 0 or an errno. */
	int open(uint32_t qkey) const
	{
		int error = modify(to_datagram_init(qkey));

		if (!error)
			error = modify(to_state(IBV_QPS_RTR));
		return error ? error : modify(to_datagram_rts());
	}

	ibv_qp_attr query(ibv_qp_init_attr *init = nullptr) const
	{
		ibv_qp_init_attr unused;
		ibv_qp_attr attr = {};
		const int all = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS |
				IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV | IBV_QP_PATH_MTU |
				IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_RQ_PSN | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_DEST_QPN |
				IBV_QP_CAP;

		require(!ibv_query_qp(qp_, &attr, all, init ? init : &unused), "ibv_query_qp");
		return attr;
	}

	ibv_qp_state state() const
	{
		return query().qp_state;
	}

	/** Whether it gets into @state within @seconds. */
	bool reaches(ibv_qp_state state, double seconds = patience) const
	{
		const Deadline deadline(seconds);

		while (this->state() != state) {
			if (deadline.passed())
				return false;
			usleep(1000);
		}
		return true;
	}

	/** Destroys it now. Returns 0 or an errno. */
	int destroy()
	{
		return ibv_destroy_qp(std::exchange(qp_, nullptr));
	}

private:
	static uint64_t send_ops(const QpShape &shape)
	{
		const bool reliable = shape.type == IBV_QPT_RC || shape.type == IBV_QPT_XRC_SEND;
		const bool connected = reliable || shape.type == IBV_QPT_UC;
		uint64_t ops = IBV_QP_EX_WITH_SEND;

		if (shape.type != IBV_QPT_RAW_PACKET)
			ops |= IBV_QP_EX_WITH_SEND_WITH_IMM;
		if (connected)
			ops |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
		if (connected && shape.windows)
			ops |= IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
		if (reliable && shape.windows)
			ops |= IBV_QP_EX_WITH_SEND_WITH_INV;
		if (reliable)
			ops |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_RDMA_READ;
		if (reliable && shape.atomic_writes)
			ops |= IBV_QP_EX_WITH_ATOMIC_WRITE;
		return ops;
	}

	void create(ibv_qp_init_attr_ex &attr, const QpShape &shape)
	{
		attr.cap = shape.cap;
		attr.qp_type = shape.type;
		attr.sq_sig_all = shape.signal_all;
		if (shape.flags) {
			attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
			attr.create_flags = shape.flags;
		}
		if (shape.extended) {
			attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
			attr.send_ops_flags = send_ops(shape);
		}
		qp_ = ibv_create_qp_ex(device_.get(), &attr);
		require_errno(qp_, "ibv_create_qp_ex");
		cap_ = attr.cap;
	}

	const Device &device_;
	ibv_qp *qp_ = nullptr;
	ibv_qp_cap cap_ = {};
};

} // namespace vm

#endif
