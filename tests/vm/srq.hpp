// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// srq.hpp: shared receive queues.
#ifndef BELLHOP_VM_SRQ_HPP
#define BELLHOP_VM_SRQ_HPP

#include "request.hpp"

namespace vm
{

/** A shared receive queue. */
class Srq
{
public:
	explicit Srq(const Pd &pd, uint32_t max_wr = 64, uint32_t max_sge = 2)
	{
		ibv_srq_init_attr attr = {};

		attr.attr.max_wr = max_wr;
		attr.attr.max_sge = max_sge;
		srq_ = ibv_create_srq(pd.get(), &attr);
		require_errno(srq_, "ibv_create_srq");
		max_wr_ = attr.attr.max_wr;
	}

	/** One for XRC, whose receives complete in @cq. */
	Srq(const Pd &pd, ibv_xrcd *xrcd, const Cq &cq, uint32_t max_wr = 64, uint32_t max_sge = 2)
	{
		ibv_srq_init_attr_ex attr = {};

		attr.comp_mask = IBV_SRQ_INIT_ATTR_XRCD;
		attr.srq_type = IBV_SRQT_XRC;
		attr.xrcd = xrcd;
		create(pd, cq.get(), attr, max_wr, max_sge);
	}

	/** One that matches as many tags, whose completions are in @cq. */
	Srq(const Pd &pd, ibv_cq *cq, uint32_t max_tags)
	{
		ibv_srq_init_attr_ex attr = {};

		attr.comp_mask = IBV_SRQ_INIT_ATTR_TM;
		attr.srq_type = IBV_SRQT_TM;
		attr.tm_cap = { max_tags, 16 };
		create(pd, cq, attr, 64, 2);
	}

	~Srq()
	{
		if (srq_)
			ibv_destroy_srq(srq_);
	}

	Srq(const Srq &) = delete;
	Srq &operator=(const Srq &) = delete;

	ibv_srq *get() const
	{
		return srq_;
	}

	/** Of one for XRC: what requests call it. */
	uint32_t number() const
	{
		uint32_t number = 0;

		require(!ibv_get_srq_num(srq_, &number), "ibv_get_srq_num");
		return number;
	}

	/** At least what was asked for. */
	uint32_t max_wr() const
	{
		return max_wr_;
	}

	/** ibv_post_srq_recv(). Returns 0 or an errno. */
	int post(std::vector<ibv_sge> sges, uint64_t id) const
	{
		ibv_recv_wr wr = {}, *bad = nullptr;

		wr.wr_id = id;
		wr.sg_list = sges.data();
		wr.num_sge = static_cast<int>(sges.size());
		const int error = ibv_post_srq_recv(srq_, &wr, &bad);
		EXPECT_TRUE(!error || bad == &wr) << "bad_wr is not the request that failed";
		return error;
	}

	/** Returns 0 or an errno. */
	int set_limit(uint32_t limit) const
	{
		ibv_srq_attr attr = {};

		attr.srq_limit = limit;
		return ibv_modify_srq(srq_, &attr, IBV_SRQ_LIMIT);
	}

	/** Returns 0 or an errno. */
	int resize(uint32_t max_wr, std::optional<uint32_t> limit = std::nullopt)
	{
		ibv_srq_attr attr = {};

		attr.max_wr = max_wr;
		attr.srq_limit = limit.value_or(0);
		const int error = ibv_modify_srq(
			srq_, &attr, limit ? IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT : IBV_SRQ_MAX_WR);
		if (!error)
			max_wr_ = query().max_wr;
		return error;
	}

	ibv_srq_attr query() const
	{
		ibv_srq_attr attr = {};

		require(!ibv_query_srq(srq_, &attr), "ibv_query_srq");
		return attr;
	}

	/** Destroys it now. Returns 0 or an errno. */
	int destroy()
	{
		const int error = ibv_destroy_srq(srq_);

		if (!error)
			srq_ = nullptr;
		return error;
	}

private:
	/* One of a special type, of which @attr says the rest. */
	void create(const Pd &pd, ibv_cq *cq, ibv_srq_init_attr_ex &attr, uint32_t max_wr,
		    uint32_t max_sge)
	{
		attr.attr.max_wr = max_wr;
		attr.attr.max_sge = max_sge;
		attr.comp_mask |=
			IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
		attr.pd = pd.get();
		attr.cq = cq;
		srq_ = ibv_create_srq_ex(pd.get()->context, &attr);
		require_errno(srq_, "ibv_create_srq_ex");
		max_wr_ = attr.attr.max_wr;
	}

	ibv_srq *srq_;
	uint32_t max_wr_;
};

} // namespace vm

#endif
