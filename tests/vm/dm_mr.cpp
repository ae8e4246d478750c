// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// dm_mr.cpp: regions of device memory: what may be registered, and every operation on both ends.
#include "dm.hpp"
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"
#include "window.hpp"

using namespace vm;

static constexpr uint32_t size = 16384;
static constexpr unsigned zero_based = IBV_ACCESS_ZERO_BASED;

class DmRegistration : public testing::Test
{
protected:
	/** Expects @error, or success for 0. */
	void expect_result(int error, uint64_t offset, size_t length,
			   unsigned access = access_all | zero_based)
	{
		errno = 0;
		ibv_mr *mr = reg_dm_mr(pd, dm, offset, length, access);

		EXPECT_EQ(mr ? 0 : errno, error) << (mr ? "registered" : std::strerror(errno));
		if (mr)
			EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}

	Device device;
	Pd pd{ device };
	Dm dm{ device, 1000 };
};

TEST_F(DmRegistration, of_a_part_of_it)
{
	expect_result(0, 0, 1000);
	expect_result(0, 999, 1);
	expect_result(0, 1, 999);
	/* Nothing of it, which can be known by its keys all the same. */
	expect_result(0, 0, 0);
	expect_result(0, 1000, 0);
}

TEST_F(DmRegistration, of_what_it_has_not)
{
	expect_result(EINVAL, 0, 1001);
	expect_result(EINVAL, 1, 1000);
	expect_result(EINVAL, 1001, 0);
	expect_result(EINVAL, ~0ULL, 2);
	expect_result(EINVAL, 2, ~size_t(0));
}

TEST_F(DmRegistration, with_access)
{
	expect_result(0, 0, 8, zero_based);
	expect_result(0, 0, 8, zero_based | IBV_ACCESS_RELAXED_ORDERING);
	expect_result(0, 0, 8, zero_based | access_bindable);
	/* Where in the program's memory would it be? */
	expect_result(EINVAL, 0, 8, access_all);
	expect_result(EINVAL, 0, 8, zero_based | IBV_ACCESS_REMOTE_WRITE);
	expect_result(EINVAL, 0, 8, zero_based | IBV_ACCESS_REMOTE_ATOMIC);
	expect_result(EOPNOTSUPP, 0, 8, zero_based | IBV_ACCESS_ON_DEMAND);
	expect_result(EINVAL, 0, 8, zero_based | 1 << 15);
}

TEST_F(DmRegistration, keeps_the_memory)
{
	Mr first(reg_dm_mr(pd, dm, 0, 8)), second(reg_dm_mr(pd, dm, 4, 8));

	EXPECT_EQ(dm.release(), EBUSY);
	EXPECT_EQ(first.deregister(), 0);
	EXPECT_EQ(dm.release(), EBUSY);
	EXPECT_EQ(second.deregister(), 0);
	EXPECT_EQ(dm.release(), 0);
}

TEST_F(DmRegistration, does_not_change)
{
	Memory memory(4096);
	Mr mr(reg_dm_mr(pd, dm, 0, 8));

	for (int flags : { int(IBV_REREG_MR_CHANGE_TRANSLATION), int(IBV_REREG_MR_CHANGE_PD),
			   int(IBV_REREG_MR_CHANGE_ACCESS) }) {
		errno = 0;
		EXPECT_NE(ibv_rereg_mr(mr.get(), flags, pd.get(), memory.data(), 4096, access_all),
			  0);
		EXPECT_EQ(errno, EINVAL);
	}
}

/* Both ends have device memory, whose regions leave out its first bytes. */
class DmTraffic : public testing::Test
{
protected:
	static constexpr uint64_t skip = 4096 + 8;
	static constexpr uint32_t length = size - skip;

	struct Side {
		explicit Side(const Endpoint &end, unsigned access = access_all)
		    : dm(end.device, size),
		      mr(reg_dm_mr(end.pd, dm, skip, length, access | zero_based))
		{
		}

		/* Its region's bytes. */
		std::vector<uint8_t> bytes() const
		{
			const std::vector<uint8_t> all = dm.bytes();

			return { all.begin() + skip, all.end() };
		}

		uint64_t word(uint64_t offset) const
		{
			uint64_t word;

			std::memcpy(&word, &bytes()[offset], sizeof(word));
			return word;
		}

		Dm dm;
		Mr mr;
	};

	/* a's bytes from @from on against b's from @to on. */
	Send request(ibv_wr_opcode opcode, uint64_t from, uint64_t to, uint32_t bytes) const
	{
		Send send = { .opcode = opcode,
			      .sges = { { from, bytes, a.mr.lkey() } },
			      .remote = to,
			      .rkey = b.mr.rkey(),
			      .id = 1 };
		send.compare_add = 1;
		return send;
	}

	void expect_failed(const Send &send, ibv_wc_status status, bellhop_reason reason)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, status), reason);
		pair.reconnect();
	}

	Pair pair;
	Side a{ pair.a };
	Side b{ pair.b };
};

TEST_F(DmTraffic, by_writes_reads_and_sends)
{
	constexpr uint32_t bytes = 9001;

	for (ibv_wr_opcode opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND }) {
		a.dm.write_noise(2 * opcode);
		b.dm.write_noise(2 * opcode + 1);
		std::vector<uint8_t> there = b.dm.bytes(), here = a.dm.bytes();

		if (opcode == IBV_WR_RDMA_READ)
			std::memcpy(&here[skip + 3], &there[skip + 5], bytes);
		else
			std::memcpy(&there[skip + 5], &here[skip + 3], bytes);
		if (opcode == IBV_WR_SEND)
			ASSERT_EQ(post_recv(pair.b.qp, { { 5, bytes, b.mr.lkey() } }, 2), 0);
		ASSERT_EQ(post(pair.a.qp, request(opcode, 3, 5, bytes)), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
		if (opcode == IBV_WR_SEND)
			expect(pair.b.recv_cq, pair.b.qp, 2);
		EXPECT_EQ(a.dm.bytes(), here) << "opcode " << opcode;
		EXPECT_EQ(b.dm.bytes(), there) << "opcode " << opcode;
	}
}

TEST_F(DmTraffic, by_atomics)
{
	const uint64_t before = 41;

	for (uint64_t at : { uint64_t(0), uint64_t(length - 8) }) {
		b.dm.write(skip + at, { reinterpret_cast<const uint8_t *>(&before), 8 });
		ASSERT_EQ(post(pair.a.qp, request(IBV_WR_ATOMIC_FETCH_AND_ADD, 16, at, 8)), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
		EXPECT_EQ(a.word(16), before);
		EXPECT_EQ(b.word(at), 42u);
		Send swap = request(IBV_WR_ATOMIC_CMP_AND_SWP, 24, at, 8);
		swap.compare_add = 42;
		swap.swap = 7;
		ASSERT_EQ(post(pair.a.qp, swap), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
		EXPECT_EQ(a.word(24), 42u);
		EXPECT_EQ(b.word(at), 7u);
	}
}

/* Its addresses begin with 0 wherever it lies: the word, too, must lie on 8 bytes. */
TEST_F(DmTraffic, by_atomics_off_their_boundary)
{
	Mr odd(reg_dm_mr(pair.b.pd, b.dm, 4, 64));
	Send send = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 8);

	send.rkey = odd.rkey();
	expect_failed(send, IBV_WC_REM_INV_REQ_ERR, BELLHOP_REASON_ALIGNMENT);
	send.remote = 4;
	expect_failed(send, IBV_WC_REM_INV_REQ_ERR, BELLHOP_REASON_ALIGNMENT);
}

TEST_F(DmTraffic, outside_of_the_region)
{
	for (uint64_t at :
	     std::initializer_list<uint64_t>{ length, length - 7, ~0ULL, ~0ULL - 7, 1 << 20 }) {
		expect_failed(request(IBV_WR_RDMA_WRITE, 0, at, 8), IBV_WC_REM_ACCESS_ERR,
			      BELLHOP_REASON_RKEY_RANGE);
		expect_failed(request(IBV_WR_RDMA_WRITE, at, 0, 8), IBV_WC_LOC_PROT_ERR,
			      BELLHOP_REASON_LKEY_RANGE);
	}
	expect_failed(request(IBV_WR_RDMA_READ, 0, 0, length + 1), IBV_WC_REM_ACCESS_ERR,
		      BELLHOP_REASON_RKEY_RANGE);
}

TEST_F(DmTraffic, of_a_region_of_nothing)
{
	Mr nothing(reg_dm_mr(pair.b.pd, b.dm, 0, 0));
	Send send = request(IBV_WR_RDMA_WRITE, 0, 0, 1);

	send.rkey = nothing.rkey();
	expect_failed(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_RANGE);
	send.sges.clear();
	ASSERT_EQ(post(pair.a.qp, send), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
}

TEST_F(DmTraffic, without_the_right)
{
	Mr silent(reg_dm_mr(pair.b.pd, b.dm, 0, size, zero_based));
	Mr constant(reg_dm_mr(pair.a.pd, a.dm, 0, size, zero_based));

	for (ibv_wr_opcode opcode :
	     { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD }) {
		Send send = request(opcode, 0, 0, 8);

		send.rkey = silent.rkey();
		expect_failed(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_ACCESS);
	}
	Send read = request(IBV_WR_RDMA_READ, 0, 0, 8);
	read.sges[0].lkey = constant.lkey();
	expect_failed(read, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_ACCESS);
}

TEST_F(DmTraffic, of_another_domain)
{
	Pd other_a(pair.a.device), other_b(pair.b.device);
	Mr near(reg_dm_mr(other_a, a.dm, 0, size)), far(reg_dm_mr(other_b, b.dm, 0, size));
	Send send = request(IBV_WR_RDMA_WRITE, 0, 0, 8);

	send.rkey = far.rkey();
	expect_failed(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_PD);
	send = request(IBV_WR_RDMA_WRITE, 0, 0, 8);
	send.sges[0].lkey = near.lkey();
	expect_failed(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_PD);
}

TEST_F(DmTraffic, of_what_is_gone)
{
	Send send = request(IBV_WR_RDMA_WRITE, 0, 0, 8);

	ASSERT_EQ(b.mr.deregister(), 0);
	expect_failed(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_UNKNOWN);
}

TEST_F(DmTraffic, by_a_window)
{
	Mr bindable(reg_dm_mr(pair.b.pd, b.dm, skip, length, zero_based | access_bindable));

	for (ibv_mw_type type : { IBV_MW_TYPE_1, IBV_MW_TYPE_2 }) {
		Window window(pair.b.pd, type);
		const Bind to = { bindable.get(), 64, 64 };
		const uint32_t rkey = ibv_inc_rkey(window.rkey());

		ASSERT_EQ(type == IBV_MW_TYPE_1 ? bind(pair.b.qp, window, to, 5)
						: post_bind(pair.b.qp, window, rkey, to, 5),
			  0);
		expect(pair.b.send_cq, pair.b.qp, 5);
		a.dm.write_noise(type);
		Send send = request(IBV_WR_RDMA_WRITE, 0, 64, 64);
		send.rkey = rkey;
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
		EXPECT_EQ(std::memcmp(&a.bytes()[0], &b.bytes()[64], 64), 0);
		EXPECT_EQ(bindable.deregister(), EBUSY);
		EXPECT_EQ(b.dm.release(), EBUSY);
		send.remote = 63;
		expect_failed(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_RANGE);
	}
	EXPECT_EQ(bindable.deregister(), 0);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
