// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// windows.hpp: a pair of which one end's memory has windows, and claims about what they open.
#ifndef BELLHOP_VM_WINDOWS_HPP
#define BELLHOP_VM_WINDOWS_HPP

#include "endpoint.hpp"
#include "window.hpp"

namespace vm
{

/* b's memory has windows; a uses them. */
class Windows : public testing::Test
{
protected:
	static constexpr uint32_t size = 16384;
	static constexpr uint32_t half = size / 2;

	explicit Windows(const QpShape &shape = {}) : pair(shape)
	{
		fill(a.memory.bytes(), 1);
	}

	uint64_t at(uint64_t offset = 0) const
	{
		return reinterpret_cast<uintptr_t>(memory.data()) + offset;
	}

	/* The first half of the region. */
	Bind first_half(unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ) const
	{
		return { mr.get(), at(), half, access };
	}

	Send access(ibv_wr_opcode opcode, uint64_t address, uint32_t length, uint32_t rkey) const
	{
		Send send = { .opcode = opcode,
			      .sges = { a.sge(0, length) },
			      .remote = address,
			      .rkey = rkey,
			      .id = 1 };
		send.compare_add = 1;
		return send;
	}

	void expect_written(const Endpoint &by, uint64_t address, uint64_t offset, uint32_t length,
			    uint32_t rkey)
	{
		std::memset(memory.data(), 0, size);
		ASSERT_EQ(post(by.qp, access(IBV_WR_RDMA_WRITE, address, length, rkey)), 0);
		expect(by.send_cq, by.qp, 1);
		EXPECT_EQ(std::memcmp(memory.data() + offset, a.memory.data(), length), 0);
	}

	void expect_works(uint32_t rkey)
	{
		expect_written(pair.a, at(), 0, half, rkey);
	}

	void expect_refused(const Send &send, bellhop_reason reason)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_ACCESS_ERR), reason);
		EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
		pair.reconnect();
	}

	void expect_closed(uint32_t rkey)
	{
		expect_refused(access(IBV_WR_RDMA_WRITE, at(), 8, rkey),
			       BELLHOP_REASON_RKEY_UNKNOWN);
	}

	void expect_bound(const Window &window, uint32_t rkey, const Bind &to)
	{
		ASSERT_EQ(post_bind(pair.b.qp, window, rkey, to, 5), 0);
		EXPECT_EQ(expect(pair.b.send_cq, pair.b.qp, 5).opcode, IBV_WC_BIND_MW);
	}

	void expect_bound(const Window &window, const Bind &to)
	{
		ASSERT_EQ(bind(pair.b.qp, window, to, 6), 0);
		EXPECT_EQ(expect(pair.b.send_cq, pair.b.qp, 6).opcode, IBV_WC_BIND_MW);
	}

	void expect_invalidated(uint32_t rkey)
	{
		ASSERT_EQ(post_local_inv(pair.b.qp, rkey, 7), 0);
		EXPECT_EQ(expect(pair.b.send_cq, pair.b.qp, 7).opcode, IBV_WC_LOCAL_INV);
	}

	/* b's QP is in error then, and its peer has not heard of anything. */
	void expect_failed(int posted, uint64_t id, bellhop_reason reason)
	{
		ASSERT_EQ(posted, 0);
		expect_reason(expect(pair.b.send_cq, pair.b.qp, id, IBV_WC_MW_BIND_ERR), reason);
		EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
		EXPECT_EQ(pair.a.qp.state(), IBV_QPS_RTS);
		pair.reconnect();
	}

	Pair pair;
	Region a{ pair.a.pd, size };
	Memory memory{ size };
	Mr mr{ pair.b.pd, memory, access_bindable };
};

} // namespace vm

#endif
