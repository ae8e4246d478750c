// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// sqe.cpp: a send that fails on an unreliable QP ends its send queue alone, until the program says
// RTS again (IBA 10.3.1.6).
#include "datagram.hpp"
#include "endpoint.hpp"
#include "ktap.hpp"

using namespace vm;

/* Two ends that know each other; a is the one whose send fails. */
class SendQueueError : public testing::TestWithParam<ibv_qp_type>
{
protected:
	static constexpr uint32_t qkey = 0x11111111, length = 100;

	SendQueueError()
	{
		for (auto [own, other] : { std::pair(&a, &b), { &b, &a } }) {
			if (GetParam() == IBV_QPT_UD)
				require(!own->qp.open(qkey), "to RTS");
			else
				own->qp.connect(other->qp.address());
		}
	}

	/** A message from @from to @to. */
	Send message(const Region &region, const Endpoint &to, const AddressHandle &ah,
		     uint64_t id) const
	{
		return { .opcode = IBV_WR_SEND,
			 .sges = { region.sge(0, length) },
			 .id = id,
			 .ah = GetParam() == IBV_QPT_UD ? ah.get() : nullptr,
			 .qpn = to.qp.get()->qp_num,
			 .qkey = qkey };
	}

	Send to_b(uint64_t id) const
	{
		return message(from_a, b, ah_b, id);
	}

	/** What @from sends arrives. */
	void expect_arrives(const Endpoint &from, const Send &send, const Endpoint &to,
			    const Region &region)
	{
		ASSERT_EQ(post_recv(to.qp, { region.sge(1024, 1024) }, 77), 0);
		ASSERT_EQ(post(from.qp, send), 0);
		expect(from.send_cq, from.qp, send.id);
		expect(to.recv_cq, to.qp, 77);
	}

	/** a has a send that fails, and is told so. */
	void fail()
	{
		Send wrong = to_b(1);

		wrong.sges[0].lkey ^= 0x100;
		ASSERT_EQ(post(a.qp, wrong), 0);
		expect_reason(expect(a.send_cq, a.qp, 1, IBV_WC_LOC_PROT_ERR),
			      BELLHOP_REASON_LKEY_UNKNOWN);
		EXPECT_TRUE(a.qp.reaches(IBV_QPS_SQE));
	}

	const QpShape shape{ .type = GetParam() };
	Endpoint a{ shape }, b{ shape };
	Region from_a{ a.pd, 4096 }, from_b{ b.pd, 4096 };
	AddressHandle ah_a{ b.pd, a.device.gid() }, ah_b{ a.pd, b.device.gid() };
};

TEST_P(SendQueueError, flushes_what_is_sent_before_and_after)
{
	Send wrong = to_b(1), after = to_b(2);

	wrong.sges[0].lkey ^= 0x100;
	ibv_send_wr first = to_wr(wrong), second = to_wr(after), *bad;
	first.next = &second;
	ASSERT_EQ(ibv_post_send(a.qp.get(), &first, &bad), 0);
	expect(a.send_cq, a.qp, 1, IBV_WC_LOC_PROT_ERR);
	expect_reason(expect(a.send_cq, a.qp, 2, IBV_WC_WR_FLUSH_ERR), BELLHOP_REASON_FLUSHED);
	ASSERT_EQ(post(a.qp, to_b(3)), 0);
	expect(a.send_cq, a.qp, 3, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(a.qp.state(), IBV_QPS_SQE);
}

TEST_P(SendQueueError, receives_as_before)
{
	fail();
	expect_arrives(b, message(from_b, a, ah_a, 5), a, from_a);
	EXPECT_EQ(a.qp.state(), IBV_QPS_SQE);
}

TEST_P(SendQueueError, ends_when_the_program_says_so)
{
	for (int mask : { 0, int{ IBV_QP_CUR_STATE } }) {
		Change change = to_state(IBV_QPS_RTS);

		fail();
		change.attr.cur_qp_state = IBV_QPS_SQE;
		change.mask |= mask;
		ASSERT_EQ(a.qp.modify(change), 0);
		expect_arrives(a, to_b(6), b, from_b);
	}
}

TEST_P(SendQueueError, leads_to_error_and_reset_too)
{
	fail();
	ASSERT_EQ(post_recv(a.qp, { from_a.sge(0, 1024) }, 8), 0);
	expect_none(a.recv_cq);
	ASSERT_EQ(a.qp.modify(to_state(IBV_QPS_ERR)), 0);
	expect(a.recv_cq, a.qp, 8, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(a.qp.modify(to_state(IBV_QPS_RTS)), EINVAL);
	EXPECT_EQ(a.qp.modify(to_state(IBV_QPS_RESET)), 0);
}

INSTANTIATE_TEST_SUITE_P(types, SendQueueError, testing::Values(IBV_QPT_UC, IBV_QPT_UD),
			 [](const auto &info) { return info.param == IBV_QPT_UC ? "uc" : "ud"; });

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
