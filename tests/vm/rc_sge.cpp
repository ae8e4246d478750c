// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_sge.cpp: scatter/gather lists, inline data and empty messages.
#include "ktap.hpp"
#include "transfer.hpp"

using namespace vm;

class Lists : public testing::TestWithParam<ibv_wr_opcode>
{
};
class RemoteRange : public Lists
{
};
class Inline : public Lists
{
};

static const QpShape shape_lists = { .cap = { 64, 64, 32, 32, 512 }, .extended = true };

/* @bytes in @count pieces of odd lengths at odd places, apart from each other. */
static std::vector<Piece> shred(std::mt19937 &random, uint32_t bytes, unsigned count)
{
	std::vector<Piece> pieces;
	size_t at = 0;

	for (unsigned i = 0; i < count; i++) {
		uint32_t length = i + 1 == count ? bytes : random() % (2 * bytes / (count - i) + 1);

		length = std::min(length, bytes);
		at += 1 + random() % 300;
		pieces.push_back({ at, length });
		at += length;
		bytes -= length;
	}
	return pieces;
}

/* A single range may lie anywhere, a list of receives is shredded as the other side is. */
static std::vector<Piece> shred_remote(std::mt19937 &random, ibv_wr_opcode opcode, uint32_t bytes,
				       unsigned count)
{
	return has_remote(opcode) ? std::vector<Piece>{ { random() % 5000, bytes } }
				  : shred(random, bytes, count);
}

TEST_P(Lists, of_1_to_32_pieces)
{
	std::mt19937 random(1);
	TransferRig rig(128 << 10, shape_lists);

	for (unsigned count = 1; count <= 32 && !HasFailure(); count++)
		for (bool extended : { false, true }) {
			uint32_t bytes = 1 + random() % 60000;

			rig.run({ .opcode = GetParam(),
				  .local = shred(random, bytes, count),
				  .remote = shred_remote(random, GetParam(), bytes, 33 - count),
				  .extended = extended });
		}
}

TEST_P(Lists, of_random_shape)
{
	std::mt19937 random(2);
	TransferRig rig(32 << 10, shape_lists);

	for (int round = 0; round < 150 && !HasFailure(); round++) {
		uint32_t bytes = random() % 9000;

		rig.run({ .opcode = GetParam(),
			  .local = shred(random, bytes, 1 + random() % 32),
			  .remote = shred_remote(random, GetParam(), bytes, 1 + random() % 32),
			  .extended = bool(random() & 1) });
	}
}

TEST_P(Lists, without_bytes)
{
	TransferRig rig(4096, shape_lists);

	for (bool extended : { false, true }) {
		/* Without a remote piece the address is 0 and the rkey that of nothing. */
		rig.run({ .opcode = GetParam(), .extended = extended });
		rig.run({ .opcode = GetParam(), .local = { { 10, 0 } }, .extended = extended });
		rig.run({ .opcode = GetParam(),
			  .local = { { 10, 0 }, { 20, 0 } },
			  .remote = { { 30, 0 } },
			  .extended = extended });
	}
}

/* IBA 9.7.4.1.7: without bytes there is nothing that a key could protect. */
TEST_P(RemoteRange, without_bytes_ignores_the_rkey)
{
	Pair pair;

	ASSERT_EQ(post_recv(pair.b.qp, {}, 2), 0);
	ASSERT_EQ(post(pair.a.qp,
		       { .opcode = GetParam(), .remote = 0xdead0000, .rkey = 0xdeadbeef, .id = 1 }),
		  0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
}

TEST_P(Inline, up_to_512_bytes)
{
	std::mt19937 random(3);
	TransferRig rig(16 << 10, shape_lists);

	ASSERT_GE(rig.pair.a.qp.cap().max_inline_data, 512u);
	for (uint32_t bytes : { 0, 1, 2, 8, 31, 32, 33, 220, 236, 480, 511, 512 })
		for (bool extended : { false, true })
			rig.run({ .opcode = GetParam(),
				  .local = shred(random, bytes, 1 + random() % 5),
				  .remote = shred_remote(random, GetParam(), bytes, 3),
				  .extended = extended,
				  .flags = IBV_SEND_INLINE });
}

static std::string name(const testing::TestParamInfo<ibv_wr_opcode> &info)
{
	return opcode_name(info.param);
}

INSTANTIATE_TEST_SUITE_P(rc, Lists, testing::ValuesIn(all_opcodes), name);
INSTANTIATE_TEST_SUITE_P(rc, RemoteRange,
			 testing::Values(IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
					 IBV_WR_RDMA_READ),
			 name);
INSTANTIATE_TEST_SUITE_P(rc, Inline,
			 testing::Values(IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
					 IBV_WR_RDMA_WRITE_WITH_IMM),
			 name);

/* The data is the request's once it is posted, and no key is needed for it. */
TEST(InlineData, is_taken_at_once_and_needs_no_key)
{
	Pair pair;
	Region to(pair.b.pd, 64);
	std::vector<uint8_t> data(64);

	fill(data, 4);
	const std::vector<uint8_t> sent = data;
	ASSERT_EQ(post(pair.a.qp, { .sges = { { reinterpret_cast<uintptr_t>(data.data()), 64, 0 } },
				    .flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
				    .id = 1 }),
		  0);
	std::fill(data.begin(), data.end(), 0);
	/* The receive comes later than the change. */
	ASSERT_EQ(post_recv(pair.b.qp, { to.sge(0, 64) }, 2), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	expect(pair.b.recv_cq, pair.b.qp, 2);
	EXPECT_EQ(std::memcmp(to.memory.data(), sent.data(), 64), 0);
}

TEST(InlineData, of_more_than_the_queue_has_is_not_posted)
{
	Pair pair(shape_lists);
	const uint32_t length = pair.a.qp.cap().max_inline_data + 1;
	Region from(pair.a.pd, length);
	const unsigned flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;

	EXPECT_NE(post(pair.a.qp, { .sges = { from.sge(0, length) }, .flags = flags }), 0);
	EXPECT_NE(post_extended(pair.a.qp, { .sges = { from.sge(0, length) }, .flags = flags }), 0);
	/* And the queue is as before. */
	ASSERT_EQ(post_recv(pair.b.qp, {}, 2), 0);
	ASSERT_EQ(post(pair.a.qp, { .id = 1 }), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	expect_none(pair.a.send_cq);
}

TEST(Posting, lists_of_more_pieces_than_the_queue_has_are_not_posted)
{
	Pair pair;
	Region region(pair.a.pd, 4096);
	const std::vector<ibv_sge> sges(pair.a.qp.cap().max_send_sge + 1, region.sge(0, 1));
	const std::vector<ibv_sge> recv_sges(pair.a.qp.cap().max_recv_sge + 1, region.sge(0, 1));

	EXPECT_NE(post(pair.a.qp, { .sges = sges }), 0);
	EXPECT_NE(post_recv(pair.a.qp, recv_sges), 0);
	expect_none(pair.a.send_cq);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
