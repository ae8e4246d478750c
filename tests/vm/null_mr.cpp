// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// null_mr.cpp: regions of nothing, of which zeros are read and where what is written is dropped, in
// every place that a region of this side can have; and what they may not be used for.
#include <memory>
#include "datagram.hpp"
#include "endpoint.hpp"
#include "ktap.hpp"
#include "window.hpp"
#include "written.hpp"

using namespace vm;

static constexpr uint32_t size = 256 << 10;

/* Both ends have one. */
class Null : public testing::Test
{
protected:
	struct Side {
		explicit Side(const Endpoint &end)
		    : region(end.pd, size), null(ibv_alloc_null_mr(end.pd.get()))
		{
			fill(region.memory.bytes(), 7);
		}

		/* Any address will do. */
		ibv_sge nothing(uint32_t length, uint64_t address = 0x123456789) const
		{
			return { address, length, null.lkey() };
		}

		bool is_zero(size_t offset, size_t length) const
		{
			return std::vector<uint8_t>(length) ==
			       std::vector<uint8_t>(region.memory.data() + offset,
						    region.memory.data() + offset + length);
		}

		Region region;
		Mr null;
	};

	Send write(std::vector<ibv_sge> sges) const
	{
		return { .opcode = IBV_WR_RDMA_WRITE,
			 .sges = std::move(sges),
			 .remote = b.region.address(),
			 .rkey = b.region.mr.rkey(),
			 .id = 1 };
	}

	Send read(std::vector<ibv_sge> sges) const
	{
		Send send = write(std::move(sges));

		send.opcode = IBV_WR_RDMA_READ;
		return send;
	}

	void expect_done(const Send &send, ibv_wc_status status = IBV_WC_SUCCESS,
			 bellhop_reason reason = BELLHOP_REASON_NONE)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, status), reason);
		if (status != IBV_WC_SUCCESS)
			pair.reconnect();
	}

	Pair pair;
	Side a{ pair.a };
	Side b{ pair.b };
};

TEST_F(Null, has_one_key)
{
	EXPECT_NE(a.null.lkey(), 0u);
	EXPECT_EQ(a.null.get()->rkey, 0u);
	EXPECT_EQ(a.null.get()->addr, nullptr);
	EXPECT_EQ(a.null.get()->length, SIZE_MAX);
	EXPECT_EQ(a.null.deregister(), 0);
}

TEST_F(Null, gives_zeros)
{
	for (uint32_t length : { 1u, 64u, 65u, 4096u, 5000u, size }) {
		fill(b.region.memory.bytes(), length);
		expect_done(write({ a.nothing(length) }));
		EXPECT_TRUE(b.is_zero(0, length)) << length;
	}
	for (uint64_t address : { uint64_t(0), ~uint64_t(0), ~uint64_t(0) - 4096 }) {
		fill(b.region.memory.bytes(), 1);
		expect_done(write({ a.nothing(10000, address) }));
		EXPECT_TRUE(b.is_zero(0, 10000)) << address;
	}
}

TEST_F(Null, drops_what_is_written)
{
	for (uint32_t length : { 1u, 64u, 4097u, size })
		expect_done(read({ a.nothing(length) }));
	/* And gives zeros all the same. */
	expect_done(write({ a.nothing(size) }));
	EXPECT_TRUE(b.is_zero(0, size));
}

TEST_F(Null, stands_among_others)
{
	constexpr uint32_t skip = 5000;
	const std::vector<uint8_t> before(a.region.memory.bytes().begin(),
					  a.region.memory.bytes().end());

	fill(b.region.memory.bytes(), 1);
	expect_done(write({ a.region.sge(0, 100), a.nothing(skip), a.region.sge(100, 200) }));
	EXPECT_EQ(std::memcmp(b.region.memory.data(), &before[0], 100), 0);
	EXPECT_TRUE(b.is_zero(100, skip));
	EXPECT_EQ(std::memcmp(b.region.memory.data() + 100 + skip, &before[100], 200), 0);

	fill(b.region.memory.bytes(), 2);
	expect_done(read({ a.region.sge(0, 100), a.nothing(skip), a.region.sge(100, 200) }));
	EXPECT_EQ(std::memcmp(a.region.memory.data(), b.region.memory.data(), 100), 0);
	EXPECT_EQ(
		std::memcmp(a.region.memory.data() + 100, b.region.memory.data() + 100 + skip, 200),
		0);
	EXPECT_EQ(std::memcmp(a.region.memory.data() + 300, &before[300], size - 300), 0);
}

TEST_F(Null, sends_and_receives)
{
	ASSERT_EQ(post_recv(pair.b.qp,
			    { b.region.sge(0, 10), b.nothing(3000), b.region.sge(10, 4000) }, 2),
		  0);
	expect_done({ .sges = { a.region.sge(0, 3500), a.nothing(100) }, .id = 1 });
	EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 2).byte_len, 3600u);
	EXPECT_EQ(std::memcmp(b.region.memory.data(), a.region.memory.data(), 10), 0);
	EXPECT_EQ(std::memcmp(b.region.memory.data() + 10, a.region.memory.data() + 3010, 490), 0);
	EXPECT_TRUE(b.is_zero(500, 100));

	/* From nothing to nothing, and it is counted. */
	ASSERT_EQ(post_recv(pair.b.qp, { b.nothing(size) }, 3), 0);
	expect_done({ .sges = { a.nothing(size) }, .id = 1 });
	EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 3).byte_len, size);
	/* Its length is a limit nevertheless. */
	ASSERT_EQ(post_recv(pair.b.qp, { b.nothing(100) }, 4), 0);
	ASSERT_EQ(post(pair.a.qp, { .sges = { a.nothing(101) }, .id = 1 }), 0);
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_INV_REQ_ERR),
		      BELLHOP_REASON_RECV_TOO_SHORT);
}

TEST_F(Null, takes_what_an_atomic_answers)
{
	auto *word = reinterpret_cast<uint64_t *>(b.region.memory.data());
	Send add = write({ a.nothing(8) });

	add.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	add.compare_add = 1;
	*word = 41;
	expect_done(add);
	EXPECT_EQ(*word, 42u);
}

TEST_F(Null, is_not_for_the_other_side)
{
	Send send = write({ a.region.sge(0, 8) });

	send.rkey = b.null.lkey() ^ 1u << 31;
	expect_done(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_ACCESS);
	send.opcode = IBV_WR_RDMA_READ;
	expect_done(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_ACCESS);
	send.rkey = b.null.lkey();
	expect_done(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_UNKNOWN);
}

TEST_F(Null, is_of_one_domain)
{
	Pd other(pair.a.device);
	Mr foreign(ibv_alloc_null_mr(other.get()));
	ibv_sge sge = a.nothing(8);

	sge.lkey = foreign.lkey();
	expect_done(write({ sge }), IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_PD);
	expect_done(read({ sge }), IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_PD);
}

TEST_F(Null, is_known_by_its_key_until_it_goes)
{
	ibv_sge sge = a.nothing(8);

	sge.lkey ^= 1;
	expect_done(write({ sge }), IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
	sge.lkey ^= 1 | 1u << 31;
	expect_done(write({ sge }), IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
	sge.lkey ^= 1u << 31;
	ASSERT_EQ(a.null.deregister(), 0);
	expect_done(read({ sge }), IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
}

TEST_F(Null, is_bound_to_no_window)
{
	for (ibv_mw_type type : { IBV_MW_TYPE_1, IBV_MW_TYPE_2 }) {
		Window window(pair.b.pd, type);
		const Bind to = { b.null.get(), 0, 8, IBV_ACCESS_REMOTE_READ };

		ASSERT_EQ(type == IBV_MW_TYPE_1 ? bind(pair.b.qp, window, to, 5)
						: post_bind(pair.b.qp, window,
							    ibv_inc_rkey(window.rkey()), to, 5),
			  0);
		expect_reason(expect(pair.b.send_cq, pair.b.qp, 5, IBV_WC_MW_BIND_ERR),
			      BELLHOP_REASON_MW_REGION_ACCESS);
		pair.reconnect();
	}
}

TEST_F(Null, does_not_change)
{
	errno = 0;
	EXPECT_NE(ibv_rereg_mr(a.null.get(), IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
			       access_all),
		  0);
	EXPECT_EQ(errno, EINVAL);
	expect_done(write({ a.nothing(8) }));
}

/* What nobody takes is checked, too: here the other side's key comes first. */
TEST_F(Null, is_not_what_a_refused_request_fails_for)
{
	Send send = write({ a.nothing(8) });

	send.rkey ^= 1;
	expect_done(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_UNKNOWN);
	/* A datagram to a QP that is not there is sent all the same. */
	Station station(0x11111111);
	Mr null(ibv_alloc_null_mr(station.pd.get()));
	ASSERT_EQ(post(station.qp, { .sges = { { 1, 100, null.lkey() } },
				     .id = 6,
				     .ah = station.ah.get(),
				     .qpn = 0xfffffe,
				     .qkey = 0x11111111 }),
		  0);
	expect(station.send_cq, station.qp, 6);
}

TEST_F(Null, is_good_for_datagrams)
{
	Station station(0x11111111);
	Mr null(ibv_alloc_null_mr(station.pd.get()));
	const Send send = { .sges = { station.region.sge(8192, 50), { 5, 50, null.lkey() } },
			    .id = 6,
			    .ah = station.ah.get(),
			    .qpn = station.qp.get()->qp_num,
			    .qkey = 0x11111111 };

	fill(station.region.memory.bytes(), 1);
	/* Its header is what the receiver has no use for. */
	ASSERT_EQ(post_recv(station.qp,
			    { { 0, grh_bytes, null.lkey() }, station.region.sge(0, 100) }, 7),
		  0);
	ASSERT_EQ(post(station.qp, send), 0);
	expect(station.send_cq, station.qp, 6);
	EXPECT_EQ(expect(station.recv_cq, station.qp, 7).byte_len, grh_bytes + 100);
	const uint8_t *got = station.region.memory.data();
	EXPECT_EQ(std::memcmp(got, got + 8192, 50), 0);
	EXPECT_EQ(std::vector<uint8_t>(got + 50, got + 100), std::vector<uint8_t>(50));
}

/* What the library asks for by a struct of bellhop's own. */
class NullRequest : public testing::Test
{
protected:
	Registration sound() const
	{
		return registration_of_nothing(reinterpret_cast<uintptr_t>(answer.get()),
					       pd.get()->handle);
	}

	/* @cut: bytes that the command has less. */
	int call(const Registration &body, size_t cut = 0) const
	{
		Command command = Command::plain(IB_USER_VERBS_CMD_REG_MR, body, sizeof(*answer));

		if (cut) {
			command.bytes.resize(command.bytes.size() - cut);
			command.bytes[4] = static_cast<uint8_t>(command.bytes.size() / 4);
		}
		return write(device.get()->cmd_fd, command.bytes.data(), command.bytes.size()) < 0
			       ? errno
			       : 0;
	}

	Device device;
	Pd pd{ device };
	/* Not a member, since it ends in an array without a size. */
	std::unique_ptr<ib_uverbs_reg_mr_resp> answer = std::make_unique<ib_uverbs_reg_mr_resp>();
};

TEST_F(NullRequest, is_taken_as_it_must_be)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the struct is bellhop's";
	ASSERT_EQ(call(sound()), 0);
	std::pair<const char *, Registration> spoilt[] = {
		{ "start", sound() },  { "length", sound() }, { "iova", sound() },
		{ "access", sound() }, { "kind", sound() },   { "reserved", sound() },
	};
	spoilt[0].second.start = 4096;
	spoilt[1].second.length = 4096;
	spoilt[2].second.iova = 4096;
	spoilt[3].second.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	spoilt[4].second.driver.kind = BELLHOP_MR_NULL + 1;
	spoilt[5].second.driver.reserved = 1;
	for (const auto &[what, body] : spoilt)
		EXPECT_EQ(call(body), EINVAL) << what;
	EXPECT_EQ(call(sound(), 4), EINVAL);
}

/* libibverbs does not let a program ask for this. */
TEST_F(NullRequest, leads_to_what_does_not_change)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the struct is bellhop's";
	ASSERT_EQ(call(sound()), 0);
	for (uint32_t flags = 1; flags < 8; flags++) {
		const ib_uverbs_rereg_mr body = { .response =
							  reinterpret_cast<uintptr_t>(answer.get()),
						  .mr_handle = answer->mr_handle,
						  .flags = flags,
						  .start = 0,
						  .length = 4096,
						  .hca_va = 0,
						  .pd_handle = pd.get()->handle,
						  .access_flags = IBV_ACCESS_LOCAL_WRITE };
		const Command command = Command::plain(IB_USER_VERBS_CMD_REREG_MR, body,
						       sizeof(ib_uverbs_rereg_mr_resp));

		EXPECT_LT(write(device.get()->cmd_fd, command.bytes.data(), command.bytes.size()),
			  0);
		EXPECT_EQ(errno, EOPNOTSUPP) << "flags " << flags;
	}
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
