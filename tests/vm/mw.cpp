// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mw.cpp: memory windows of type 1, and what those of both types have in common: what they open, to
// whom and for how long, what may not be bound, and that regions stay as long as they are bound.
// Those of type 2 are in mw_type2.cpp.
#include "holdings.hpp"
#include "ktap.hpp"
#include "windows.hpp"

using namespace vm;

class Type1 : public Windows
{
protected:
	Window window{ pair.b.pd, IBV_MW_TYPE_1 };
};

TEST_F(Type1, opens_its_bytes_and_no_others)
{
	const uint32_t unbound = window.rkey();

	expect_closed(unbound);
	expect_bound(window, { mr.get(), at(100), half, IBV_ACCESS_REMOTE_WRITE });
	EXPECT_NE(window.rkey(), unbound);
	EXPECT_EQ(window.rkey() >> 8, unbound >> 8);
	expect_written(pair.a, at(100), 100, half, window.rkey());
	expect_written(pair.a, at(100 + half - 1), 100 + half - 1, 1, window.rkey());
	const Send outside[] = {
		access(IBV_WR_RDMA_WRITE, at(99), 1, window.rkey()),
		access(IBV_WR_RDMA_WRITE, at(100), half + 1, window.rkey()),
		access(IBV_WR_RDMA_WRITE, at(100 + half), 1, window.rkey()),
		access(IBV_WR_RDMA_WRITE, 0, 1, window.rkey()),
	};
	for (const Send &send : outside)
		expect_refused(send, BELLHOP_REASON_RKEY_RANGE);
	expect_closed(unbound);
}

/* The region's own rkey opens what it did before: nothing. */
TEST_F(Type1, gives_nothing_to_the_regions_key)
{
	expect_bound(window, first_half());
	expect_refused(access(IBV_WR_RDMA_WRITE, at(), 8, mr.rkey()), BELLHOP_REASON_RKEY_ACCESS);
	expect_works(window.rkey());
}

TEST_F(Type1, grants_what_it_is_bound_for)
{
	expect_bound(window, first_half(IBV_ACCESS_REMOTE_READ));
	ASSERT_EQ(post(pair.a.qp, access(IBV_WR_RDMA_READ, at(), half, window.rkey())), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(std::memcmp(a.memory.data(), memory.data(), half), 0);
	expect_refused(access(IBV_WR_RDMA_WRITE, at(), 8, window.rkey()),
		       BELLHOP_REASON_RKEY_ACCESS);
	expect_refused(access(IBV_WR_ATOMIC_FETCH_AND_ADD, at(), 8, window.rkey()),
		       BELLHOP_REASON_RKEY_ACCESS);

	expect_bound(window, first_half(IBV_ACCESS_REMOTE_ATOMIC));
	*reinterpret_cast<uint64_t *>(memory.data()) = 41;
	ASSERT_EQ(post(pair.a.qp, access(IBV_WR_ATOMIC_FETCH_AND_ADD, at(), 8, window.rkey())), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(*reinterpret_cast<uint64_t *>(memory.data()), 42u);
	expect_refused(access(IBV_WR_RDMA_READ, at(), 8, window.rkey()),
		       BELLHOP_REASON_RKEY_ACCESS);

	expect_bound(window, first_half(0));
	expect_refused(access(IBV_WR_RDMA_READ, at(), 8, window.rkey()),
		       BELLHOP_REASON_RKEY_ACCESS);
	/* What a window does not give, but programs ask for nevertheless. */
	expect_bound(window, first_half(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					IBV_ACCESS_RELAXED_ORDERING));
	expect_works(window.rkey());
}

TEST_F(Type1, is_bound_again_and_again_and_then_unbound)
{
	for (int i = 0; i < 300; i++) {
		const uint32_t before = window.rkey();

		expect_bound(window, { mr.get(), at(i), half });
		ASSERT_NE(window.rkey(), before);
		expect_written(pair.a, at(i), i, 64, window.rkey());
		if (i % 50 == 0)
			expect_closed(before);
	}
	const uint32_t bound = window.rkey();
	expect_bound(window, { nullptr, 0, 0, 0 });
	EXPECT_NE(window.rkey(), bound);
	expect_closed(bound);
	expect_closed(window.rkey());
	expect_bound(window, first_half());
	expect_works(window.rkey());
}

TEST_F(Type1, works_on_each_qp_of_its_domain)
{
	Qp other(pair.b.device, pair.b.pd.get(), pair.b.send_cq, pair.b.recv_cq);
	Endpoint asker;
	Region from(asker.pd, size);

	other.connect(asker.qp.address());
	asker.qp.connect(other.address());
	expect_bound(window, first_half());
	Send send = access(IBV_WR_RDMA_WRITE, at(), half, window.rkey());
	send.sges = { from.sge(0, half) };
	ASSERT_EQ(post(asker.qp, send), 0);
	expect(asker.send_cq, asker.qp, 1);

	/* And no QP of another. */
	Pd foreign(pair.b.device);
	Qp stranger(pair.b.device, foreign.get(), pair.b.send_cq, pair.b.recv_cq);
	ASSERT_EQ(asker.qp.modify(to_state(IBV_QPS_RESET)), 0);
	stranger.connect(asker.qp.address());
	asker.qp.connect(stranger.address());
	ASSERT_EQ(post(asker.qp, send), 0);
	expect_reason(expect(asker.send_cq, asker.qp, 1, IBV_WC_REM_ACCESS_ERR),
		      BELLHOP_REASON_RKEY_PD);
}

TEST_F(Type1, can_be_bound_to_another_region_at_once)
{
	Memory more(size);
	Mr second(pair.b.pd, more, access_bindable);

	expect_bound(window, first_half());
	expect_bound(window, { second.get(), reinterpret_cast<uintptr_t>(more.data()), size });
	ASSERT_EQ(mr.deregister(), 0);
	EXPECT_EQ(second.deregister(), EBUSY);
	ASSERT_EQ(
		post(pair.a.qp, access(IBV_WR_RDMA_WRITE, reinterpret_cast<uintptr_t>(more.data()),
				       size, window.rkey())),
		0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(std::memcmp(more.data(), a.memory.data(), size), 0);
	ASSERT_EQ(window.deallocate(), 0);
	EXPECT_EQ(second.deregister(), 0);
}

/* The binding that there was stays when another one is refused. */
TEST_F(Type1, may_not_be_bound_to)
{
	Memory more(size);
	Mr plain(pair.b.pd, more, access_all);
	Mr read_only(pair.b.pd, more, IBV_ACCESS_MW_BIND);
	const auto start = reinterpret_cast<uintptr_t>(more.data());
	struct {
		const char *what;
		Bind to;
		bellhop_reason reason;
	} const cases[] = {
		{ "a region without MW_BIND",
		  { plain.get(), start, half },
		  BELLHOP_REASON_MW_REGION_ACCESS },
		{ "for writes, a region that its owner may not write",
		  { read_only.get(), start, half, IBV_ACCESS_REMOTE_WRITE },
		  BELLHOP_REASON_MW_REGION_ACCESS },
		{ "for atomics, likewise",
		  { read_only.get(), start, half, IBV_ACCESS_REMOTE_ATOMIC },
		  BELLHOP_REASON_MW_REGION_ACCESS },
		{ "bytes before the region",
		  { mr.get(), at() - 1, half },
		  BELLHOP_REASON_MW_RANGE },
		{ "bytes behind it", { mr.get(), at(half), half + 1 }, BELLHOP_REASON_MW_RANGE },
		{ "more bytes than there are", { mr.get(), at(), ~0ull }, BELLHOP_REASON_MW_RANGE },
	};

	expect_bound(window, first_half());
	for (const auto &c : cases) {
		SCOPED_TRACE(c.what);
		const uint32_t before = window.rkey();

		expect_failed(bind(pair.b.qp, window, c.to, 9), 9, c.reason);
		/* The program has to mend the key itself, as the manual says. */
		window.get()->rkey = before;
		expect_works(before);
	}
	ibv_mr unknown = *mr.get();
	unknown.lkey ^= 0x1234500;
	expect_failed(bind(pair.b.qp, window, { &unknown, at(), half }, 9), 9,
		      BELLHOP_REASON_MW_REGION);
	unknown.lkey = mr.rkey();
	expect_failed(bind(pair.b.qp, window, { &unknown, at(), half }, 9), 9,
		      BELLHOP_REASON_MW_REGION);
	unknown.lkey = window.rkey();
	expect_failed(bind(pair.b.qp, window, { &unknown, at(), half }, 9), 9,
		      BELLHOP_REASON_MW_REGION);
	/* To be read, memory need not be writable. */
	expect_bound(window, { read_only.get(), start, half, IBV_ACCESS_REMOTE_READ });
	ASSERT_EQ(window.deallocate(), 0);
}

TEST_F(Type1, is_not_bound_across_domains)
{
	Pd foreign(pair.b.device);
	Window stranger(foreign, IBV_MW_TYPE_1);
	Mr elsewhere(foreign, memory, access_bindable);

	EXPECT_EQ(bind(pair.b.qp, window, { elsewhere.get(), at(), half }), EPERM);
	/* libibverbs looks at what it knows: the kernel has to see it, too. */
	expect_failed(bind(pair.b.qp, stranger, { elsewhere.get(), at(), half }, 9), 9,
		      BELLHOP_REASON_MW_PD);
	ibv_mr lie = *elsewhere.get();
	lie.pd = pair.b.pd.get();
	expect_failed(bind(pair.b.qp, window, { &lie, at(), half }, 9), 9, BELLHOP_REASON_MW_PD);
}

TEST_F(Type1, knows_no_other_requests)
{
	ibv_send_wr wr = to_bind_wr(window, ibv_inc_rkey(window.rkey()), first_half()), *bad;

	EXPECT_EQ(ibv_post_send(pair.b.qp.get(), &wr, &bad), EINVAL);
	EXPECT_EQ(bind(pair.b.qp, window, first_half(IBV_ACCESS_ZERO_BASED)), EINVAL);
	EXPECT_EQ(bind(pair.b.qp, window, first_half(IBV_ACCESS_ON_DEMAND)), EINVAL);
	EXPECT_EQ(bind(pair.b.qp, window, first_half(), 0, IBV_SEND_INLINE), EINVAL);
	EXPECT_EQ(bind(pair.b.qp, window, { nullptr, at(), half }), EINVAL);
	expect_bound(window, first_half());
	expect_failed(post_local_inv(pair.b.qp, window.rkey(), 9), 9, BELLHOP_REASON_MW_TYPE);
	expect_works(window.rkey());
}

class Extended : public Windows
{
protected:
	Extended() : Windows({ .extended = true, .windows = true }) {}

	ibv_qp_ex *begin(const Qp &qp, uint64_t id, unsigned flags = IBV_SEND_SIGNALED)
	{
		ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());

		ibv_wr_start(ex);
		ex->wr_id = id;
		ex->wr_flags = flags;
		return ex;
	}

	Window window{ pair.b.pd, IBV_MW_TYPE_2 };
	uint32_t rkey = ibv_inc_rkey(window.rkey());
};

TEST_F(Extended, calls_do_the_same)
{
	const ibv_mw_bind_info info = first_half().info();

	ibv_qp_ex *ex = begin(pair.b.qp, 1);
	ibv_wr_bind_mw(ex, window.get(), rkey, &info);
	ASSERT_EQ(ibv_wr_complete(ex), 0);
	EXPECT_EQ(expect(pair.b.send_cq, pair.b.qp, 1).opcode, IBV_WC_BIND_MW);
	expect_works(rkey);
	ex = begin(pair.b.qp, 2);
	ibv_wr_local_inv(ex, rkey);
	ASSERT_EQ(ibv_wr_complete(ex), 0);
	EXPECT_EQ(expect(pair.b.send_cq, pair.b.qp, 2).opcode, IBV_WC_LOCAL_INV);
	expect_closed(rkey);

	ex = begin(pair.b.qp, 3);
	ibv_wr_bind_mw(ex, window.get(), rkey, &info);
	ASSERT_EQ(ibv_wr_complete(ex), 0);
	expect(pair.b.send_cq, pair.b.qp, 3);
	ASSERT_EQ(post_recv(pair.b.qp, {}, 8), 0);
	ex = begin(pair.a.qp, 4);
	ibv_wr_send_inv(ex, rkey);
	ASSERT_EQ(ibv_wr_complete(ex), 0);
	expect(pair.a.send_cq, pair.a.qp, 4);
	EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 8).invalidated_rkey, rkey);
	expect_closed(rkey);
}

TEST_F(Extended, calls_refuse_the_same)
{
	const ibv_mw_bind_info good = first_half().info(), bad = first_half(1 << 7).info();
	Window first_type(pair.b.pd, IBV_MW_TYPE_1);

	ibv_qp_ex *ex = begin(pair.b.qp, 1);
	ibv_wr_bind_mw(ex, first_type.get(), ibv_inc_rkey(first_type.rkey()), &good);
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
	ex = begin(pair.b.qp, 1);
	ibv_wr_bind_mw(ex, window.get(), rkey ^ 0x100, &good);
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
	ex = begin(pair.b.qp, 1);
	ibv_wr_bind_mw(ex, window.get(), rkey, &bad);
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
	ex = begin(pair.b.qp, 1, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
	ibv_wr_local_inv(ex, rkey);
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
	expect_none(pair.b.send_cq);
}

class Unreliable : public Windows
{
protected:
	Unreliable() : Windows({ .type = IBV_QPT_UC }) {}

	Window window{ pair.b.pd, IBV_MW_TYPE_2 };
	uint32_t rkey = ibv_inc_rkey(window.rkey());
};

TEST_F(Unreliable, connections_have_windows)
{
	Window first_type(pair.b.pd, IBV_MW_TYPE_1);

	expect_bound(window, rkey, first_half());
	expect_works(rkey);
	expect_bound(first_type, first_half());
	expect_works(first_type.rkey());
	expect_invalidated(rkey);
	/* What is not opened is lost, and nobody hears of it. */
	std::memset(memory.data(), 0, size);
	ASSERT_EQ(post(pair.a.qp, access(IBV_WR_RDMA_WRITE, at(), 64, rkey)), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(memory.data()[0], 0);
	EXPECT_EQ(post_send_inv(pair.a.qp, {}, rkey), EINVAL);

	/* Only the send queue fails. */
	ASSERT_EQ(post_local_inv(pair.b.qp, rkey, 9), 0);
	expect_reason(expect(pair.b.send_cq, pair.b.qp, 9, IBV_WC_MW_BIND_ERR),
		      BELLHOP_REASON_MW_UNBOUND);
	EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_SQE));
}

TEST_F(Windows, are_there_for_those_types_only)
{
	errno = 0;
	EXPECT_FALSE(ibv_alloc_mw(pair.b.pd.get(), static_cast<ibv_mw_type>(3)));
	EXPECT_EQ(errno, EINVAL);
	EXPECT_FALSE(ibv_alloc_mw(pair.b.pd.get(), static_cast<ibv_mw_type>(0)));

	/* And hold their domain. */
	ibv_pd *pd = ibv_alloc_pd(pair.b.device.get());
	ASSERT_TRUE(pd);
	ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	ASSERT_TRUE(mw);
	EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
	EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

/* Whichever was made first, the kernel takes all apart when a program ends. */
TEST(Leftovers, of_windows_that_are_bound)
{
	constexpr uint32_t size = 16384;
	const Holdings before;

	for (bool region_first : { true, false }) {
		Endpoint end;
		Memory memory(size);
		ibv_mr *mr = nullptr;
		const auto reg = [&] {
			mr = ibv_reg_mr(end.pd.get(), memory.data(), size,
					IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
			return mr != nullptr;
		};

		if (region_first)
			ASSERT_TRUE(reg());
		for (ibv_mw_type type : { IBV_MW_TYPE_1, IBV_MW_TYPE_2 }) {
			ibv_mw *mw = ibv_alloc_mw(end.pd.get(), type);

			ASSERT_TRUE(mw);
			if (!mr)
				ASSERT_TRUE(reg());
			if (type == IBV_MW_TYPE_1)
				end.qp.connect(end.qp.address());
			ibv_send_wr wr = {}, *bad;
			const ibv_mw_bind_info info = { mr,
							reinterpret_cast<uintptr_t>(memory.data()),
							size, IBV_ACCESS_REMOTE_READ };
			ibv_mw_bind bind = { 1, IBV_SEND_SIGNALED, info };
			wr.opcode = IBV_WR_BIND_MW;
			wr.send_flags = IBV_SEND_SIGNALED;
			wr.bind_mw = { mw, ibv_inc_rkey(mw->rkey), info };
			ASSERT_EQ(type == IBV_MW_TYPE_1 ? ibv_bind_mw(end.qp.get(), mw, &bind)
							: ibv_post_send(end.qp.get(), &wr, &bad),
				  0);
			EXPECT_EQ(end.send_cq.next().status, IBV_WC_SUCCESS);
		}
		EXPECT_EQ(ibv_dereg_mr(mr), EBUSY);
		/* The PD is not empty, so that it stays for the kernel, too. */
	}
	EXPECT_TRUE(before.are_back()) << before.describe() << "; now " << Holdings().describe();
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
