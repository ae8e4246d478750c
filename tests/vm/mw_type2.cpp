// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mw_type2.cpp: memory windows of type 2, which belong to a QP: how they are bound, used and
// invalidated, by their owner and by its peer, and what of that is refused.
#include <memory>
#include "ktap.hpp"
#include "windows.hpp"

using namespace vm;

class Type2 : public Windows
{
protected:
	Window window{ pair.b.pd, IBV_MW_TYPE_2 };
	uint32_t rkey = ibv_inc_rkey(window.rkey());
};

TEST_F(Type2, is_bound_and_invalidated)
{
	expect_closed(window.rkey());
	expect_closed(rkey);
	expect_bound(window, rkey, first_half());
	expect_works(rkey);
	expect_refused(access(IBV_WR_RDMA_WRITE, at(half), 1, rkey), BELLHOP_REASON_RKEY_RANGE);
	expect_closed(ibv_inc_rkey(rkey));
	expect_invalidated(rkey);
	expect_closed(rkey);
	/* With another key, which the program chooses; with the same, if it likes. */
	for (uint32_t next : { ibv_inc_rkey(rkey), rkey ^ 0x80, rkey, rkey }) {
		expect_bound(window, next, first_half());
		expect_works(next);
		expect_invalidated(next);
		expect_closed(next);
	}
}

TEST_F(Type2, is_bound_once)
{
	expect_bound(window, rkey, first_half());
	expect_failed(post_bind(pair.b.qp, window, ibv_inc_rkey(rkey), first_half(), 9), 9,
		      BELLHOP_REASON_MW_BOUND);
	/* A QP that was reset still has its windows. */
	expect_works(rkey);
	expect_invalidated(rkey);
	expect_failed(post_local_inv(pair.b.qp, rkey, 9), 9, BELLHOP_REASON_MW_UNBOUND);
	expect_bound(window, rkey, first_half());
}

TEST_F(Type2, may_not_be_bound)
{
	Memory more(size);
	Mr plain(pair.b.pd, more, access_all);
	ibv_mr unknown = *mr.get();
	unknown.lkey ^= 0x1234500;
	Pd foreign(pair.b.device);
	Mr elsewhere(foreign, memory, access_bindable);
	struct {
		Bind to;
		bellhop_reason reason;
	} const cases[] = {
		{ { mr.get(), at(), 0 }, BELLHOP_REASON_MW_RANGE },
		{ { mr.get(), at(size), 1 }, BELLHOP_REASON_MW_RANGE },
		{ { nullptr, at(), half }, BELLHOP_REASON_MW_REGION },
		{ { &unknown, at(), half }, BELLHOP_REASON_MW_REGION },
		{ { elsewhere.get(), at(), half }, BELLHOP_REASON_MW_PD },
		{ { plain.get(), reinterpret_cast<uintptr_t>(more.data()), half },
		  BELLHOP_REASON_MW_REGION_ACCESS },
	};

	for (const auto &c : cases) {
		expect_failed(post_bind(pair.b.qp, window, rkey, c.to, 9), 9, c.reason);
		expect_closed(rkey);
	}
	EXPECT_EQ(post_bind(pair.b.qp, window, rkey ^ 0x100, first_half()), EINVAL);
	EXPECT_EQ(post_bind(pair.b.qp, window, rkey, first_half(1 << 6)), EINVAL);
	ibv_mw_bind info = { 0, 0, first_half().info() };
	EXPECT_EQ(ibv_bind_mw(pair.b.qp.get(), window.get(), &info), EINVAL);
	expect_bound(window, rkey, first_half());
}

/* A window that the library has, but not any more the kernel; and no window at all. */
TEST_F(Type2, must_exist)
{
	ibv_mw gone = *window.get();
	ibv_send_wr wr = to_bind_wr(window, rkey, first_half(), 9), *bad;

	expect_bound(window, rkey, first_half());
	ASSERT_EQ(window.deallocate(), 0);
	expect_closed(rkey);
	wr.bind_mw.mw = &gone;
	expect_failed(ibv_post_send(pair.b.qp.get(), &wr, &bad), 9, BELLHOP_REASON_MW_UNKNOWN);
	gone.rkey = mr.rkey();
	wr.bind_mw.rkey = mr.rkey();
	expect_failed(ibv_post_send(pair.b.qp.get(), &wr, &bad), 9, BELLHOP_REASON_MW_UNKNOWN);
	for (uint32_t key : { 0u, ~0u, rkey, mr.rkey(), mr.lkey() })
		expect_failed(post_local_inv(pair.b.qp, key, 9), 9, BELLHOP_REASON_MW_UNKNOWN);
}

TEST_F(Type2, belongs_to_the_qp_that_it_is_bound_on)
{
	Qp other(pair.b.device, pair.b.pd.get(), pair.b.send_cq, pair.b.recv_cq);
	Endpoint asker;
	Region from(asker.pd, size);
	const auto connect = [&] {
		for (const Qp *qp : { &other, &asker.qp })
			ASSERT_EQ(qp->modify(to_state(IBV_QPS_RESET)), 0);
		other.connect(asker.qp.address());
		asker.qp.connect(other.address());
	};

	connect();
	expect_bound(window, rkey, first_half());
	Send send = access(IBV_WR_RDMA_WRITE, at(), half, rkey);
	send.sges = { from.sge(0, half) };
	ASSERT_EQ(post(asker.qp, send), 0);
	expect_reason(expect(asker.send_cq, asker.qp, 1, IBV_WC_REM_ACCESS_ERR),
		      BELLHOP_REASON_RKEY_QP);
	connect();
	ASSERT_EQ(post_local_inv(other, rkey, 9), 0);
	expect_reason(expect(pair.b.send_cq, other, 9, IBV_WC_MW_BIND_ERR), BELLHOP_REASON_MW_QP);
	connect();
	ASSERT_EQ(post_recv(other, {}, 8), 0);
	ASSERT_EQ(post_send_inv(asker.qp, {}, rkey, 1), 0);
	expect_reason(expect(asker.send_cq, asker.qp, 1, IBV_WC_REM_ACCESS_ERR),
		      BELLHOP_REASON_MW_QP);
	expect_reason(expect(pair.b.recv_cq, other, 8, IBV_WC_LOC_ACCESS_ERR),
		      BELLHOP_REASON_MW_QP);
	expect_works(rkey);
}

/* Nobody gets what a QP had that is gone, not even by its number. */
TEST_F(Type2, outlives_its_qp_but_opens_nothing)
{
	std::unique_ptr<Qp> other = std::make_unique<Qp>(pair.b.device, pair.b.pd.get(),
							 pair.b.send_cq, pair.b.recv_cq);

	other->connect(other->address());
	ASSERT_EQ(post_bind(*other, window, rkey, first_half(), 9), 0);
	expect(pair.b.send_cq, *other, 9);
	ASSERT_EQ(other->destroy(), 0);
	expect_refused(access(IBV_WR_RDMA_WRITE, at(), 8, rkey), BELLHOP_REASON_RKEY_QP);
	expect_failed(post_local_inv(pair.b.qp, rkey, 9), 9, BELLHOP_REASON_MW_QP);
	EXPECT_EQ(mr.deregister(), EBUSY);
	ASSERT_EQ(window.deallocate(), 0);
	EXPECT_EQ(mr.deregister(), 0);
}

TEST_F(Type2, is_invalidated_by_its_peer)
{
	expect_bound(window, rkey, first_half());
	ASSERT_EQ(post_recv(pair.b.qp, { { at(), size, mr.lkey() } }, 8), 0);
	ASSERT_EQ(post_send_inv(pair.a.qp, { a.sge(0, 1000) }, rkey, 1), 0);
	EXPECT_EQ(expect(pair.a.send_cq, pair.a.qp, 1).opcode, IBV_WC_SEND);
	const ibv_wc wc = expect(pair.b.recv_cq, pair.b.qp, 8);
	EXPECT_EQ(wc.opcode, IBV_WC_RECV);
	EXPECT_EQ(wc.byte_len, 1000u);
	EXPECT_EQ(wc.wc_flags & (IBV_WC_WITH_INV | IBV_WC_WITH_IMM), unsigned(IBV_WC_WITH_INV));
	EXPECT_EQ(wc.invalidated_rkey, rkey);
	EXPECT_EQ(std::memcmp(memory.data(), a.memory.data(), 1000), 0);
	expect_closed(rkey);
	expect_bound(window, ibv_inc_rkey(rkey), first_half());
}

TEST_F(Type2, is_not_invalidated_by_a_key_that_is_not_its_own)
{
	Window first_type(pair.b.pd, IBV_MW_TYPE_1);
	struct {
		uint32_t key;
		bellhop_reason reason;
	} const cases[] = {
		{ ibv_inc_rkey(rkey), BELLHOP_REASON_MW_UNKNOWN },
		{ rkey ^ 0x80000000, BELLHOP_REASON_MW_UNKNOWN },
		{ mr.rkey(), BELLHOP_REASON_MW_UNKNOWN },
		{ 0, BELLHOP_REASON_MW_UNKNOWN },
		{ first_type.rkey(), BELLHOP_REASON_MW_TYPE },
	};

	expect_bound(window, rkey, first_half());
	for (const auto &c : cases) {
		ASSERT_EQ(post_recv(pair.b.qp, { { at(half), half, mr.lkey() } }, 8), 0);
		ASSERT_EQ(post_send_inv(pair.a.qp, { a.sge(0, 1000) }, c.key, 1), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_ACCESS_ERR),
			      c.reason);
		expect_reason(expect(pair.b.recv_cq, pair.b.qp, 8, IBV_WC_LOC_ACCESS_ERR),
			      c.reason);
		EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
		pair.reconnect();
	}
	expect_works(rkey);
}

/* Addresses begin with 0, wherever the bytes are. */
TEST_F(Type2, may_be_based_at_zero)
{
	expect_bound(
		window, rkey,
		{ mr.get(), at(4099), 5000,
		  IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC });
	expect_written(pair.a, 0, 4099, 5000, rkey);
	expect_written(pair.a, 4990, 4099 + 4990, 10, rkey);
	expect_refused(access(IBV_WR_RDMA_WRITE, 1, 5000, rkey), BELLHOP_REASON_RKEY_RANGE);
	expect_refused(access(IBV_WR_RDMA_WRITE, ~0ull, 1, rkey), BELLHOP_REASON_RKEY_RANGE);
	expect_refused(access(IBV_WR_RDMA_WRITE, at(4099), 1, rkey), BELLHOP_REASON_RKEY_RANGE);

	/* A word must lie on 8 bytes where it is, and where it seems to be. */
	for (uint64_t address : { 0ull, 5ull }) {
		ASSERT_EQ(post(pair.a.qp, access(IBV_WR_ATOMIC_FETCH_AND_ADD, address, 8, rkey)),
			  0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_INV_REQ_ERR),
			      BELLHOP_REASON_ALIGNMENT);
		pair.reconnect();
	}
	expect_invalidated(rkey);
	expect_bound(window, rkey,
		     { mr.get(), at(8), 64, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_ATOMIC });
	*reinterpret_cast<uint64_t *>(memory.data() + 16) = 41;
	ASSERT_EQ(post(pair.a.qp, access(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 8, rkey)), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(*reinterpret_cast<uint64_t *>(memory.data() + 16), 42u);
}

TEST_F(Type2, keeps_its_region)
{
	Memory more(size);

	expect_bound(window, rkey, first_half());
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(mr.deregister(), EBUSY);
	for (int flags : { int(IBV_REREG_MR_CHANGE_TRANSLATION), int(IBV_REREG_MR_CHANGE_PD),
			   int(IBV_REREG_MR_CHANGE_ACCESS) }) {
		Pd foreign(pair.b.device);

		errno = 0;
		EXPECT_EQ(ibv_rereg_mr(mr.get(), flags, foreign.get(), more.data(), size, 0),
			  IBV_REREG_MR_ERR_CMD);
		EXPECT_EQ(errno, EBUSY);
	}
	expect_works(rkey);
	expect_invalidated(rkey);
	EXPECT_EQ(ibv_rereg_mr(mr.get(), IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, more.data(),
			       size, 0),
		  0);
	/* It can be bound to what the region is now. */
	expect_bound(window, rkey, { mr.get(), reinterpret_cast<uintptr_t>(more.data()), half });
	EXPECT_EQ(mr.deregister(), EBUSY);
	ASSERT_EQ(window.deallocate(), 0);
	EXPECT_EQ(mr.deregister(), 0);
}

TEST_F(Type2, is_bound_before_what_is_posted_behind_it)
{
	ibv_send_wr bind = to_bind_wr(window, rkey, first_half(), 2), send = {}, *bad;
	ibv_sge sge = { at(), 4, mr.lkey() };

	/* The key goes to the peer in the same list. */
	std::memcpy(memory.data(), &rkey, 4);
	bind.send_flags = 0;
	bind.next = &send;
	send.wr_id = 3;
	send.sg_list = &sge;
	send.num_sge = 1;
	send.opcode = IBV_WR_SEND;
	send.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ASSERT_EQ(post_recv(pair.a.qp, { a.sge(half, 4) }, 4), 0);
	ASSERT_EQ(ibv_post_send(pair.b.qp.get(), &bind, &bad), 0);
	expect(pair.a.recv_cq, pair.a.qp, 4);
	expect(pair.b.send_cq, pair.b.qp, 3);
	expect_none(pair.b.send_cq);
	uint32_t told;
	std::memcpy(&told, a.memory.data() + half, 4);
	expect_works(told);
}

TEST_F(Type2, is_flushed_with_its_queue)
{
	ASSERT_EQ(pair.b.qp.modify(to_state(IBV_QPS_ERR)), 0);
	ASSERT_EQ(post_bind(pair.b.qp, window, rkey, first_half(), 2), 0);
	ASSERT_EQ(post_local_inv(pair.b.qp, rkey, 3), 0);
	ASSERT_EQ(post_send_inv(pair.b.qp, {}, rkey, 4), 0);
	for (uint64_t id : { 2, 3, 4 })
		expect(pair.b.send_cq, pair.b.qp, id, IBV_WC_WR_FLUSH_ERR);
	pair.reconnect();
	expect_closed(rkey);
}

TEST_F(Type2, many_side_by_side)
{
	std::vector<std::unique_ptr<Window>> windows;

	for (uint32_t i = 0; i < 200; i++) {
		windows.push_back(std::make_unique<Window>(pair.b.pd, IBV_MW_TYPE_2));
		const Window &one = *windows.back();
		expect_bound(one, ibv_inc_rkey(one.rkey()), { mr.get(), at(i * 64), 64 });
	}
	for (uint32_t i = 0; i < 200; i += 7)
		expect_written(pair.a, at(i * 64), i * 64, 64, ibv_inc_rkey(windows[i]->rkey()));
	expect_refused(access(IBV_WR_RDMA_WRITE, at(64), 65, ibv_inc_rkey(windows[1]->rkey())),
		       BELLHOP_REASON_RKEY_RANGE);
	EXPECT_EQ(mr.deregister(), EBUSY);
	windows.clear();
	EXPECT_EQ(mr.deregister(), 0);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
