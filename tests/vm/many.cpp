// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// many.cpp: many threads on one CQ, one QP or a domain of their own; every byte arrives where it
// should.
#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

static constexpr double run_time = 3;

/* Counts completions by wr_id, whoever polls them. */
class Ledger
{
public:
	explicit Ledger(const Cq &cq) : cq_(cq) {}

	/** Polls until @count completions of @id were seen, by this thread or another. */
	void await(uint64_t id, uint32_t count)
	{
		const Deadline deadline(patience);

		while (done_[id] < count) {
			if (std::optional<ibv_wc> wc = cq_.poll()) {
				require(wc->status == IBV_WC_SUCCESS,
					ibv_wc_status_str(wc->status));
				require(wc->wr_id < done_.size(), "a completion of nobody");
				done_[wc->wr_id]++;
			} else {
				require(!deadline.passed(), "no completion in time");
				std::this_thread::yield();
			}
		}
	}

private:
	const Cq &cq_;
	std::array<std::atomic<uint32_t>, 64> done_ = {};
};

/* Runs @body(thread) in @count threads. Rethrows what one of them throws. */
static void in_threads(unsigned count, const std::function<void(unsigned)> &body)
{
	std::vector<std::future<void>> threads;

	for (unsigned thread = 0; thread < count; thread++)
		threads.push_back(std::async(std::launch::async, body, thread));
	for (std::future<void> &thread : threads)
		thread.get();
}

TEST(Threads, with_qps_of_their_own_share_a_cq)
{
	constexpr unsigned threads = 16;
	constexpr uint32_t slot = 8192;
	Device device;
	Pd pd(device);
	Cq cq(device, 1024);
	Region from(pd, threads * slot), to(pd, threads * slot);
	Ledger ledger(cq);
	std::vector<std::unique_ptr<Qp>> senders, receivers;
	std::atomic<uint32_t> total = 0;

	for (unsigned i = 0; i < threads; i++) {
		senders.push_back(std::make_unique<Qp>(device, pd.get(), cq, cq));
		receivers.push_back(std::make_unique<Qp>(device, pd.get(), cq, cq));
		senders[i]->connect(receivers[i]->address());
		receivers[i]->connect(senders[i]->address());
	}
	in_threads(threads, [&](unsigned thread) {
		const Deadline end(run_time);
		const size_t at = thread * slot;

		for (uint32_t round = 1; !end.passed(); round++) {
			fill(from.memory.bytes().subspan(at, slot), thread << 20 | round);
			require(!post_recv(*receivers[thread], { to.sge(at, slot) },
					   threads + thread),
				"ibv_post_recv");
			require(!post(*senders[thread],
				      { .sges = { from.sge(at, slot) }, .id = thread }),
				"ibv_post_send");
			ledger.await(thread, round);
			ledger.await(threads + thread, round);
			require(!std::memcmp(from.memory.data() + at, to.memory.data() + at, slot),
				"wrong bytes");
			total++;
		}
	});
	note("%u messages", total.load());
}

TEST(Threads, post_to_one_qp)
{
	constexpr unsigned threads = 4;
	constexpr uint32_t slot = 4096, depth = 8;
	Pair pair({ .cap = { 16, 16, 1, 1, 0 } });
	Region a(pair.a.pd, threads * depth * slot), b(pair.b.pd, threads * depth * slot);
	Ledger ledger(pair.a.send_cq);
	std::atomic<uint32_t> total = 0, full = 0;

	in_threads(threads, [&](unsigned thread) {
		const Deadline end(run_time);
		const size_t own = size_t(thread) * depth * slot;
		uint32_t posted = 0;

		for (uint32_t round = 1; !end.passed(); round++) {
			fill(a.memory.bytes().subspan(own, depth * slot), thread << 20 | round);
			for (uint32_t i = 0; i < depth; i++) {
				const Send send = { .opcode = IBV_WR_RDMA_WRITE,
						    .sges = { a.sge(own + i * slot, slot) },
						    .remote = b.address(own + i * slot),
						    .rkey = b.mr.rkey(),
						    .id = thread };
				const Deadline deadline(patience);

				/* Together they post more than the queue holds. */
				while (int error = post(pair.a.qp, send)) {
					require(error == ENOMEM && !deadline.passed(),
						"ibv_post_send");
					full++;
					ledger.await(thread, posted);
				}
				posted++;
			}
			ledger.await(thread, posted);
			require(!std::memcmp(a.memory.data() + own, b.memory.data() + own,
					     depth * slot),
				"wrong bytes");
			total += depth;
		}
	});
	note("%u messages, %u times full", total.load(), full.load());
}

/* Each end sends, writes and reads while it receives. */
TEST(Threads, at_both_ends_of_a_connection)
{
	constexpr uint32_t slot = 16384;
	/* Of each region: 0 what is sent, 1 what is received, 2 what is written, 3 what is read. */
	Pair pair;
	Region a(pair.a.pd, 4 * slot), b(pair.b.pd, 4 * slot);
	const std::array<Endpoint *, 2> ends = { &pair.a, &pair.b };
	const std::array<Region *, 2> regions = { &a, &b };
	std::atomic<uint32_t> total = 0;
	std::atomic<uint32_t> received[2] = {};
	std::atomic<bool> over[2] = {}; /* the sender of that side has ended, well or not */

	for (int side : { 0, 1 })
		ASSERT_EQ(post_recv(ends[side]->qp, { regions[side]->sge(slot, slot) }, 0), 0);
	in_threads(4, [&](unsigned thread) {
		const unsigned side = thread / 2;
		const Endpoint &own = *ends[side];
		Region &mine = *regions[side], &others = *regions[!side];
		const Deadline end(run_time);

		if (thread % 2) {
			/* The receiver: a message is one value all over. */
			for (uint8_t value = 1;; value = value % 255 + 1) {
				std::optional<ibv_wc> wc;

				while (!(wc = own.recv_cq.wait(0.01)))
					if (over[!side])
						return;
				require(wc->status == IBV_WC_SUCCESS, "a receive failed");
				for (uint32_t i = 0; i < slot; i++)
					require(mine.memory.data()[slot + i] == value,
						"wrong bytes received");
				require(!post_recv(own.qp, { mine.sge(slot, slot) }, 0),
					"ibv_post_recv");
				received[side]++;
			}
		}
		struct Over {
			~Over()
			{
				flag = true;
			}
			std::atomic<bool> &flag;
		} last_act{ over[side] };
		const auto complete = [&own](const Send &send) {
			require(!post(own.qp, send), "ibv_post_send");
			require(own.send_cq.next().status == IBV_WC_SUCCESS, "a request failed");
		};
		for (uint8_t value = 1; !end.passed(); value = value % 255 + 1) {
			std::memset(mine.memory.data(), value, slot);
			complete({ .opcode = IBV_WR_RDMA_WRITE,
				   .sges = { mine.sge(0, slot) },
				   .remote = others.address(2 * slot),
				   .rkey = others.mr.rkey() });
			complete({ .opcode = IBV_WR_RDMA_READ,
				   .sges = { mine.sge(3 * slot, slot) },
				   .remote = others.address(2 * slot),
				   .rkey = others.mr.rkey() });
			require(!std::memcmp(mine.memory.data() + 3 * slot, mine.memory.data(),
					     slot),
				"what was written is not what is read");
			complete({ .sges = { mine.sge(0, slot) } });
			total += 3;
		}
	});
	EXPECT_GT(received[0], 0u);
	EXPECT_GT(received[1], 0u);
	note("%u messages", total.load());
}

/* A thread domain promises that one thread at a time uses what is made in it. */
TEST(Threads, with_a_domain_of_their_own)
{
	constexpr unsigned threads = 4;
	constexpr uint32_t slot = 8192;
	Device device;
	Pd pd(device);
	Region from(pd, threads * slot), to(pd, threads * slot);

	ibv_td_init_attr probe_attr = {};
	ibv_td *probe = ibv_alloc_td(device.get(), &probe_attr);
	if (!probe) {
		ASSERT_FALSE(is_bellhop()) << std::strerror(errno);
		GTEST_SKIP() << "the device has no thread domains";
	}
	ASSERT_EQ(ibv_dealloc_td(probe), 0);
	in_threads(threads, [&](unsigned thread) {
		ibv_td_init_attr td_attr = {};
		ibv_td *td = ibv_alloc_td(device.get(), &td_attr);
		require_errno(td, "ibv_alloc_td");
		ibv_parent_domain_init_attr attr = {};
		attr.pd = pd.get();
		attr.td = td;
		ibv_pd *domain = ibv_alloc_parent_domain(device.get(), &attr);
		require_errno(domain, "ibv_alloc_parent_domain");
		{
			Cq cq(device, 64);
			Qp qp(device, domain, cq, cq);
			const Deadline end(run_time);

			qp.connect(qp.address());
			for (uint32_t round = 1; !end.passed(); round++) {
				const size_t at = thread * slot;

				fill(from.memory.bytes().subspan(at, slot), thread << 20 | round);
				require(!post_recv(qp, { to.sge(at, slot) }, 1) &&
						!post(qp,
						      { .sges = { from.sge(at, slot) }, .id = 2 }),
					"posting failed");
				for (int i = 0; i < 2; i++)
					require(cq.next().status == IBV_WC_SUCCESS, "it failed");
				require(!std::memcmp(from.memory.data() + at, to.memory.data() + at,
						     slot),
					"wrong bytes");
			}
			require(ibv_dealloc_td(td) == EBUSY, "a thread domain in use was freed");
			require(ibv_dealloc_pd(domain) == EBUSY,
				"a parent domain in use was freed");
		}
		require(!ibv_dealloc_pd(domain), "ibv_dealloc_pd of a parent domain");
		require(!ibv_dealloc_td(td), "ibv_dealloc_td");
	});
}

/* Domains in which CQs are made, too: perftest's --no_lock does that. */
TEST(Domain, of_a_cq)
{
	Device device;
	Pd pd(device);
	ibv_td_init_attr td_attr = {};
	ibv_td *td = ibv_alloc_td(device.get(), &td_attr);

	if (!td) {
		ASSERT_FALSE(is_bellhop()) << std::strerror(errno);
		GTEST_SKIP() << "the device has no thread domains";
	}
	ibv_parent_domain_init_attr attr = {};
	attr.pd = pd.get();
	attr.td = td;
	ibv_pd *domain = ibv_alloc_parent_domain(device.get(), &attr);
	ASSERT_NE(domain, nullptr) << std::strerror(errno);
	ibv_cq_init_attr_ex cq_attr = {};
	cq_attr.cqe = 16;
	cq_attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	cq_attr.parent_domain = domain;
	ibv_cq_ex *cq = ibv_create_cq_ex(device.get(), &cq_attr);
	ASSERT_NE(cq, nullptr) << std::strerror(errno);
	EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	EXPECT_EQ(ibv_dealloc_pd(domain), 0);
	EXPECT_EQ(ibv_dealloc_td(td), 0);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
