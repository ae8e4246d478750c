// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tag.hpp: shared receive queues that match tags, the headers of messages to them, and what is
// completed there.
#ifndef BELLHOP_VM_TAG_HPP
#define BELLHOP_VM_TAG_HPP

#include <endian.h>
#include <infiniband/tm_types.h>
#include "endpoint.hpp"
#include "srq.hpp"

namespace vm
{

/** What a message begins with. */
struct TagHeader {
	ibv_tmh tmh;
	ibv_rvh rvh;
};

inline TagHeader tag_header(ibv_tmh_op op, uint64_t tag, uint32_t context = 0)
{
	TagHeader header = {};

	header.tmh.opcode = static_cast<uint8_t>(op);
	header.tmh.tag = htobe64(tag);
	header.tmh.app_ctx = htobe32(context);
	return header;
}

/** The same of a rendezvous. */
inline TagHeader rendezvous_header(uint64_t tag, uint64_t address, uint32_t rkey, uint32_t length)
{
	TagHeader header = tag_header(IBV_TMH_RNDV, tag);

	header.rvh.va = htobe64(address);
	header.rvh.rkey = htobe32(rkey);
	header.rvh.len = htobe32(length);
	return header;
}

/** A completion that may tell of a tag. */
struct TagWc {
	uint64_t wr_id;
	ibv_wc_status status;
	ibv_wc_opcode opcode;
	unsigned flags;
	uint32_t byte_len, vendor_err, qp_num;
	ibv_wc_tm_info info;
};

/** A CQ whose completions may. */
class TagCq
{
public:
	explicit TagCq(const Device &device, uint32_t entries = 256,
		       const Channel *channel = nullptr)
	{
		ibv_cq_init_attr_ex attr = {};

		attr.cqe = entries;
		attr.channel = channel ? channel->get() : nullptr;
		attr.wc_flags = uint64_t(IBV_WC_STANDARD_FLAGS) | IBV_WC_EX_WITH_TM_INFO;
		cq_ = ibv_create_cq_ex(device.get(), &attr);
		require_errno(cq_, "ibv_create_cq_ex");
	}

	~TagCq()
	{
		ibv_destroy_cq(get());
	}

	TagCq(const TagCq &) = delete;
	TagCq &operator=(const TagCq &) = delete;

	ibv_cq *get() const
	{
		return ibv_cq_ex_to_cq(cq_);
	}

	/** The next completion within @seconds, if it comes. */
	std::optional<TagWc> wait(double seconds = patience) const
	{
		const Deadline deadline(seconds);
		ibv_poll_cq_attr attr = {};

		while (ibv_start_poll(cq_, &attr)) {
			if (deadline.passed())
				return std::nullopt;
			usleep(100);
		}
		TagWc wc = { cq_->wr_id,
			     cq_->status,
			     ibv_wc_read_opcode(cq_),
			     ibv_wc_read_wc_flags(cq_),
			     ibv_wc_read_byte_len(cq_),
			     ibv_wc_read_vendor_err(cq_),
			     ibv_wc_read_qp_num(cq_),
			     {} };
		ibv_wc_read_tm_info(cq_, &wc.info);
		ibv_end_poll(cq_);
		return wc;
	}

	/** The next completion, which must come, of @id, with @status. */
	TagWc expect(uint64_t id, ibv_wc_opcode opcode, unsigned flags,
		     ibv_wc_status status = IBV_WC_SUCCESS,
		     std::source_location where = std::source_location::current()) const
	{
		const std::optional<TagWc> wc = wait();

		require(wc.has_value(), "no completion", where);
		EXPECT_EQ(wc->status, status) << ibv_wc_status_str(wc->status) << ", vendor_err "
					      << wc->vendor_err << ", line " << where.line();
		EXPECT_EQ(wc->wr_id, id) << "line " << where.line();
		if (status == IBV_WC_SUCCESS || status == IBV_WC_TM_RNDV_INCOMPLETE) {
			EXPECT_EQ(wc->opcode, opcode) << "line " << where.line();
			EXPECT_EQ(wc->flags, flags) << "line " << where.line();
		}
		return *wc;
	}

	void expect_none(std::source_location where = std::source_location::current()) const
	{
		EXPECT_FALSE(wait(0.05)) << "a completion, line " << where.line();
	}

private:
	ibv_cq_ex *cq_;
};

/** What is asked of ibv_post_srq_ops(); the fields are those of ibv_ops_wr. */
struct TagOp {
	ibv_ops_wr_opcode opcode = IBV_WR_TAG_ADD;
	int flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
	uint64_t id = 0;
	uint32_t unexpected = 0;
	uint32_t handle = 0;
	uint64_t recv_id = 0;
	std::vector<ibv_sge> sges = {};
	uint64_t tag = 0;
	uint64_t mask = ~uint64_t(0);
};

/** A shared receive queue that matches tags. */
class TagSrq : public Srq
{
public:
	TagSrq(const Pd &pd, ibv_cq *cq, uint32_t max_tags = 64) : Srq(pd, cq, max_tags) {}

	using Srq::post;

	/** ibv_post_srq_ops(); @handle: of what is added. Returns 0 or an errno. */
	int post(const TagOp &op, uint32_t *handle = nullptr) const
	{
		ibv_ops_wr wr = {}, *bad = nullptr;

		wr.wr_id = op.id;
		wr.opcode = op.opcode;
		wr.flags = op.flags;
		wr.tm.unexpected_cnt = op.unexpected;
		wr.tm.handle = op.handle;
		wr.tm.add.recv_wr_id = op.recv_id;
		wr.tm.add.sg_list = const_cast<ibv_sge *>(op.sges.data());
		wr.tm.add.num_sge = static_cast<int>(op.sges.size());
		wr.tm.add.tag = op.tag;
		wr.tm.add.mask = op.mask;
		const int error = ibv_post_srq_ops(get(), &wr, &bad);
		EXPECT_TRUE(!error || bad == &wr) << "bad_wr is not the request that failed";
		if (handle)
			*handle = wr.tm.handle;
		return error;
	}
};

/** One end that matches the tags of what others send to its QPs. */
struct TagEnd {
	TagEnd() : pd(device), cq(device), send_cq(device, 16), srq(pd, cq.get()) {}

	QpShape shape() const
	{
		return { .cap = { 0, 0, 0, 0, 0 }, .srq = srq.get() };
	}

	Device device;
	Pd pd;
	TagCq cq;
	Cq send_cq;
	TagSrq srq;
};

/** One that sends to it, and the QP there. */
struct TagLine {
	explicit TagLine(TagEnd &end, const Path &path = {}, const Path &path_there = {})
	    : to(end.device, end.pd.get(), end.send_cq, end.send_cq, end.shape()),
	      region(from.pd, length)
	{
		to.connect(from.qp.address(), path_there);
		from.qp.connect(to.address(), path);
	}

	static constexpr size_t length = 8 << 20;

	/** Sends @header, of which the first @header_bytes, and what lies behind it in memory. */
	void send(const TagHeader &header, size_t header_bytes, uint32_t payload = 0,
		  uint64_t id = 1)
	{
		std::memcpy(region.memory.data(), &header, header_bytes);
		ASSERT_EQ(
			post(from.qp, { .sges = { region.sge(0, uint32_t(header_bytes) + payload) },
					.id = id }),
			0);
	}

	void send_eager(uint64_t tag, uint32_t payload, uint32_t context = 0, uint64_t id = 1)
	{
		send(tag_header(IBV_TMH_EAGER, tag, context), sizeof(ibv_tmh), payload, id);
	}

	Endpoint from;
	Qp to;
	Region region;
};

} // namespace vm

#endif
