// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// atomic_write.cpp: ATOMIC WRITE (IBA annex A19): a word that is there all at once.
#include <atomic>
#include <future>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "nuisance.hpp"
#include "request.hpp"

using namespace vm;

static constexpr uint64_t pattern = 0x0123456789abcdef;

/* a writes to b's region. */
class AtomicWrite : public testing::Test
{
protected:
	uint64_t &word_of(const Region &region, size_t offset) const
	{
		return *reinterpret_cast<uint64_t *>(region.memory.data() + offset);
	}

	/* ibv_wr_atomic_write(). Returns 0 or an errno. */
	int write(uint64_t value, uint64_t remote, uint32_t rkey, uint64_t id = 1)
	{
		ibv_qp_ex *ex = ibv_qp_to_qp_ex(pair.a.qp.get());

		ibv_wr_start(ex);
		ex->wr_id = id;
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_atomic_write(ex, rkey, remote, &value);
		return ibv_wr_complete(ex);
	}

	Send request(std::vector<ibv_sge> sges, size_t offset, unsigned flags = 0) const
	{
		return { .opcode = IBV_WR_ATOMIC_WRITE,
			 .sges = std::move(sges),
			 .remote = b.address(offset),
			 .rkey = b.mr.rkey(),
			 .flags = IBV_SEND_SIGNALED | flags,
			 .id = 1 };
	}

	void expect_refused(ibv_wc_status status, bellhop_reason reason)
	{
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, status), reason);
		pair.reconnect();
	}

	Pair pair{ { .extended = true, .atomic_writes = true } };
	Region a{ pair.a.pd, 8192 }, b{ pair.b.pd, 8192 };
};

TEST_F(AtomicWrite, of_a_word_in_the_request)
{
	ASSERT_EQ(write(pattern, b.address(64), b.mr.rkey()), 0);
	EXPECT_EQ(expect(pair.a.send_cq, pair.a.qp, 1).opcode, IBV_WC_ATOMIC_WRITE);
	EXPECT_EQ(word_of(b, 64), pattern);
	EXPECT_EQ(word_of(b, 56) | word_of(b, 72), 0u);
}

TEST_F(AtomicWrite, of_one_element_of_two_and_inline)
{
	word_of(a, 0) = pattern;
	ASSERT_EQ(post(pair.a.qp, request({ a.sge(0, 8) }, 0)), 0);
	EXPECT_EQ(expect(pair.a.send_cq, pair.a.qp, 1).opcode, IBV_WC_ATOMIC_WRITE);
	ASSERT_EQ(post(pair.a.qp, request({ a.sge(0, 3), a.sge(3, 5) }, 8)), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	ASSERT_EQ(post(pair.a.qp, request({ a.sge(0, 8) }, 16, IBV_SEND_INLINE)), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	for (size_t offset : { 0, 8, 16 })
		EXPECT_EQ(word_of(b, offset), pattern) << offset;
	EXPECT_EQ(word_of(b, 24), 0u);
}

TEST_F(AtomicWrite, is_one_word)
{
	for (uint32_t length : { 0u, 4u, 7u, 9u, 16u }) {
		ASSERT_EQ(post(pair.a.qp, request({ a.sge(0, length) }, 0)), 0);
		expect_refused(IBV_WC_LOC_LEN_ERR, BELLHOP_REASON_WR_LENGTH);
		ASSERT_EQ(post(pair.a.qp, request({ a.sge(0, length) }, 0, IBV_SEND_INLINE)), 0);
		expect_refused(IBV_WC_LOC_LEN_ERR, BELLHOP_REASON_WR_LENGTH);
	}
	EXPECT_EQ(post(pair.a.qp, request({}, 0)), EINVAL);
}

TEST_F(AtomicWrite, needs_an_aligned_address)
{
	for (uint64_t offset : { 1, 2, 4, 7, 4092 }) {
		ASSERT_EQ(write(pattern, b.address(offset), b.mr.rkey()), 0);
		expect_refused(IBV_WC_REM_INV_REQ_ERR, BELLHOP_REASON_ALIGNMENT);
	}
	for (uint8_t byte : b.memory.bytes())
		ASSERT_EQ(byte, 0);
}

TEST_F(AtomicWrite, needs_what_a_write_needs)
{
	Mr read_only(pair.b.pd, b.memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);

	ASSERT_EQ(write(pattern, b.address(), read_only.rkey()), 0);
	expect_refused(IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_ACCESS);
	ASSERT_EQ(write(pattern, b.address(8192 - 8), b.mr.rkey()), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	ASSERT_EQ(write(pattern, b.address(8192), b.mr.rkey()), 0);
	expect_refused(IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_RANGE);
	Send send = request({ a.sge(0, 8) }, 0);
	send.sges[0].lkey ^= 1;
	ASSERT_EQ(post(pair.a.qp, send), 0);
	expect_refused(IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_UNKNOWN);
}

/* Who reads the word never sees a part of it, and what was written before it is there. */
TEST_F(AtomicWrite, is_seen_at_once_and_last)
{
	constexpr uint32_t size = 4096;
	std::atomic_ref<uint64_t> word(word_of(b, size));
	std::atomic<bool> over = false;
	std::future<uint64_t> reader = std::async(std::launch::async, [&] {
		uint64_t last = 0, seen = 0;

		while (!over) {
			const uint64_t value = word.load(std::memory_order_acquire);

			if ((value >> 32) != (value & 0xffffffff))
				return ~uint64_t(0);
			if (value == last)
				continue;
			/* The body of this round, or of a later one. */
			if (word_of(b, size - 8) < (value & 0xffffffff))
				return ~uint64_t(1);
			last = value;
			seen++;
		}
		return seen;
	});
	const Ending ending(over);
	const Deadline end(2);
	uint64_t round = 1;

	for (; !end.passed(); round++) {
		word_of(a, size - 8) = round;
		ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
					    .sges = { a.sge(0, size) },
					    .remote = b.address(),
					    .rkey = b.mr.rkey(),
					    .flags = 0 }),
			  0);
		ASSERT_EQ(write(round << 32 | round, b.address(size), b.mr.rkey()), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
	}
	over = true;
	const uint64_t seen = reader.get();
	EXPECT_NE(seen, ~uint64_t(0)) << "a part of a word";
	EXPECT_NE(seen, ~uint64_t(1)) << "before what came before";
	note("%llu words of %llu were seen", (unsigned long long)seen,
	     (unsigned long long)round - 1);
}

TEST_F(AtomicWrite, is_not_for_unreliable_connections)
{
	Pair unreliable({ .type = IBV_QPT_UC });
	Send send = request({ a.sge(0, 8) }, 0);

	EXPECT_EQ(post(unreliable.a.qp, send), EINVAL);
}

TEST_F(AtomicWrite, is_what_the_device_says_it_can)
{
	/* Of enum ib_uverbs_device_cap_flags; this libibverbs has no name for it. */
	constexpr uint64_t atomic_write = 1ull << 40;
	ibv_device_attr_ex attr = {};

	ASSERT_EQ(ibv_query_device_ex(pair.a.device.get(), nullptr, &attr), 0);
	EXPECT_TRUE(attr.device_cap_flags_ex & atomic_write);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
