// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// xrc.cpp: an initiator reaches every shared receive queue of an XRC domain through one target.
#include <arpa/inet.h>
#include "ktap.hpp"
#include "xrc.hpp"

namespace
{

using namespace vm;

constexpr uint32_t room = 512 << 10;

class Xrc : public testing::Test
{
protected:
	Xrc()
	{
		a.connect(target);
		a_extended.connect(second);
	}

	/** By the old calls, or by ibv_wr_*(). */
	void run(bool extended, Send send, uint32_t bytes)
	{
		const Initiator &from = extended ? a_extended : a;
		const Qp &to = extended ? second : target;
		const bool takes = send.opcode == IBV_WR_SEND ||
				   send.opcode == IBV_WR_SEND_WITH_IMM ||
				   send.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
		const bool remote =
			send.opcode != IBV_WR_SEND && send.opcode != IBV_WR_SEND_WITH_IMM;

		SCOPED_TRACE("opcode " + std::to_string(send.opcode) + ", " +
			     std::to_string(bytes) + " bytes, extended " +
			     std::to_string(extended));
		fill(from.region.memory.bytes(), bytes + 1);
		fill(b.region.memory.bytes(), bytes + 2);
		send.sges = { from.region.sge(3, bytes) };
		send.imm = htonl(0xabcd0000 + bytes);
		send.id = ++last_;
		send.srqn = b.srq.number();
		if (remote) {
			send.remote = b.region.address(5);
			send.rkey = b.region.mr.rkey();
		}
		if (takes)
			ASSERT_EQ(b.srq.post({ b.region.sge(5, bytes) }, ~send.id), 0);
		ASSERT_EQ(extended ? post_extended(from.qp, send) : post(from.qp, send), 0);
		expect(from.cq, from.qp, send.id);
		EXPECT_EQ(std::memcmp(from.region.memory.data() + 3, b.region.memory.data() + 5,
				      bytes),
			  0);
		if (takes)
			expect_received(to, from, send, bytes);
		EXPECT_FALSE(b.cq.poll() || from.cq.poll()) << "more completions than requests";
	}

	void expect_received(const Qp &to, const Initiator &from, const Send &send, uint32_t bytes)
	{
		const bool has_imm = send.opcode != IBV_WR_SEND;
		const ibv_wc wc = expect(b.cq, to, ~send.id);

		EXPECT_EQ(wc.opcode, send.opcode == IBV_WR_RDMA_WRITE_WITH_IMM
					     ? IBV_WC_RECV_RDMA_WITH_IMM
					     : IBV_WC_RECV);
		EXPECT_EQ(wc.byte_len, bytes);
		EXPECT_EQ(wc.wc_flags, has_imm ? unsigned(IBV_WC_WITH_IMM) : 0u);
		if (has_imm)
			EXPECT_EQ(wc.imm_data, send.imm);
		EXPECT_EQ(wc.src_qp, from.qp.get()->qp_num);
	}

	Device device;
	Xrcd xrcd{ device };
	Receiver b{ device, xrcd, room };
	Qp target{ device, xrcd.get() }, second{ device, xrcd.get() };
	Initiator a{ false, room }, a_extended{ true, room };
	uint64_t last_ = 0;
};

TEST_F(Xrc, is_offered)
{
	ibv_device_attr attr;

	ASSERT_EQ(ibv_query_device(device.get(), &attr), 0);
	EXPECT_TRUE(attr.device_cap_flags & IBV_DEVICE_XRC);
}

TEST_F(Xrc, carries_messages_reads_and_writes)
{
	for (bool extended : { false, true })
		for (uint32_t bytes : { 0u, 1u, 100u, 4096u, 300000u })
			for (ibv_wr_opcode opcode :
			     { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
			       IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ })
				run(extended, { .opcode = opcode }, bytes);
}

TEST_F(Xrc, carries_inline_bytes)
{
	for (bool extended : { false, true })
		for (ibv_wr_opcode opcode : { IBV_WR_SEND, IBV_WR_RDMA_WRITE })
			run(extended,
			    { .opcode = opcode, .flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE }, 64);
}

TEST_F(Xrc, carries_atomics)
{
	auto *word = reinterpret_cast<uint64_t *>(b.region.memory.data() + 64);

	for (bool extended : { false, true }) {
		const Initiator &from = extended ? a_extended : a;
		auto *before = reinterpret_cast<uint64_t *>(from.region.memory.data());
		Send send = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			      .sges = { from.region.sge(0, 8) },
			      .remote = b.region.address(64),
			      .rkey = b.region.mr.rkey(),
			      .id = 1,
			      .compare_add = 5,
			      .srqn = b.srq.number() };

		*word = 100;
		ASSERT_EQ(extended ? post_extended(from.qp, send) : post(from.qp, send), 0);
		EXPECT_EQ(expect(from.cq, from.qp, 1).opcode, IBV_WC_FETCH_ADD);
		EXPECT_EQ(*before, 100u);
		EXPECT_EQ(*word, 105u);
		send.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		send.compare_add = 105;
		send.swap = 7;
		ASSERT_EQ(extended ? post_extended(from.qp, send) : post(from.qp, send), 0);
		EXPECT_EQ(expect(from.cq, from.qp, 1).opcode, IBV_WC_COMP_SWAP);
		EXPECT_EQ(*before, 105u);
		EXPECT_EQ(*word, 7u);
	}
}

/* Every SRQ of the domain is reached by one connection; each is of a PD of its own. */
TEST_F(Xrc, reaches_many_srqs_in_order)
{
	Receiver c(device, xrcd), d(device, xrcd);
	Receiver *all[] = { &b, &c, &d };

	for (uint64_t round = 0; round < 200; round++) {
		Receiver &to = *all[round * round % 7 % 3];

		to.receive(round);
		a.run({ .sges = { a.region.sge(0, 100) }, .id = round, .srqn = to.srq.number() });
		expect(to.cq, target, round);
		if (HasFailure())
			return;
	}
	for (Receiver *one : all)
		EXPECT_FALSE(one->cq.poll());
}

TEST_F(Xrc, checks_keys_against_the_pd_of_the_srq)
{
	Receiver c(device, xrcd);
	Send send = { .opcode = IBV_WR_RDMA_WRITE,
		      .sges = { a.region.sge(0, 100) },
		      .remote = c.region.address(),
		      .rkey = c.region.mr.rkey(),
		      .id = 1,
		      .srqn = c.srq.number() };

	a.run(send);
	send.srqn = b.srq.number();
	expect_reason(a.run(send, IBV_WC_REM_ACCESS_ERR), BELLHOP_REASON_RKEY_PD);
	expect_event(device, IBV_EVENT_QP_ACCESS_ERR, target);
}

TEST_F(Xrc, says_where_from_by_extended_polling)
{
	ibv_cq_init_attr_ex attr = {};

	attr.cqe = 16;
	attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |
			IBV_WC_EX_WITH_SRC_QP;
	ibv_cq_ex *ex = ibv_create_cq_ex(device.get(), &attr);
	require_errno(ex, "ibv_create_cq_ex");
	Cq cq(ibv_cq_ex_to_cq(ex));
	Srq srq(b.pd, xrcd.get(), cq);
	ibv_poll_cq_attr poll = {};

	for (uint64_t id : { 1, 2 })
		ASSERT_EQ(srq.post({ b.region.sge(0, 100) }, id), 0);
	for (uint64_t id : { 1, 2 })
		a.run({ .opcode = IBV_WR_SEND_WITH_IMM,
			.sges = { a.region.sge(0, 60) },
			.imm = htonl(7),
			.id = id,
			.srqn = srq.number() });
	ASSERT_EQ(ibv_start_poll(ex, &poll), 0);
	for (uint64_t id : { 1, 2 }) {
		EXPECT_EQ(ex->wr_id, id);
		EXPECT_EQ(ex->status, IBV_WC_SUCCESS);
		EXPECT_EQ(ibv_wc_read_opcode(ex), IBV_WC_RECV);
		EXPECT_EQ(ibv_wc_read_byte_len(ex), 60u);
		EXPECT_EQ(ibv_wc_read_imm_data(ex), htonl(7));
		EXPECT_EQ(ibv_wc_read_qp_num(ex), target.get()->qp_num);
		EXPECT_EQ(ibv_wc_read_src_qp(ex), a.qp.get()->qp_num);
		EXPECT_EQ(ibv_next_poll(ex), id == 1 ? 0 : ENOENT);
	}
	ibv_end_poll(ex);
}

TEST_F(Xrc, raises_events_of_the_srq_s_cq)
{
	Channel channel(device);
	Receiver c(device, xrcd, 4096, 16, &channel);
	const Send send = { .id = 1, .srqn = c.srq.number() };
	Send solicited = send;

	solicited.flags |= IBV_SEND_SOLICITED;
	for (uint64_t id : { 1, 2 })
		c.receive(id);
	ASSERT_EQ(ibv_req_notify_cq(c.cq.get(), 1), 0);
	a.run(send);
	EXPECT_EQ(channel.next_event(0.05), nullptr);
	a.run(solicited);
	ASSERT_EQ(channel.next_event(), c.cq.get());
	ibv_ack_cq_events(c.cq.get(), 1);
	expect(c.cq, target, 1);
	expect(c.cq, target, 2);
}

TEST_F(Xrc, waits_for_an_entry_as_long_as_the_initiator_likes)
{
	Initiator hasty;
	Qp third(device, xrcd.get());

	hasty.connect(third, { .min_rnr_timer = 1, .rnr_retry = 1 });
	expect_reason(hasty.run({ .id = 1, .srqn = b.srq.number() }, IBV_WC_RNR_RETRY_EXC_ERR),
		      BELLHOP_REASON_RNR);
	ASSERT_EQ(post(a.qp, { .id = 2, .srqn = b.srq.number() }), 0);
	expect_none(a.cq);
	b.receive(9);
	expect(a.cq, a.qp, 2);
	expect(b.cq, target, 9);
}

TEST_F(Xrc, tells_once_that_the_srq_runs_low)
{
	for (uint64_t id = 0; id < 4; id++)
		b.receive(id);
	ASSERT_EQ(b.srq.set_limit(3), 0);
	EXPECT_EQ(b.srq.query().srq_limit, 3u);
	a.run({ .id = 1, .srqn = b.srq.number() });
	expect_no_event(device);
	a.run({ .id = 2, .srqn = b.srq.number() });
	const std::optional<ibv_async_event> event = device.next_event();
	ASSERT_TRUE(event);
	EXPECT_EQ(event->event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	EXPECT_EQ(event->element.srq, b.srq.get());
	a.run({ .id = 3, .srqn = b.srq.number() });
	expect_no_event(device);
}

/* A window of type 1 is its PD's, which is that of an SRQ. */
TEST_F(Xrc, opens_windows)
{
	Initiator owner(true);
	Receiver &to = b;
	Mr open(to.pd, to.region.memory, access_all | IBV_ACCESS_MW_BIND);
	Qp own(device, to.pd.get(), to.cq, to.cq,
	       { .cap = { 16, 0, 1, 0, 0 }, .type = IBV_QPT_XRC_SEND });
	ibv_mw *window = ibv_alloc_mw(to.pd.get(), IBV_MW_TYPE_1);
	ibv_mw_bind bind = {};

	ASSERT_TRUE(window);
	own.connect(owner.qp.address());
	bind.wr_id = 3;
	bind.send_flags = IBV_SEND_SIGNALED;
	bind.bind_info = { open.get(), to.region.address(), 4096, IBV_ACCESS_REMOTE_WRITE };
	ASSERT_EQ(ibv_bind_mw(own.get(), window, &bind), 0);
	EXPECT_EQ(expect(to.cq, own, 3).opcode, IBV_WC_BIND_MW);
	a.run({ .opcode = IBV_WR_RDMA_WRITE,
		.sges = { a.region.sge(0, 100) },
		.remote = to.region.address(),
		.rkey = window->rkey,
		.id = 4,
		.srqn = to.srq.number() });
	EXPECT_EQ(ibv_dealloc_mw(window), 0);
}

} // namespace

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
