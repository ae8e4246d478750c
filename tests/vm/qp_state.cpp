// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// qp_state.cpp: which states follow which, what each change needs, and that attributes come back as
// told.
#include <bit>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

static const char *state_name(ibv_qp_state state)
{
	static const char *const names[] = { "reset", "init", "rtr", "rts", "sqd", "sqe", "err" };

	return names[state];
}

/* The change from one state to another, with all that it needs and no more. */
static Change change_of(const Qp &qp, ibv_qp_state from, ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_INIT:
		return to_init();
	case IBV_QPS_RTR:
		return to_rtr(qp.address());
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR ? to_rts() : to_state(to);
	default:
		return to_state(to);
	}
}

/* From RESET. */
static void bring_to(const Qp &qp, ibv_qp_state state)
{
	const std::vector<ibv_qp_state> ways[] = {
		{},
		{ IBV_QPS_INIT },
		{ IBV_QPS_INIT, IBV_QPS_RTR },
		{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS },
		{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD },
		{},
		{ IBV_QPS_INIT, IBV_QPS_ERR },
	};
	ibv_qp_state from = IBV_QPS_RESET;

	for (ibv_qp_state to : ways[state]) {
		require(!qp.modify(change_of(qp, from, to)),
			std::string("cannot go to ") + state_name(to));
		from = to;
	}
}

/* IBA figure 124 for RC, as far as Linux lets programs ask for it. RC is never in SQE by a request.
 */
static bool is_allowed(ibv_qp_state from, ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_RESET:
		return true;
	case IBV_QPS_ERR:
		return from != IBV_QPS_RESET;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR:
		return from == IBV_QPS_INIT;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR || from == IBV_QPS_RTS || from == IBV_QPS_SQD;
	case IBV_QPS_SQD:
		return from == IBV_QPS_RTS || from == IBV_QPS_SQD;
	default:
		return false;
	}
}

class From : public testing::TestWithParam<ibv_qp_state>
{
};

TEST_P(From, to_every_state)
{
	const ibv_qp_state from = GetParam();

	for (int state = IBV_QPS_RESET; state <= IBV_QPS_ERR; state++) {
		const ibv_qp_state to = static_cast<ibv_qp_state>(state);
		Endpoint end;

		bring_to(end.qp, from);
		ASSERT_EQ(end.qp.state(), from);
		EXPECT_EQ(end.qp.modify(change_of(end.qp, from, to)),
			  is_allowed(from, to) ? 0 : EINVAL)
			<< state_name(from) << " to " << state_name(to);
		EXPECT_EQ(end.qp.state(), is_allowed(from, to) ? to : from)
			<< state_name(from) << " to " << state_name(to);
	}
}

INSTANTIATE_TEST_SUITE_P(states, From,
			 testing::Values(IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
					 IBV_QPS_SQD, IBV_QPS_ERR),
			 [](const auto &info) { return state_name(info.param); });

/* Each attribute that a change needs, missing; and one that it does not take. */
class Attributes : public testing::TestWithParam<ibv_qp_state>
{
protected:
	Attributes()
	{
		bring_to(end.qp, static_cast<ibv_qp_state>(GetParam() - 1));
	}

	Change change() const
	{
		return change_of(end.qp, static_cast<ibv_qp_state>(GetParam() - 1), GetParam());
	}

	Endpoint end;
};

TEST_P(Attributes, that_are_needed)
{
	for (int rest = change().mask & ~IBV_QP_STATE; rest; rest &= rest - 1) {
		Change incomplete = change();

		incomplete.mask &= ~(1 << std::countr_zero(static_cast<unsigned>(rest)));
		EXPECT_EQ(end.qp.modify(incomplete), EINVAL)
			<< "without bit " << std::countr_zero(static_cast<unsigned>(rest));
	}
	EXPECT_EQ(end.qp.modify(change()), 0);
}

TEST_P(Attributes, that_do_not_belong)
{
	Change more = change();

	more.mask |= GetParam() == IBV_QPS_RTR ? IBV_QP_SQ_PSN : IBV_QP_PATH_MTU;
	more.attr.path_mtu = IBV_MTU_1024;
	EXPECT_EQ(end.qp.modify(more), EINVAL);
	EXPECT_EQ(end.qp.modify(change()), 0);
}

TEST_P(Attributes, that_are_out_of_range)
{
	const auto refused = [this](const char *what, auto bend) {
		Change bad = change();

		bend(bad.attr);
		EXPECT_EQ(end.qp.modify(bad), EINVAL) << what;
	};

	if (GetParam() == IBV_QPS_INIT) {
		refused("port 0", [](ibv_qp_attr &attr) { attr.port_num = 0; });
		refused("port 2", [](ibv_qp_attr &attr) { attr.port_num = 2; });
		refused("P_Key index", [](ibv_qp_attr &attr) { attr.pkey_index = 1; });
		refused("access", [](ibv_qp_attr &attr) { attr.qp_access_flags = 1 << 19; });
	} else if (GetParam() == IBV_QPS_RTR) {
		refused("MTU 0", [](ibv_qp_attr &attr) { attr.path_mtu = ibv_mtu(0); });
		refused("MTU 6", [](ibv_qp_attr &attr) { attr.path_mtu = ibv_mtu(6); });
		refused("QPN", [](ibv_qp_attr &attr) { attr.dest_qp_num = 1 << 24; });
		refused("RNR timer", [](ibv_qp_attr &attr) { attr.min_rnr_timer = 32; });
		refused("reads", [](ibv_qp_attr &attr) { attr.max_dest_rd_atomic = 129; });
		refused("no GRH", [](ibv_qp_attr &attr) { attr.ah_attr.is_global = 0; });
		refused("AH port", [](ibv_qp_attr &attr) { attr.ah_attr.port_num = 2; });
	} else {
		refused("timeout", [](ibv_qp_attr &attr) { attr.timeout = 32; });
		refused("retries", [](ibv_qp_attr &attr) { attr.retry_cnt = 8; });
		refused("RNR retries", [](ibv_qp_attr &attr) { attr.rnr_retry = 8; });
		refused("reads", [](ibv_qp_attr &attr) { attr.max_rd_atomic = 129; });
	}
	EXPECT_EQ(end.qp.modify(change()), 0);
}

INSTANTIATE_TEST_SUITE_P(changes, Attributes,
			 testing::Values(IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS),
			 [](const auto &info) {
				 return std::string("to_") + state_name(info.param);
			 });

TEST(Query, returns_what_was_told)
{
	Endpoint end;
	const Path path = { .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
			    .max_rd_atomic = 3,
			    .max_dest_rd_atomic = 5,
			    .min_rnr_timer = 17,
			    .timeout = 19,
			    .retry_cnt = 4,
			    .rnr_retry = 6,
			    .mtu = IBV_MTU_512 };

	EXPECT_EQ(end.qp.query().qp_state, IBV_QPS_RESET);
	end.qp.connect({ end.device.gid(), 0x123 }, path);
	ibv_qp_init_attr init;
	ibv_qp_attr attr = end.qp.query(&init);
	EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
	EXPECT_EQ(attr.cur_qp_state, IBV_QPS_RTS);
	EXPECT_EQ(attr.qp_access_flags, path.access);
	EXPECT_EQ(attr.max_rd_atomic, 3);
	EXPECT_EQ(attr.max_dest_rd_atomic, 5);
	EXPECT_EQ(attr.min_rnr_timer, 17);
	EXPECT_EQ(attr.timeout, 19);
	EXPECT_EQ(attr.retry_cnt, 4);
	EXPECT_EQ(attr.rnr_retry, 6);
	EXPECT_EQ(attr.path_mtu, IBV_MTU_512);
	EXPECT_EQ(attr.dest_qp_num, 0x123u);
	EXPECT_EQ(attr.rq_psn, first_psn);
	EXPECT_EQ(attr.port_num, 1);
	EXPECT_EQ(attr.pkey_index, 0);
	EXPECT_EQ(attr.sq_draining, 0);
	EXPECT_TRUE(attr.ah_attr.is_global);
	EXPECT_EQ(attr.ah_attr.port_num, 1);
	EXPECT_EQ(attr.ah_attr.grh.sgid_index, Device::gid_index());
	EXPECT_EQ(std::memcmp(&attr.ah_attr.grh.dgid, &end.device.gid(), sizeof(ibv_gid)), 0);

	EXPECT_EQ(init.qp_type, IBV_QPT_RC);
	EXPECT_EQ(init.send_cq, end.send_cq.get());
	EXPECT_EQ(init.recv_cq, end.recv_cq.get());
	EXPECT_EQ(init.sq_sig_all, 0);
	EXPECT_EQ(init.cap.max_send_wr, end.qp.cap().max_send_wr);
	EXPECT_EQ(init.cap.max_recv_wr, end.qp.cap().max_recv_wr);
	EXPECT_GE(attr.cap.max_send_sge, 4u);
	EXPECT_GE(attr.cap.max_recv_sge, 4u);
	EXPECT_GE(attr.cap.max_inline_data, 64u);
}

TEST(Reset, makes_a_qp_as_new)
{
	Pair pair;

	for (int round = 0; round < 10; round++) {
		/* Left behind: receives, a send that waits. */
		for (int i = 0; i < 5; i++)
			ASSERT_EQ(post_recv(pair.a.qp, {}, 1000), 0);
		ASSERT_EQ(post(pair.a.qp, { .id = 1000 }), 0);
		for (Endpoint *end : { &pair.a, &pair.b })
			ASSERT_EQ(end->qp.modify(to_state(IBV_QPS_RESET)), 0);
		EXPECT_NE(post(pair.a.qp, { .id = 1001 }), 0) << "sends are for RTS and later";
		pair.b.qp.connect(pair.a.qp.address());
		pair.a.qp.connect(pair.b.qp.address());
		for (uint32_t id = 0; id < pair.b.qp.cap().max_recv_wr; id++)
			ASSERT_EQ(post_recv(pair.b.qp, {}, id), 0) << "a slot is missing";
		for (uint32_t id = 0; id < pair.a.qp.cap().max_send_wr; id++)
			ASSERT_EQ(post(pair.a.qp, { .id = id }), 0) << "a slot is missing";
		for (uint32_t id = 0; id < pair.a.qp.cap().max_send_wr; id++)
			expect(pair.a.send_cq, pair.a.qp, id);
		for (uint32_t id = 0; id < pair.a.qp.cap().max_send_wr; id++)
			expect(pair.b.recv_cq, pair.b.qp, id);
		if (HasFailure())
			return;
	}
}

/* What the reset discards must not complete later, and what was completed before may be stale. */
TEST(Reset, completes_nothing)
{
	Pair pair;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(post(pair.a.qp, { .id = 1 }), 0);
		ASSERT_EQ(post_recv(pair.a.qp, {}, 2), 0);
	}
	ASSERT_EQ(pair.a.qp.modify(to_state(IBV_QPS_RESET)), 0);
	expect_none(pair.a.send_cq);
	expect_none(pair.a.recv_cq);
}

/* Receives may be posted from INIT on, and are used when the peer sends. */
TEST(Receives, may_be_posted_in_init)
{
	Endpoint a, b;

	EXPECT_NE(post_recv(b.qp, {}, 1), 0) << "in RESET";
	ASSERT_EQ(b.qp.modify(to_init()), 0);
	EXPECT_EQ(post_recv(b.qp, {}, 1), 0);
	ASSERT_EQ(b.qp.modify(to_rtr(a.qp.address())), 0);
	a.qp.connect(b.qp.address());
	ASSERT_EQ(post(a.qp, { .id = 2 }), 0);
	expect(a.send_cq, a.qp, 2);
	expect(b.recv_cq, b.qp, 1);
	EXPECT_EQ(b.qp.state(), IBV_QPS_RTR);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
