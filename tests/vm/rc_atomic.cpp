// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_atomic.cpp: compare and swap, fetch and add: what they do, to whom they are atomic, and how
// they are refused.
#include <algorithm>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

static constexpr uint64_t poison = 0xeeeeeeeeeeeeeeee;

/* a's result, b's word. */
class Atomic : public testing::Test
{
protected:
	explicit Atomic(const Path &path_a = {}, const Path &path_b = {})
	    : pair({ .extended = true }, path_a, path_b)
	{
		result() = poison;
	}

	uint64_t &word() const
	{
		return *reinterpret_cast<uint64_t *>(b.memory.data());
	}

	uint64_t &result() const
	{
		return *reinterpret_cast<uint64_t *>(a.memory.data());
	}

	Send cmp_swp(uint64_t compare, uint64_t swap) const
	{
		return { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
			 .sges = { a.sge(0, 8) },
			 .remote = b.address(),
			 .rkey = b.mr.rkey(),
			 .id = 1,
			 .compare_add = compare,
			 .swap = swap };
	}

	Send fetch_add(uint64_t add) const
	{
		Send send = cmp_swp(add, poison);

		send.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		return send;
	}

	/* The word was @before, and is @after. */
	void expect_done(const Send &send, uint64_t before, uint64_t after)
	{
		const ibv_wc wc = expect(pair.a.send_cq, pair.a.qp, 1);

		EXPECT_EQ(wc.opcode, send.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? IBV_WC_COMP_SWAP
									      : IBV_WC_FETCH_ADD);
		EXPECT_EQ(wc.byte_len, 8u);
		EXPECT_EQ(result(), before);
		EXPECT_EQ(word(), after);
		EXPECT_EQ((&word())[1], 0u) << "what lies behind";
		result() = poison;
	}

	void run(const Send &send, uint64_t before, uint64_t after)
	{
		for (auto way : { post, post_extended }) {
			word() = before;
			ASSERT_EQ(way(pair.a.qp, send), 0);
			expect_done(send, before, after);
		}
	}

	/* Nothing is done, and a learns why. */
	void expect_failed(const Send &send, ibv_wc_status status, bellhop_reason reason)
	{
		word() = 7;
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, status), reason);
		EXPECT_TRUE(pair.a.qp.reaches(IBV_QPS_ERR));
		EXPECT_EQ(word(), 7u);
		EXPECT_EQ(result(), poison);
	}

	void expect_local(const Send &send, ibv_wc_status status, bellhop_reason reason)
	{
		expect_failed(send, status, reason);
		EXPECT_EQ(pair.b.qp.state(), IBV_QPS_RTS);
	}

	void expect_remote(const Send &send, ibv_wc_status status, bellhop_reason reason,
			   ibv_event_type event)
	{
		expect_failed(send, status, reason);
		expect_event(pair.b.device, event, pair.b.qp);
		EXPECT_TRUE(pair.b.qp.reaches(IBV_QPS_ERR));
	}

	Pair pair;
	Region a{ pair.a.pd, 8192 };
	Region b{ pair.b.pd, 8192 };
};

TEST_F(Atomic, are_offered)
{
	ibv_device_attr attr;

	ASSERT_EQ(ibv_query_device(pair.a.device.get(), &attr), 0);
	EXPECT_EQ(attr.atomic_cap, IBV_ATOMIC_HCA);
}

TEST_F(Atomic, compare_and_swap)
{
	run(cmp_swp(5, 9), 5, 9);
	run(cmp_swp(5, 9), 6, 6);
	run(cmp_swp(0, ~0ULL), 0, ~0ULL);
	run(cmp_swp(~0ULL, 0), ~0ULL, 0);
	/* Each byte counts. */
	for (unsigned bit = 0; bit < 64; bit += 7) {
		run(cmp_swp(1ULL << bit, 3), 1ULL << bit, 3);
		run(cmp_swp(0, 3), 1ULL << bit, 1ULL << bit);
	}
}

TEST_F(Atomic, fetch_and_add)
{
	run(fetch_add(0), 5, 5);
	run(fetch_add(3), 5, 8);
	run(fetch_add(1), ~0ULL, 0);
	run(fetch_add(~0ULL), 5, 4);
	run(fetch_add(1ULL << 32), 0xffffffff, 0x1ffffffff);
}

/* The result may lie anywhere, also on two pages. */
TEST_F(Atomic, bring_their_result_to_any_address)
{
	for (size_t at : { size_t(1), size_t(4096 - 4), size_t(4096 - 1), size_t(8192 - 8) }) {
		Send send = fetch_add(1);
		uint64_t got;

		send.sges = { a.sge(at, 8) };
		word() = 0x0102030405060708;
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
		std::memcpy(&got, a.memory.data() + at, 8);
		EXPECT_EQ(got, 0x0102030405060708u) << at;
	}
}

TEST_F(Atomic, come_in_order_with_other_requests)
{
	word() = 1;
	(&word())[1] = 41;
	result() = 0;
	Send write = { .opcode = IBV_WR_RDMA_WRITE,
		       .sges = { a.sge(64, 8) },
		       .remote = b.address(),
		       .rkey = b.mr.rkey(),
		       .id = 0 };
	Send read = write;
	*reinterpret_cast<uint64_t *>(a.memory.data() + 64) = 100;
	read.opcode = IBV_WR_RDMA_READ;
	read.sges = { a.sge(128, 8) };
	read.id = 2;
	ASSERT_EQ(post(pair.a.qp, write), 0);
	ASSERT_EQ(post(pair.a.qp, fetch_add(5)), 0);
	ASSERT_EQ(post(pair.a.qp, read), 0);
	for (uint64_t id = 0; id < 3; id++)
		expect(pair.a.send_cq, pair.a.qp, id);
	EXPECT_EQ(result(), 100u);
	EXPECT_EQ(*reinterpret_cast<uint64_t *>(a.memory.data() + 128), 105u);
}

/* QPs, and a program's own processor: no addition is lost, and each has seen another word. */
TEST_F(Atomic, are_atomic_to_everybody)
{
	constexpr uint64_t rounds = 3000;
	constexpr unsigned requesters = 3;
	std::vector<uint64_t> seen[requesters + 1];
	std::vector<std::thread> threads;

	word() = 0;
	for (unsigned i = 0; i < requesters; i++)
		threads.emplace_back([&, i] {
			Endpoint end;
			Endpoint peer;
			Region there(peer.pd, 4096);
			Mr shared(peer.pd, b.memory.data(), 4096);
			Region here(end.pd, 4096);

			peer.qp.connect(end.qp.address());
			end.qp.connect(peer.qp.address());
			for (uint64_t n = 0; n < rounds; n++) {
				EXPECT_EQ(post(end.qp, { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
							 .sges = { here.sge(0, 8) },
							 .remote = b.address(),
							 .rkey = shared.rkey(),
							 .compare_add = 1 }),
					  0);
				if (end.send_cq.next().status != IBV_WC_SUCCESS)
					break;
				seen[i].push_back(
					*reinterpret_cast<uint64_t *>(here.memory.data()));
			}
		});
	threads.emplace_back([&] {
		for (uint64_t n = 0; n < rounds; n++) {
			seen[requesters].push_back(
				__atomic_fetch_add(&word(), 1, __ATOMIC_RELAXED));
			if (n % 64 == 0)
				std::this_thread::yield();
		}
	});
	for (std::thread &thread : threads)
		thread.join();
	std::vector<uint64_t> all;
	for (const auto &some : seen) {
		EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
		all.insert(all.end(), some.begin(), some.end());
	}
	std::sort(all.begin(), all.end());
	EXPECT_EQ(word(), rounds * (requesters + 1));
	ASSERT_EQ(all.size(), rounds * (requesters + 1));
	for (uint64_t i = 0; i < all.size(); i++)
		ASSERT_EQ(all[i], i);
}

TEST_F(Atomic, are_refused_off_their_boundary)
{
	Send send = fetch_add(1);

	send.remote += 4;
	expect_remote(send, IBV_WC_REM_INV_REQ_ERR, BELLHOP_REASON_ALIGNMENT, IBV_EVENT_QP_REQ_ERR);
}

TEST_F(Atomic, are_refused_without_the_key_s_consent)
{
	Region readable(pair.b.pd, 4096,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	Send send = fetch_add(1);

	send.remote = readable.address();
	send.rkey = readable.mr.rkey();
	expect_remote(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_ACCESS,
		      IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(Atomic, are_refused_past_the_end)
{
	Send send = fetch_add(1);

	send.remote = b.address(8192);
	expect_remote(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_RANGE,
		      IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(Atomic, are_not_done_without_a_place_for_the_result)
{
	Region constant(pair.a.pd, 4096, 0);
	Send send = fetch_add(1);

	send.sges = { constant.sge(0, 8) };
	expect_local(send, IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_ACCESS);
}

TEST_F(Atomic, have_one_result)
{
	Send send = fetch_add(1);

	send.sges = { a.sge(0, 4), a.sge(4, 4) };
	expect_local(send, IBV_WC_LOC_QP_OP_ERR, BELLHOP_REASON_WR_NUM_SGE);
}

TEST_F(Atomic, have_a_result)
{
	Send send = fetch_add(1);

	send.sges = {};
	expect_local(send, IBV_WC_LOC_QP_OP_ERR, BELLHOP_REASON_WR_NUM_SGE);
}

TEST_F(Atomic, have_a_result_of_eight_bytes)
{
	Send send = cmp_swp(7, 1);

	send.sges = { a.sge(0, 16) };
	expect_local(send, IBV_WC_LOC_LEN_ERR, BELLHOP_REASON_WR_LENGTH);
}

TEST_F(Atomic, are_never_inline)
{
	Send send = cmp_swp(7, 1);

	send.flags |= IBV_SEND_INLINE;
	EXPECT_EQ(post(pair.a.qp, send), EINVAL);
}

class AtomicOfClosedQp : public Atomic
{
protected:
	AtomicOfClosedQp() : Atomic({}, { .access = access_all & ~IBV_ACCESS_REMOTE_ATOMIC }) {}
};

TEST_F(AtomicOfClosedQp, is_refused)
{
	expect_remote(fetch_add(1), IBV_WC_REM_INV_REQ_ERR, BELLHOP_REASON_QP_ACCESS,
		      IBV_EVENT_QP_REQ_ERR);
}

class AtomicOfBusyQp : public Atomic
{
protected:
	AtomicOfBusyQp() : Atomic({}, { .max_dest_rd_atomic = 0 }) {}
};

TEST_F(AtomicOfBusyQp, is_refused)
{
	expect_remote(cmp_swp(7, 1), IBV_WC_REM_INV_REQ_ERR, BELLHOP_REASON_NO_RD_ATOMIC,
		      IBV_EVENT_QP_REQ_ERR);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
