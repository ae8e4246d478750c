// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_order.cpp: slots of the send queue, the order of completions, and what a fence orders.
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

/* Nothing is received until the test says so: sends stay where they are (rnr_retry 7). */
class SendQueue : public testing::Test
{
protected:
	void receive(uint32_t count)
	{
		for (uint32_t i = 0; i < count; i++)
			ASSERT_EQ(post_recv(pair.b.qp, {}, i), 0);
	}

	Pair pair{ { .cap = { 16, 256, 1, 1, 0 } } };
	const uint32_t slots = pair.a.qp.cap().max_send_wr;
};

TEST_F(SendQueue, holds_exactly_max_send_wr)
{
	ASSERT_GE(slots, 16u);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < slots; i++)
			ASSERT_EQ(post(pair.a.qp, { .id = i }), 0) << "request " << i;
		/* post() checks bad_wr. */
		EXPECT_EQ(post(pair.a.qp, { .id = 1000 }), ENOMEM);
		EXPECT_EQ(post(pair.a.qp, { .id = 1001 }), ENOMEM);
		receive(slots);
		for (uint32_t i = 0; i < slots; i++)
			expect(pair.a.send_cq, pair.a.qp, i);
		expect_none(pair.a.send_cq, 0.01);
		for (uint32_t i = 0; i < slots; i++)
			expect(pair.b.recv_cq, pair.b.qp, i);
	}
}

TEST_F(SendQueue, gets_the_slots_of_unsignalled_requests_back_with_a_signalled_one)
{
	for (int round = 0; round < 20; round++) {
		for (uint32_t i = 0; i + 1 < slots; i++)
			ASSERT_EQ(post(pair.a.qp, { .flags = 0, .id = i }), 0);
		ASSERT_EQ(post(pair.a.qp, { .id = slots - 1 }), 0);
		EXPECT_EQ(post(pair.a.qp, { .id = 1000 }), ENOMEM);
		receive(slots);
		expect(pair.a.send_cq, pair.a.qp, slots - 1);
		for (uint32_t i = 0; i < slots; i++)
			expect(pair.b.recv_cq, pair.b.qp, i);
		if (HasFailure())
			return;
	}
	expect_none(pair.a.send_cq);
}

TEST_F(SendQueue, takes_of_a_list_what_fits)
{
	const Send send;
	std::vector<ibv_send_wr> list(slots + 5, to_wr(send));
	ibv_send_wr *bad = nullptr;

	for (uint32_t i = 0; i < list.size(); i++) {
		list[i].wr_id = i;
		list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
	}
	EXPECT_EQ(ibv_post_send(pair.a.qp.get(), list.data(), &bad), ENOMEM);
	EXPECT_EQ(bad, &list[slots]);
	receive(slots);
	for (uint32_t i = 0; i < slots; i++)
		expect(pair.a.send_cq, pair.a.qp, i);
	expect_none(pair.a.send_cq);
}

TEST(ReceiveQueue, holds_exactly_max_recv_wr)
{
	Pair pair({ .cap = { 64, 16, 1, 1, 0 } });
	const uint32_t slots = pair.b.qp.cap().max_recv_wr;

	ASSERT_GE(slots, 16u);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < slots; i++)
			ASSERT_EQ(post_recv(pair.b.qp, {}, i), 0) << "request " << i;
		EXPECT_EQ(post_recv(pair.b.qp, {}, 1000), ENOMEM);
		for (uint32_t i = 0; i < slots; i++) {
			ASSERT_EQ(post(pair.a.qp, { .id = i }), 0);
			expect(pair.a.send_cq, pair.a.qp, i);
			expect(pair.b.recv_cq, pair.b.qp, i);
		}
	}
}

TEST(Signalling, of_all_needs_no_flag)
{
	Pair pair({ .signal_all = true });
	ibv_qp_init_attr init;

	pair.a.qp.query(&init);
	EXPECT_EQ(init.sq_sig_all, 1);
	for (uint64_t i = 0; i < 8; i++) {
		ASSERT_EQ(post_recv(pair.b.qp, {}, i), 0);
		ASSERT_EQ(post(pair.a.qp, { .flags = 0, .id = i }), 0);
	}
	for (uint64_t i = 0; i < 8; i++)
		expect(pair.a.send_cq, pair.a.qp, i);
}

/* Long and short, reads and sends: each completes after the one before. */
TEST(Completions, come_in_the_order_of_posting)
{
	constexpr uint32_t room = 256 << 10;
	Pair pair({ .cap = { 64, 64, 1, 1, 0 } });
	Region a(pair.a.pd, room), b(pair.b.pd, room);
	std::mt19937 random(1);
	std::vector<bool> receives;

	for (int round = 0; round < 20; round++) {
		receives.clear();
		for (uint64_t id = 0; id < 48; id++) {
			const ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
							  IBV_WR_RDMA_WRITE_WITH_IMM,
							  IBV_WR_RDMA_READ };
			const ibv_wr_opcode opcode = opcodes[random() % 4];
			const uint32_t length = random() % 4 ? random() % 64 : random() % room;

			receives.push_back(opcode == IBV_WR_SEND ||
					   opcode == IBV_WR_RDMA_WRITE_WITH_IMM);
			if (receives.back())
				ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, room) }, id), 0);
			ASSERT_EQ(post(pair.a.qp, { .opcode = opcode,
						    .sges = { a.sge(0, length) },
						    .remote = b.address(),
						    .rkey = b.mr.rkey(),
						    .id = id }),
				  0);
		}
		for (uint64_t id = 0; id < 48; id++)
			expect(pair.a.send_cq, pair.a.qp, id);
		for (uint64_t id = 0; id < 48; id++)
			if (receives[id])
				expect(pair.b.recv_cq, pair.b.qp, id);
		if (HasFailure())
			return;
	}
}

/* What a read brings is there when a fenced request that sends it on begins (IBA 10.8.3.3). */
TEST(Fence, waits_for_reads)
{
	constexpr uint32_t length = 100000;
	Pair pair;
	Region a(pair.a.pd, length), b(pair.b.pd, 2 * length);

	for (int round = 0; round < 30; round++) {
		fill(b.memory.bytes().first(length), round);
		std::memset(a.memory.data(), 0, length);
		ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_READ,
					    .sges = { a.sge(0, length) },
					    .remote = b.address(),
					    .rkey = b.mr.rkey(),
					    .flags = 0,
					    .id = 1 }),
			  0);
		ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
					    .sges = { a.sge(0, length) },
					    .remote = b.address(length),
					    .rkey = b.mr.rkey(),
					    .flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
					    .id = 2 }),
			  0);
		expect(pair.a.send_cq, pair.a.qp, 2);
		ASSERT_EQ(std::memcmp(b.memory.data(), b.memory.data() + length, length), 0)
			<< "round " << round;
	}
}

/* A write is there when a later send of the same QP is received. */
TEST(Write, is_visible_before_a_later_send)
{
	constexpr uint32_t length = 70001;
	Pair pair;
	Region a(pair.a.pd, length), b(pair.b.pd, length);

	for (int round = 0; round < 30; round++) {
		fill(a.memory.bytes(), round);
		ASSERT_EQ(post_recv(pair.b.qp, {}, 3), 0);
		ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
					    .sges = { a.sge(0, length) },
					    .remote = b.address(),
					    .rkey = b.mr.rkey(),
					    .flags = 0 }),
			  0);
		ASSERT_EQ(post(pair.a.qp, { .id = 2 }), 0);
		expect(pair.b.recv_cq, pair.b.qp, 3);
		ASSERT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
		expect(pair.a.send_cq, pair.a.qp, 2);
	}
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
