// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// xrc_errors.cpp: what XRC refuses, whom it tells, and what becomes of entries that were taken.
#include "ktap.hpp"
#include "xrc.hpp"

namespace
{

using namespace vm;

/* Gives up within a tenth of a second: timeout 12 is 17 ms. */
constexpr Path impatient = { .timeout = 12, .retry_cnt = 2 };

class XrcErrors : public testing::Test
{
protected:
	XrcErrors()
	{
		a.connect(target);
	}

	/** Both ends begin again. */
	void reconnect()
	{
		for (const Qp *qp : { &a.qp, &target })
			ASSERT_EQ(qp->modify(to_state(IBV_QPS_RESET)), 0);
		a.connect(target);
	}

	/** Whoever asked hears it, the target is in error, and its owner hears that. */
	void expect_refused(const Send &send, ibv_wc_status status, bellhop_reason reason,
			    ibv_event_type event)
	{
		expect_reason(a.run(send, status), reason);
		expect_event(device, event, target);
		EXPECT_EQ(target.state(), IBV_QPS_ERR);
		EXPECT_EQ(a.qp.state(), IBV_QPS_ERR);
		expect_none(b.cq);
		reconnect();
		b.receive(77);
		a.run({ .id = 5, .srqn = b.srq.number() });
		expect(b.cq, target, 77);
	}

	void expect_access_error(const Send &send, bellhop_reason reason)
	{
		expect_refused(send, IBV_WC_REM_ACCESS_ERR, reason, IBV_EVENT_QP_ACCESS_ERR);
	}

	/** A message of two elements that breaks off after the first, 128 KiB behind. */
	void break_off(uint32_t srqn)
	{
		ibv_sge wrong = large.sge(0, 4096);

		wrong.lkey ^= 0x100;
		a.run({ .sges = { large.sge(0, 128 << 10), wrong }, .id = 6, .srqn = srqn },
		      IBV_WC_LOC_PROT_ERR);
	}

	Device device;
	Xrcd xrcd{ device };
	Receiver b{ device, xrcd, 1 << 20 };
	Qp target{ device, xrcd.get() };
	Initiator a;
	Region large{ a.pd, 128 << 10 };
};

TEST_F(XrcErrors, an_srq_that_is_not_there)
{
	uint32_t gone;
	{
		Srq other(b.pd, xrcd.get(), b.cq);
		gone = other.number();
	}
	for (uint32_t srqn : { 0u, gone, 0xffffffu })
		for (ibv_wr_opcode opcode : { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ })
			expect_access_error({ .opcode = opcode,
					      .sges = { a.region.sge(0, 100) },
					      .remote = b.region.address(),
					      .rkey = b.region.mr.rkey(),
					      .id = 1,
					      .srqn = srqn },
					    BELLHOP_REASON_XRC_SRQ_UNKNOWN);
	EXPECT_EQ(post(a.qp, { .id = 1, .srqn = 0x1000000 }), EINVAL);
}

TEST_F(XrcErrors, an_srq_of_another_domain)
{
	Xrcd theirs(device);
	Receiver other(device, theirs);

	other.receive(1);
	expect_access_error({ .id = 1, .srqn = other.srq.number() }, BELLHOP_REASON_XRC_DOMAIN);
	expect_none(other.cq);
}

TEST_F(XrcErrors, an_ordinary_srq_has_no_number)
{
	Srq ordinary(b.pd);
	uint32_t number = 1;

	EXPECT_EQ(ibv_get_srq_num(ordinary.get(), &number), EOPNOTSUPP);
}

TEST_F(XrcErrors, access_that_the_target_does_not_grant)
{
	Change change = { .attr = {}, .mask = IBV_QP_ACCESS_FLAGS };

	change.attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	ASSERT_EQ(target.modify(change), 0);
	expect_refused({ .opcode = IBV_WR_RDMA_WRITE,
			 .sges = { a.region.sge(0, 100) },
			 .remote = b.region.address(),
			 .rkey = b.region.mr.rkey(),
			 .id = 1,
			 .srqn = b.srq.number() },
		       IBV_WC_REM_INV_REQ_ERR, BELLHOP_REASON_QP_ACCESS, IBV_EVENT_QP_REQ_ERR);
}

TEST_F(XrcErrors, a_message_that_is_too_long)
{
	b.receive(3, 99);
	expect_reason(a.run({ .sges = { a.region.sge(0, 100) }, .id = 1, .srqn = b.srq.number() },
			    IBV_WC_REM_INV_REQ_ERR),
		      BELLHOP_REASON_RECV_TOO_SHORT);
	expect(b.cq, target, 3, IBV_WC_LOC_LEN_ERR);
	EXPECT_EQ(target.state(), IBV_QPS_ERR);
	/* An SRQ of XRC is not left by targets, which have no part in it. */
	expect_no_event(device);
}

/* They are not told anything, and change nothing. */
TEST_F(XrcErrors, strangers)
{
	Endpoint ordinary;

	for (uint32_t srqn : { b.srq.number(), 0u }) {
		Initiator stranger;

		stranger.qp.connect(target.address(), impatient);
		expect_reason(stranger.run({ .id = 1, .srqn = srqn }, IBV_WC_RETRY_EXC_ERR),
			      BELLHOP_REASON_SILENT);
	}
	ordinary.qp.connect(target.address(), impatient);
	ASSERT_EQ(post(ordinary.qp, { .id = 1 }), 0);
	expect(ordinary.send_cq, ordinary.qp, 1, IBV_WC_RETRY_EXC_ERR);
	EXPECT_EQ(target.state(), IBV_QPS_RTS);
	expect_no_event(device);
}

/* Nor does an initiator take anything, or an ordinary QP what is for a target. */
TEST_F(XrcErrors, requests_to_who_is_no_target)
{
	Initiator one, other, third;
	Endpoint ordinary;

	one.qp.connect(other.qp.address(), impatient);
	other.qp.connect(one.qp.address(), impatient);
	one.run({ .id = 1, .srqn = b.srq.number() }, IBV_WC_RETRY_EXC_ERR);
	ordinary.qp.connect(third.qp.address(), impatient);
	third.qp.connect(ordinary.qp.address(), impatient);
	ASSERT_EQ(post(ordinary.qp, { .id = 1 }), 0);
	expect(ordinary.send_cq, ordinary.qp, 1, IBV_WC_RETRY_EXC_ERR);
	third.run({ .id = 1, .srqn = b.srq.number() }, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(XrcErrors, posting_where_there_is_no_queue)
{
	ibv_send_wr send = {}, *bad_send;

	EXPECT_NE(post_recv(a.qp, {}), 0);
	EXPECT_NE(post_recv(target, {}), 0);
	EXPECT_NE(ibv_post_send(target.get(), &send, &bad_send), 0);
}

TEST_F(XrcErrors, qps_and_srqs_that_cannot_be)
{
	ibv_qp_init_attr_ex qp = {};
	ibv_srq_init_attr_ex srq = {};
	ibv_qp_open_attr open = {};

	qp.qp_type = IBV_QPT_XRC_RECV;
	errno = 0;
	EXPECT_EQ(ibv_create_qp_ex(device.get(), &qp), nullptr);
	EXPECT_EQ(errno, EINVAL);
	qp.qp_type = IBV_QPT_RC;
	qp.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp.pd = b.pd.get();
	qp.send_cq = qp.recv_cq = b.cq.get();
	qp.srq = b.srq.get();
	EXPECT_EQ(ibv_create_qp_ex(device.get(), &qp), nullptr);
	EXPECT_EQ(errno, EINVAL) << "an SRQ of XRC for an ordinary QP";
	srq.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
	srq.srq_type = IBV_SRQT_XRC;
	srq.pd = b.pd.get();
	srq.cq = b.cq.get();
	srq.attr = { 16, 1, 0 };
	EXPECT_EQ(ibv_create_srq_ex(device.get(), &srq), nullptr);
	EXPECT_EQ(errno, EINVAL) << "no XRC domain";
	open.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	open.xrcd = xrcd.get();
	open.qp_type = IBV_QPT_XRC_RECV;
	for (uint32_t qpn : { a.qp.get()->qp_num, 0u, 0xffffffu }) {
		open.qp_num = qpn;
		EXPECT_EQ(ibv_open_qp(device.get(), &open), nullptr);
		EXPECT_EQ(errno, EINVAL) << qpn;
	}
	Xrcd theirs(device);
	open.xrcd = theirs.get();
	open.qp_num = target.get()->qp_num;
	EXPECT_EQ(ibv_open_qp(device.get(), &open), nullptr);
	EXPECT_EQ(errno, EINVAL) << "a target of another domain";
}

TEST_F(XrcErrors, a_cq_that_is_too_small)
{
	Receiver small(device, xrcd, 4096, 1);

	for (uint64_t id : { 1, 2, 3 })
		small.receive(id);
	a.run({ .id = 1, .srqn = small.srq.number() });
	a.run({ .id = 2, .srqn = small.srq.number() });
	EXPECT_TRUE(target.reaches(IBV_QPS_ERR));
}

TEST_F(XrcErrors, an_entry_is_flushed_in_its_srq)
{
	b.receive(8, 1 << 20);
	break_off(b.srq.number());
	expect_none(b.cq);
	ASSERT_EQ(target.modify(to_state(IBV_QPS_ERR)), 0);
	expect_reason(expect(b.cq, target, 8, IBV_WC_WR_FLUSH_ERR), BELLHOP_REASON_FLUSHED);
	expect_no_event(device);
}

TEST_F(XrcErrors, an_entry_is_given_back_to_its_srq)
{
	for (bool is_destroyed : { false, true }) {
		Qp other(device, xrcd.get());
		Initiator from;

		b.receive(9, 1 << 20);
		break_off(b.srq.number());
		if (is_destroyed)
			ASSERT_EQ(target.destroy(), 0);
		else
			reconnect();
		from.connect(other);
		from.run({ .id = 2, .srqn = b.srq.number() });
		expect(b.cq, other, 9);
	}
}

TEST_F(XrcErrors, an_entry_is_ended_in_its_srq_whatever_the_next_names)
{
	Receiver other(device, xrcd);

	other.receive(1);
	b.receive(10, 1 << 20);
	break_off(b.srq.number());
	ASSERT_EQ(a.qp.modify(to_state(IBV_QPS_RESET)), 0);
	a.qp.connect(target.address());
	expect_reason(a.run({ .id = 3, .srqn = other.srq.number() }, IBV_WC_REM_INV_REQ_ERR),
		      BELLHOP_REASON_SEQUENCE);
	expect(b.cq, target, 10, IBV_WC_LOC_QP_OP_ERR);
	expect_none(other.cq);
}

TEST_F(XrcErrors, an_entry_goes_with_its_srq)
{
	Receiver other(device, xrcd, 1 << 20);
	Receiver next(device, xrcd);

	other.receive(11, 1 << 20);
	break_off(other.srq.number());
	ASSERT_EQ(other.srq.destroy(), 0);
	ASSERT_EQ(a.qp.modify(to_state(IBV_QPS_RESET)), 0);
	a.qp.connect(target.address());
	next.receive(12);
	a.run({ .id = 4, .srqn = next.srq.number() });
	expect(next.cq, target, 12);
	expect_none(other.cq);
}

} // namespace

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
