// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_ops.cpp: each operation of RC moves its bytes, and only them, and completes as verbs say.
#include "ktap.hpp"
#include "transfer.hpp"

using namespace vm;

/* Every opcode, posted by ibv_post_send() and by ibv_wr_*(). */
class Operation : public testing::TestWithParam<std::tuple<ibv_wr_opcode, bool>>
{
protected:
	ibv_wr_opcode opcode() const
	{
		return std::get<0>(GetParam());
	}

	bool extended() const
	{
		return std::get<1>(GetParam());
	}

	QpShape shape() const
	{
		return { .extended = extended() };
	}
};

TEST_P(Operation, moves_bytes)
{
	TransferRig rig(256 << 10, shape());

	for (uint32_t length : { 1, 2, 7, 8, 63, 64, 65, 1000, 4096, 65536, 200000 })
		rig.run({ .opcode = opcode(),
			  .local = { { 1234, length } },
			  .remote = { { 777, length } },
			  .extended = extended() });
}

/* Those that fill a receive. */
class SendOperation : public Operation
{
};

TEST_P(SendOperation, reports_the_receive_that_is_longer)
{
	TransferRig rig(64 << 10, shape());

	rig.run({ .opcode = opcode(),
		  .local = { { 3, 1001 } },
		  .remote = { { 5, 600 }, { 5000, 20000 } },
		  .extended = extended() });
}

/* A program that talks to itself: both sides of one QP. */
TEST_P(Operation, to_its_own_qp)
{
	Endpoint self(shape());
	Region from(self.pd, 8192), to(self.pd, 8192);

	self.qp.connect(self.qp.address());
	fill(from.memory.bytes(), 1);
	if (takes_receive(opcode()))
		ASSERT_EQ(post_recv(self.qp,
				    has_remote(opcode()) ? std::vector<ibv_sge>()
							 : std::vector{ to.sge(0, 8192) },
				    2),
			  0);
	Send send = { .opcode = opcode(), .sges = { from.sge(0, 8192) }, .id = 1 };
	if (is_read(opcode()))
		send.sges = { to.sge(0, 8192) };
	if (has_remote(opcode())) {
		send.remote = is_read(opcode()) ? from.address() : to.address();
		send.rkey = is_read(opcode()) ? from.mr.rkey() : to.mr.rkey();
	}
	ASSERT_EQ(extended() ? post_extended(self.qp, send) : post(self.qp, send), 0);
	expect(self.send_cq, self.qp, 1);
	if (takes_receive(opcode()))
		expect(self.recv_cq, self.qp, 2);
	EXPECT_EQ(std::memcmp(from.memory.data(), to.memory.data(), 8192), 0);
}

TEST_P(Operation, both_ways_at_once)
{
	Pair pair(shape());
	Region a(pair.a.pd, 16384), b(pair.b.pd, 16384);

	fill(a.memory.bytes().first(8192), 1);
	fill(b.memory.bytes().first(8192), 2);
	for (int round = 0; round < 20; round++) {
		std::memset(a.memory.data() + 8192, 0, 8192);
		std::memset(b.memory.data() + 8192, 0, 8192);
		for (auto [from, own, other] :
		     { std::tuple(&pair.a, &a, &b), { &pair.b, &b, &a } }) {
			const bool read = is_read(opcode());
			Send send = { .opcode = opcode(),
				      .sges = { own->sge(read ? 8192 : 0, 8192) },
				      .remote = other->address(read ? 0 : 8192),
				      .rkey = other->mr.rkey(),
				      .id = 1 };

			if (takes_receive(opcode()))
				ASSERT_EQ(post_recv(from->qp, { own->sge(8192, 8192) }, 2), 0);
			ASSERT_EQ(extended() ? post_extended(from->qp, send) : post(from->qp, send),
				  0);
		}
		for (Endpoint *end : { &pair.a, &pair.b }) {
			expect(end->send_cq, end->qp, 1);
			if (takes_receive(opcode()))
				expect(end->recv_cq, end->qp, 2);
		}
		EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data() + 8192, 8192), 0);
		EXPECT_EQ(std::memcmp(b.memory.data(), a.memory.data() + 8192, 8192), 0);
		if (HasFailure())
			return;
	}
}

static std::string name(const testing::TestParamInfo<Operation::ParamType> &info)
{
	return opcode_name(std::get<0>(info.param)) + (std::get<1>(info.param) ? "_ex" : "");
}

INSTANTIATE_TEST_SUITE_P(rc, Operation,
			 testing::Combine(testing::ValuesIn(all_opcodes), testing::Bool()), name);
INSTANTIATE_TEST_SUITE_P(rc, SendOperation,
			 testing::Combine(testing::Values(IBV_WR_SEND, IBV_WR_SEND_WITH_IMM),
					  testing::Bool()),
			 name);

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
