// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wq.hpp: receive work queues, tables of them, and QPs whose frames they receive.
#ifndef BELLHOP_VM_WQ_HPP
#define BELLHOP_VM_WQ_HPP

#include "../hash_examples.hpp"
#include "frames.hpp"

namespace vm
{

class Wq
{
public:
	Wq(const Pd &pd, const Cq &cq, uint32_t max_wr = 64)
	{
		ibv_wq_init_attr attr = {};

		attr.wq_type = IBV_WQT_RQ;
		attr.max_wr = max_wr;
		attr.max_sge = 2;
		attr.pd = pd.get();
		attr.cq = cq.get();
		wq_ = ibv_create_wq(pd.get()->context, &attr);
		require_errno(wq_, "ibv_create_wq");
	}

	~Wq()
	{
		if (wq_)
			ibv_destroy_wq(wq_);
	}

	Wq(Wq &&other) : wq_(std::exchange(other.wq_, nullptr)) {}

	ibv_wq *get() const
	{
		return wq_;
	}

	/** Returns 0 or an errno. */
	int modify(ibv_wq_state state, int from = -1) const
	{
		ibv_wq_attr attr = {};

		attr.attr_mask = IBV_WQ_ATTR_STATE;
		attr.wq_state = state;
		if (from >= 0) {
			attr.attr_mask |= IBV_WQ_ATTR_CURR_STATE;
			attr.curr_wq_state = static_cast<ibv_wq_state>(from);
		}
		return ibv_modify_wq(wq_, &attr);
	}

	/** Returns 0 or an errno. */
	int post(ibv_sge sge, uint64_t id) const
	{
		ibv_recv_wr wr = {}, *bad = nullptr;

		wr.wr_id = id;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		return ibv_post_wq_recv(wq_, &wr, &bad);
	}

	/** Destroys it now. Returns 0 or an errno, and then it is still there. */
	int destroy()
	{
		const int error = ibv_destroy_wq(wq_);

		if (!error)
			wq_ = nullptr;
		return error;
	}

private:
	ibv_wq *wq_ = nullptr;
};

/** A table, each of whose entries is one of the queues in turn. */
class Table
{
public:
	Table(const Device &device, const std::vector<Wq> &queues, uint32_t log_size)
	{
		std::vector<ibv_wq *> entries(1u << log_size);
		ibv_rwq_ind_table_init_attr attr = {};

		for (size_t i = 0; i < entries.size(); i++)
			entries[i] = queues[i % queues.size()].get();
		attr.log_ind_tbl_size = log_size;
		attr.ind_tbl = entries.data();
		table_ = ibv_create_rwq_ind_table(device.get(), &attr);
		require_errno(table_, "ibv_create_rwq_ind_table");
	}

	~Table()
	{
		ibv_destroy_rwq_ind_table(table_);
	}

	Table(const Table &) = delete;
	Table &operator=(const Table &) = delete;

	ibv_rwq_ind_table *get() const
	{
		return table_;
	}

private:
	ibv_rwq_ind_table *table_;
};

/** A QP whose frames go where @fields, the examples' key and a table say; it has no states. */
class SpreadQp
{
public:
	SpreadQp(const Pd &pd, const Table &table, uint64_t fields) : qp_(create(pd, table, fields))
	{
		require_errno(qp_, "ibv_create_qp_ex");
	}

	~SpreadQp()
	{
		ibv_destroy_qp(qp_);
	}

	SpreadQp(const SpreadQp &) = delete;
	SpreadQp &operator=(const SpreadQp &) = delete;

	/** Returns null with errno set. */
	static ibv_qp *create(const Pd &pd, const Table &table, uint64_t fields)
	{
		ibv_qp_init_attr_ex attr = {};

		attr.qp_type = IBV_QPT_RAW_PACKET;
		attr.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
		attr.pd = pd.get();
		attr.rwq_ind_tbl = table.get();
		attr.rx_hash_conf = { IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(hash_example_key),
				      const_cast<uint8_t *>(hash_example_key), fields };
		return ibv_create_qp_ex(pd.get()->context, &attr);
	}

	ibv_qp *get() const
	{
		return qp_;
	}

private:
	ibv_qp *qp_;
};

} // namespace vm

#endif
