// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mw_traffic.cpp: windows that are closed while requests use them: when it is done, not a byte more
// is moved, whoever closes them.
#include <atomic>
#include <future>
#include "ktap.hpp"
#include "nuisance.hpp"
#include "seed.hpp"
#include "windows.hpp"
#include "writer.hpp"

using namespace vm;

static constexpr uint32_t length = 1 << 20;

class Closing : public testing::TestWithParam<ibv_mw_type>
{
protected:
	Closing()
	{
		std::memset(a.memory.data(), 0xaa, length);
	}

	uint64_t at() const
	{
		return reinterpret_cast<uintptr_t>(memory.data());
	}

	Bind whole() const
	{
		return { mr.get(), at(), length };
	}

	/* Binds it, by its type. Returns the rkey. */
	uint32_t open(const Window &window)
	{
		const uint32_t rkey = ibv_inc_rkey(window.rkey());

		EXPECT_EQ(GetParam() == IBV_MW_TYPE_1
				  ? bind(pair.b.qp, window, whole(), 1)
				  : post_bind(pair.b.qp, window, rkey, whole(), 1),
			  0);
		expect(pair.b.send_cq, pair.b.qp, 1);
		return rkey;
	}

	void expect_untouched(Writer &writer)
	{
		std::memset(memory.data(), 0x55, length);
		const ibv_wc wc = writer.failure();

		EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR) << ibv_wc_status_str(wc.status);
		expect_reason(wc, BELLHOP_REASON_RKEY_UNKNOWN);
		for (uint8_t byte : memory.bytes())
			ASSERT_EQ(byte, 0x55) << "written after the window was closed";
		pair.reconnect();
	}

	std::mt19937 random{ seed() };
	Pair pair;
	Region a{ pair.a.pd, length };
	Memory memory{ length };
	Mr mr{ pair.b.pd, memory, access_bindable };
};

TEST_P(Closing, by_its_owner)
{
	for (int round = 0; round < 10 && !HasFailure(); round++) {
		Window window(pair.b.pd, GetParam());
		const uint32_t rkey = open(window);
		Writer writer(pair.a, a.sge(0, length), at(), rkey);

		usleep(random() % 3000);
		ASSERT_EQ(GetParam() == IBV_MW_TYPE_1
				  ? bind(pair.b.qp, window, { nullptr, 0, 0, 0 }, 2)
				  : post_local_inv(pair.b.qp, rkey, 2),
			  0);
		expect(pair.b.send_cq, pair.b.qp, 2);
		expect_untouched(writer);
	}
}

TEST_P(Closing, by_its_end)
{
	for (int round = 0; round < 10 && !HasFailure(); round++) {
		Window window(pair.b.pd, GetParam());
		Writer writer(pair.a, a.sge(0, length), at(), open(window));

		usleep(random() % 3000);
		ASSERT_EQ(window.deallocate(), 0);
		expect_untouched(writer);
	}
	EXPECT_EQ(mr.deregister(), 0);
}

INSTANTIATE_TEST_SUITE_P(of, Closing, testing::Values(IBV_MW_TYPE_1, IBV_MW_TYPE_2),
			 [](const auto &info) { return "type_" + std::to_string(info.param); });

/* What the peer writes first and then invalidates is its receiver's alone. */
TEST(Invalidation, by_the_writer_itself)
{
	std::mt19937 random(seed());
	Pair pair;
	Region a(pair.a.pd, length);
	Memory memory(length);
	Mr mr(pair.b.pd, memory, access_bindable);
	Window window(pair.b.pd, IBV_MW_TYPE_2);
	uint32_t rkey = window.rkey();

	for (uint64_t round = 1; round <= 300 && !testing::Test::HasFailure(); round++) {
		const uint32_t bytes = 1 + random() % length;
		const auto address = reinterpret_cast<uintptr_t>(memory.data());

		rkey = ibv_inc_rkey(rkey);
		ASSERT_EQ(post_bind(pair.b.qp, window, rkey, { mr.get(), address, bytes }, 1), 0);
		expect(pair.b.send_cq, pair.b.qp, 1);
		ASSERT_EQ(post_recv(pair.b.qp, {}, 2), 0);
		fill({ a.memory.data(), bytes }, round);
		ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
					    .sges = { a.sge(0, bytes) },
					    .remote = address,
					    .rkey = rkey,
					    .flags = 0 }),
			  0);
		ASSERT_EQ(post_send_inv(pair.a.qp, {}, rkey, 3), 0);
		EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 2).invalidated_rkey, rkey);
		EXPECT_EQ(std::memcmp(a.memory.data(), memory.data(), bytes), 0);
		expect(pair.a.send_cq, pair.a.qp, 3);
	}
}

/*
 * Windows are bound, closed and dropped by some threads, and their region is changed and
 * deregistered by another, which must wait until none is bound; what is refused is refused for
 * that reason.
 */
TEST(Races, between_binds_and_the_end_of_their_region)
{
	Device device;
	Pd pd(device);
	Memory memory(64 << 10);
	std::atomic<uint32_t> lkey = 0;
	std::atomic<bool> over = false;
	std::atomic<uint32_t> bound = 0, refused = 0;
	std::vector<std::future<void>> binders;
	const Ending ending(over);
	const auto start = reinterpret_cast<uintptr_t>(memory.data());

	for (int i = 0; i < 3; i++)
		binders.push_back(std::async(std::launch::async, [&] {
			Cq cq(device, 16);
			Qp qp(device, pd.get(), cq, cq);

			qp.connect(qp.address());
			while (!over) {
				Window window(pd, IBV_MW_TYPE_2);
				const uint32_t rkey = ibv_inc_rkey(window.rkey());
				ibv_mr mr = {};

				mr.lkey = lkey;
				require(!post_bind(qp, window, rkey, { &mr, start, 4096 }, 1),
					"bind");
				const ibv_wc wc = cq.next();
				if (wc.status == IBV_WC_SUCCESS) {
					bound++;
					if (bound % 2) {
						require(!post_local_inv(qp, rkey, 2), "inv");
						EXPECT_EQ(cq.next().status, IBV_WC_SUCCESS);
					}
					continue;
				}
				EXPECT_EQ(wc.status, IBV_WC_MW_BIND_ERR);
				expect_reason(wc, BELLHOP_REASON_MW_REGION);
				refused++;
				qp.modify(to_state(IBV_QPS_RESET));
				qp.connect(qp.address());
			}
		}));
	uint32_t busy = 0;
	const Deadline end(4);
	while (!end.passed()) {
		ibv_mr *mr = ibv_reg_mr(pd.get(), memory.data(), memory.size(),
					IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		ASSERT_TRUE(mr);
		lkey = mr->lkey;
		usleep(300);
		for (int i = 0; i < 3; i++) {
			/* The key stays, so a bind never misses the region meanwhile. */
			errno = 0;
			const int error =
				ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
					     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
			EXPECT_TRUE(!error || errno == EBUSY) << std::strerror(errno);
			busy += error != 0;
		}
		for (int error; (error = ibv_dereg_mr(mr)); busy++)
			ASSERT_EQ(error, EBUSY);
	}
	over = true;
	for (std::future<void> &binder : binders)
		binder.get();
	note("%u bound, %u refused, %u times the region was busy", bound.load(), refused.load(),
	     busy);
	EXPECT_GT(bound, 0u);
	EXPECT_GT(refused, 0u);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
