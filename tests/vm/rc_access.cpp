// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_access.cpp: every wrong key, range and right gives the IBA's status and states on both sides.
#include <functional>
#include "ktap.hpp"
#include "transfer.hpp"

using namespace vm;

static constexpr uint32_t length = 4096;

/* Two ends with a good region each; the cases bend what they need. */
class Access : public testing::Test
{
protected:
	/** The request that would succeed. */
	Send good(ibv_wr_opcode opcode) const
	{
		return { .opcode = opcode,
			 .sges = { a.sge(0, length) },
			 .remote = b.address(),
			 .rkey = b.mr.rkey(),
			 .id = 1 };
	}

	/** @send fails here with @status for @reason, and b never hears of it. */
	void expect_local(const Send &send, ibv_wc_status status, bellhop_reason reason)
	{
		if (takes_receive(send.opcode))
			ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 2), 0);
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, status), reason);
		if (HasFailure())
			return; /* What follows would be waited for in vain. */
		EXPECT_TRUE(pair.a.qp.reaches(IBV_QPS_ERR));
		EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
		expect_none(pair.b.recv_cq);
		expect_no_event(pair.b.device);
		EXPECT_TRUE(untouched());
	}

	/** b refuses @send, which a learns by @status for @reason, and b's program by @event. */
	void expect_remote(const Send &send, ibv_wc_status status, bellhop_reason reason,
			   ibv_event_type event)
	{
		ASSERT_EQ(post_recv(pair.b.qp, {}, 2), 0);
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, status), reason);
		if (HasFailure())
			return; /* What follows would be waited for in vain. */
		EXPECT_TRUE(pair.a.qp.reaches(IBV_QPS_ERR));
		expect_event(pair.b.device, event, pair.b.qp);
		EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
		expect(pair.b.recv_cq, pair.b.qp, 2, IBV_WC_WR_FLUSH_ERR);
		EXPECT_TRUE(untouched());
	}

	void expect_access_error(const Send &send, bellhop_reason reason)
	{
		expect_remote(send, IBV_WC_REM_ACCESS_ERR, reason, IBV_EVENT_QP_ACCESS_ERR);
	}

	/* Not one byte of what must not be written was. */
	bool untouched() const
	{
		for (const Region *region : { &a, &b })
			for (uint8_t byte : region->memory.bytes())
				if (byte)
					return false;
		return true;
	}

	Pair pair;
	Region a{ pair.a.pd, 2 * length };
	Region b{ pair.b.pd, 2 * length };
};

/* Whether anybody would take the message does not matter. */
TEST_F(Access, own_key_is_looked_at_first)
{
	Send send = good(IBV_WR_SEND);

	send.sges[0].lkey ^= 0x100;
	ASSERT_EQ(post(pair.a.qp, send), 0);
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_LOC_PROT_ERR),
		      BELLHOP_REASON_LKEY_UNKNOWN);
	pair.a.qp.modify(to_state(IBV_QPS_RESET));
	pair.b.qp.modify(to_state(IBV_QPS_RESET));
	pair.a.qp.connect(pair.b.qp.address());
	ASSERT_EQ(post(pair.a.qp, send), 0);
	expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_LOC_PROT_ERR);
}

/* Both directions: a write and a read. What a case says of "remote" holds for either. */
class RemoteAccess : public Access, public testing::WithParamInterface<ibv_wr_opcode>
{
protected:
	/** The same request on a region of b's that allows no more than @access. */
	Send on(const Region &region) const
	{
		Send send = good(GetParam());

		send.remote = region.address();
		send.rkey = region.mr.rkey();
		return send;
	}
};

TEST_P(RemoteAccess, by_a_key_of_nothing)
{
	Send send = good(GetParam());

	send.rkey ^= 0x00ffff00;
	expect_access_error(send, BELLHOP_REASON_RKEY_UNKNOWN);
}

TEST_P(RemoteAccess, by_another_variant_of_the_key)
{
	Send send = good(GetParam());

	send.rkey ^= 1;
	expect_access_error(send, BELLHOP_REASON_RKEY_UNKNOWN);
}

TEST_P(RemoteAccess, by_the_lkey)
{
	Send send = good(GetParam());

	if (b.mr.lkey() == b.mr.rkey())
		GTEST_SKIP() << "the device does not tell lkey and rkey apart";
	send.rkey = b.mr.lkey();
	expect_access_error(send, BELLHOP_REASON_RKEY_UNKNOWN);
}

TEST_P(RemoteAccess, by_a_key_of_another_pd)
{
	Pd other(pair.b.device);
	Region region(other, length);

	expect_access_error(on(region), BELLHOP_REASON_RKEY_PD);
}

TEST_P(RemoteAccess, by_the_key_of_a_region_that_is_gone)
{
	Send send = good(GetParam());

	ASSERT_EQ(b.mr.deregister(), 0);
	expect_access_error(send, BELLHOP_REASON_RKEY_UNKNOWN);
}

TEST_P(RemoteAccess, one_byte_past_the_end)
{
	Send send = good(GetParam());

	send.remote = b.address(length) + 1;
	expect_access_error(send, BELLHOP_REASON_RKEY_RANGE);
}

TEST_P(RemoteAccess, one_byte_before_the_start)
{
	Send send = good(GetParam());

	send.remote = b.address() - 1;
	expect_access_error(send, BELLHOP_REASON_RKEY_RANGE);
}

TEST_P(RemoteAccess, over_the_end_of_all_addresses)
{
	Send send = good(GetParam());

	send.remote = ~0ull - 10;
	expect_access_error(send, BELLHOP_REASON_RKEY_RANGE);
}

TEST_P(RemoteAccess, without_any_right)
{
	Region region(pair.b.pd, length, IBV_ACCESS_LOCAL_WRITE);

	expect_access_error(on(region), BELLHOP_REASON_RKEY_ACCESS);
}

TEST_P(RemoteAccess, with_only_the_other_right)
{
	Region region(pair.b.pd, length,
		      IBV_ACCESS_LOCAL_WRITE | (is_read(GetParam()) ? IBV_ACCESS_REMOTE_WRITE
								    : IBV_ACCESS_REMOTE_READ));

	expect_access_error(on(region), BELLHOP_REASON_RKEY_ACCESS);
}

/* IBA table 62: the QP's own right is missing. That is an invalid request, not an access error. */
TEST_P(RemoteAccess, of_a_qp_without_the_right)
{
	Change change = { .attr = {}, .mask = IBV_QP_ACCESS_FLAGS };

	change.attr.qp_access_flags = access_all & ~(is_read(GetParam()) ? IBV_ACCESS_REMOTE_READ
									 : IBV_ACCESS_REMOTE_WRITE);
	ASSERT_EQ(pair.b.qp.modify(change), 0);
	expect_remote(good(GetParam()), IBV_WC_REM_INV_REQ_ERR, BELLHOP_REASON_QP_ACCESS,
		      IBV_EVENT_QP_REQ_ERR);
}

INSTANTIATE_TEST_SUITE_P(rc, RemoteAccess,
			 testing::Values(IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
					 IBV_WR_RDMA_READ),
			 [](const auto &info) { return opcode_name(info.param); });

class LocalAccess : public Access, public testing::WithParamInterface<ibv_wr_opcode>
{
};

TEST_P(LocalAccess, by_a_key_of_nothing)
{
	Send send = good(GetParam());

	send.sges[0].lkey ^= 0x00ffff00;
	expect_local(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
}

TEST_P(LocalAccess, by_the_rkey)
{
	Send send = good(GetParam());

	if (a.mr.lkey() == a.mr.rkey())
		GTEST_SKIP() << "the device does not tell lkey and rkey apart";
	send.sges[0].lkey = a.mr.rkey();
	expect_local(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
}

TEST_P(LocalAccess, by_a_key_of_another_pd)
{
	Pd other(pair.a.device);
	Region region(other, length);
	Send send = good(GetParam());

	send.sges = { region.sge(0, length) };
	expect_local(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_PD);
}

TEST_P(LocalAccess, by_the_key_of_a_region_that_is_gone)
{
	Send send = good(GetParam());

	ASSERT_EQ(a.mr.deregister(), 0);
	expect_local(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
}

TEST_P(LocalAccess, one_byte_past_the_end)
{
	Send send = good(GetParam());

	send.sges[0].addr += length + 1;
	expect_local(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_RANGE);
}

TEST_P(LocalAccess, over_the_end_of_all_addresses)
{
	Send send = good(GetParam());

	send.sges[0].addr = ~0ull - 10;
	expect_local(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_RANGE);
}

INSTANTIATE_TEST_SUITE_P(rc, LocalAccess, testing::ValuesIn(all_opcodes),
			 [](const auto &info) { return opcode_name(info.param); });

TEST_F(Access, a_read_into_a_region_that_may_not_be_written)
{
	Region region(pair.a.pd, length, 0);
	Send send = good(IBV_WR_RDMA_READ);

	send.sges = { region.sge(0, length) };
	expect_local(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_ACCESS);
}

TEST_F(Access, a_send_from_a_region_that_may_not_be_written_is_fine)
{
	Region region(pair.a.pd, length, 0);

	ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 2), 0);
	ASSERT_EQ(post(pair.a.qp, { .sges = { region.sge(0, length) }, .id = 1 }), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	expect(pair.b.recv_cq, pair.b.qp, 2);
}

/* The second element is wrong: whatever of the first was moved, the status is the same. */
TEST_F(Access, a_list_whose_last_element_is_wrong)
{
	Send send = good(IBV_WR_RDMA_WRITE);

	send.sges = { a.sge(0, 10), { a.address(), 10, a.mr.lkey() ^ 0x00ffff00 } };
	ASSERT_EQ(post(pair.a.qp, send), 0);
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_LOC_PROT_ERR),
		      BELLHOP_REASON_LKEY_UNKNOWN);
	EXPECT_TRUE(pair.a.qp.reaches(IBV_QPS_ERR));
	EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
}

TEST(Reads, that_the_responder_takes_none_of)
{
	Pair pair({}, {}, { .max_dest_rd_atomic = 0 });
	Region a(pair.a.pd, length), b(pair.b.pd, length);

	ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_READ,
				    .sges = { a.sge(0, length) },
				    .remote = b.address(),
				    .rkey = b.mr.rkey(),
				    .id = 1 }),
		  0);
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_INV_REQ_ERR),
		      BELLHOP_REASON_NO_RD_ATOMIC);
	EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
}

TEST(Reads, that_the_requester_may_not_ask_for)
{
	Pair pair({}, { .max_rd_atomic = 0 }, {});
	Region a(pair.a.pd, length), b(pair.b.pd, length);

	ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_READ,
				    .sges = { a.sge(0, length) },
				    .remote = b.address(),
				    .rkey = b.mr.rkey(),
				    .id = 1 }),
		  0);
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_LOC_QP_OP_ERR),
		      BELLHOP_REASON_NO_RD_ATOMIC);
	EXPECT_TRUE(pair.a.qp.reaches(IBV_QPS_ERR));
	EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
