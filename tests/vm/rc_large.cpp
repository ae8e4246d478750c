// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_large.cpp: large messages, up to the largest, and one that is larger.
#include <fstream>
#include "ktap.hpp"
#include "transfer.hpp"

using namespace vm;

/* One range each, and what lies around it in the first and last page. */
static void move_large(ibv_wr_opcode opcode, size_t length)
{
	constexpr size_t margin = 4096;
	Pair pair;
	Region a(pair.a.pd, length + 2 * margin), b(pair.b.pd, length + 2 * margin);
	const Region &from = is_read(opcode) ? b : a;
	const Region &to = is_read(opcode) ? a : b;

	fill(from.memory.bytes(), 5);
	std::memset(to.memory.data(), 0xee, to.memory.size());
	if (takes_receive(opcode))
		ASSERT_EQ(post_recv(pair.b.qp, { b.sge(margin, length) }, 2), 0);
	ASSERT_EQ(post(pair.a.qp, { .opcode = opcode,
				    .sges = { a.sge(margin, length) },
				    .remote = b.address(margin),
				    .rkey = b.mr.rkey(),
				    .id = 1 }),
		  0);
	ibv_wc wc = pair.a.send_cq.next(100);
	ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
	if (takes_receive(opcode))
		EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 2).byte_len, length);
	EXPECT_EQ(std::memcmp(to.memory.data() + margin, from.memory.data() + margin, length), 0);
	for (size_t i = 0; i < margin; i++) {
		ASSERT_EQ(to.memory.data()[i], 0xee) << "before the range";
		ASSERT_EQ(to.memory.data()[margin + length + i], 0xee) << "after the range";
	}
}

class Large : public testing::TestWithParam<ibv_wr_opcode>
{
};

TEST_P(Large, of_64_MiB)
{
	move_large(GetParam(), 64 << 20);
}

INSTANTIATE_TEST_SUITE_P(rc, Large, testing::ValuesIn(all_opcodes),
			 [](const auto &info) { return opcode_name(info.param); });

static size_t available_memory()
{
	std::ifstream meminfo("/proc/meminfo");
	std::string line;
	size_t kib = 0;

	while (std::getline(meminfo, line))
		if (std::sscanf(line.c_str(), "MemAvailable: %zu", &kib) == 1)
			break;
	return kib << 10;
}

TEST(Message, of_1_GiB)
{
	if (available_memory() < (5ul << 29))
		GTEST_SKIP() << "less than 2.5 GiB of memory available";
	move_large(IBV_WR_RDMA_WRITE, 1 << 30);
}

/* A list of one region many times makes a message that is larger than the memory it is in. */
class LargestMessage : public testing::Test
{
protected:
	static constexpr uint32_t part = 64 << 20;
	static constexpr unsigned parts = 32;

	Pair pair{ { .cap = { 8, 8, parts, parts, 0 } } };
	Region a{ pair.a.pd, part + 1 };
	Region b{ pair.b.pd, part };
};

TEST_F(LargestMessage, is_2_GiB)
{
	fill(a.memory.bytes(), 6);
	ASSERT_EQ(post_recv(pair.b.qp, std::vector(parts, b.sge(0, part)), 2), 0);
	ASSERT_EQ(post(pair.a.qp, { .sges = std::vector(parts, a.sge(0, part)), .id = 1 }), 0);
	ibv_wc wc = pair.a.send_cq.next(100);
	ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
	EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 2).byte_len, 1u << 31);
	EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), part), 0);
}

TEST_F(LargestMessage, plus_a_byte_is_refused)
{
	std::vector<ibv_sge> sges(parts - 1, a.sge(0, part));

	sges.push_back({ a.address(), part + 1, a.mr.lkey() });
	int error = post(pair.a.qp, { .sges = sges, .id = 1 });
	if (error) {
		EXPECT_EQ(error, EINVAL);
		return;
	}
	expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_LOC_LEN_ERR),
		      BELLHOP_REASON_WR_LENGTH);
	EXPECT_EQ(pair.a.qp.state(), IBV_QPS_ERR);
	EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
