// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_often.cpp: verbs during a shortage of memory, when not only one allocation fails: those with
// a second way to get their memory fail in both. What cannot be done is refused and leaves nothing.
#include "datagrams.hpp"
#include "shortage.hpp"
#include "sweep.hpp"
#include "trials.hpp"

using namespace vm;

class FailOften : public FaultTest, protected Datagrams
{
protected:
	/*
	 * A page that this program touches must be there: it would wait for one that it is denied
	 * itself. What the library allocates lies where it has allocated before.
	 */
	void SetUp() override
	{
		FaultTest::SetUp();
		if (IsSkipped())
			return;
		ASSERT_EQ(create_ah(pd.get()), 0);
		std::free(std::malloc(100 << 10));
		require_errno(!mlockall(MCL_CURRENT), "mlockall");
	}

	void TearDown() override
	{
		munlockall();
		if (ah)
			EXPECT_EQ(ibv_destroy_ah(ah), 0);
	}

	/*
	 * Taking memory away needs memory, too, and the library tries it no more than three times:
	 * what it leaves mapped then, of an object that it could not create or has destroyed, is
	 * removed here.
	 */
	static Trial tidied(Trial trial, bool creates)
	{
		const std::vector<Mapping> kept = find_mappings();
		const auto settle = trial.settle;

		trial.settle = [=](int error, bool hit) {
			error = settle ? settle(error, hit) : error;
			if ((error != 0) == creates)
				unmap_all_but(kept);
			return error;
		};
		return trial;
	}

	static void unmap_all_but(const std::vector<Mapping> &kept)
	{
		for (const Mapping &map : find_mappings())
			if (std::none_of(kept.begin(), kept.end(), [&](const Mapping &known) {
				    return known.start == map.start;
			    }))
				EXPECT_EQ(munmap(map.start, map.length), 0);
	}

	void squeeze_mr(const std::string &kind, const std::function<void *()> &make, size_t length,
			bool needs)
	{
		ibv_mr *mr = nullptr;
		void *start = nullptr;
		const auto prepare = [&] { start = make(); };
		const auto reg = [&] {
			mr = ibv_reg_mr(pd.get(), start, length, access_all);
			return mr ? 0 : errno;
		};

		squeeze("reg_mr, " + kind,
			{ .prepare = prepare,
			  .call = reg,
			  .undo = [&] { EXPECT_EQ(ibv_dereg_mr(mr), 0); } },
			needs);
		squeeze("dereg_mr, " + kind,
			{ .prepare =
				  [&] {
					  prepare();
					  ASSERT_EQ(reg(), 0);
				  },
			  .call = [&] { return ibv_dereg_mr(mr); } },
			false);
	}
};

TEST_F(FailOften, pd_and_address_handle)
{
	ibv_pd *one = nullptr;
	const auto alloc = [&] { return (one = ibv_alloc_pd(device.get())) ? 0 : errno; };
	const auto dealloc = [&] { EXPECT_EQ(ibv_dealloc_pd(one), 0); };
	ibv_ah *const kept = ah;

	squeeze("alloc_pd", { .call = alloc, .undo = dealloc }, false);
	squeeze("create_ah",
		{ .prepare = [&] { ASSERT_EQ(alloc(), 0); },
		  .call = [&] { return create_ah(one); },
		  .refused =
			  [&] {
				  dealloc();
				  ASSERT_EQ(alloc(), 0);
			  },
		  .undo =
			  [&] {
				  EXPECT_EQ(ibv_destroy_ah(ah), 0);
				  dealloc();
			  } },
		false);
	ah = kept;
}

/* So many runs of pages that their table is allocated in whole pages. */
TEST_F(FailOften, mr_of_many_runs_of_pages)
{
	constexpr size_t pages = 600;
	Memory memory(pages * 4096), other(pages * 4096);

	interleave(memory, other);
	squeeze_mr(
		"many runs of pages", [&] { return memory.data(); }, pages * 4096, true);
}

TEST_F(FailOften, mr_of_new_pages)
{
	constexpr size_t length = 16 * 4096;
	std::unique_ptr<Memory> memory;

	squeeze_mr(
		"new pages",
		[&] {
			memory = std::make_unique<Memory>(length);
			return memory->data();
		},
		length, true);
}

TEST_F(FailOften, cq)
{
	ibv_cq *one = nullptr;
	const auto create = [&] {
		one = ibv_create_cq(device.get(), 4000, nullptr, channel.get(), 0);
		return one ? 0 : errno;
	};

	squeeze("create_cq",
		tidied({ .call = create,
			 .check =
				 [&] {
					 ibv_wc wc;

					 EXPECT_EQ(ibv_poll_cq(one, 1, &wc), 0);
				 },
			 .undo = [&] { EXPECT_EQ(ibv_destroy_cq(one), 0); } },
		       true),
		true);
	squeeze("destroy_cq",
		tidied(destroying(
			       "cq", [&] { ASSERT_EQ(create(), 0); },
			       [&] { return ibv_destroy_cq(one); }),
		       false),
		false);
}

TEST_F(FailOften, qp)
{
	const auto ready = [&] {
		ASSERT_EQ(create_qp(), 0);
		connect();
		expect_works();
	};

	squeeze("create_qp",
		tidied({ .call = [&] { return create_qp(); },
			 .check =
				 [&] {
					 connect();
					 expect_works();
				 },
			 .undo = [&] { destroy_qp(); } },
		       true),
		true);
	squeeze("destroy_qp",
		tidied(destroying("qp", ready, [&] { return ibv_destroy_qp(qp); }), false), false);
	ready();
	squeeze("modify_qp, INIT to RTR",
		changing(
			*this, [&] { ASSERT_EQ(modify(to_init()), 0); }, to_rtr(self()), [] {}),
		false);
	squeeze("modify_qp, RTR to RTS",
		changing(
			*this,
			[&] {
				ASSERT_EQ(modify(to_init()), 0);
				ASSERT_EQ(modify(to_rtr(self())), 0);
			},
			to_rts(), [&] { expect_works(); }),
		false);
	squeeze("post",
		{ .call =
			  [&] {
				  const int error = post_one_recv(region.sge(256 << 10, 5000), 2);
				  return error ? error
					       : post_one({ .sges = { region.sge(0, 5000) },
							    .id = 1 });
			  },
		  .check = [&] { expect_both(); } },
		false);
	destroy_qp();
}

TEST_F(FailOften, qp_of_datagrams)
{
	squeeze("create_qp of datagrams",
		tidied({ .call = [&] { return create_ud_qp(); },
			 .check =
				 [&] {
					 make_ready();
					 expect_arrives();
				 },
			 .undo = [&] { destroy_qp(); } },
		       true),
		true);
	ASSERT_EQ(create_ud_qp(), 0);
	make_ready();
	squeeze("post, a datagram",
		{ .call =
			  [&] {
				  const int error = post_one_recv(inbox(1000), 2);
				  return error ? error : post_one(letter(IBV_WR_SEND, 1000));
			  },
		  .check = [&] { expect_both(); } },
		false);
	destroy_qp();
}

/* What is mapped by hand, beside the library. */
TEST_F(FailOften, mapping_of_a_ring)
{
	std::unique_ptr<Cq> one;
	const std::vector<Mapping> maps =
		new_mappings([&] { one = std::make_unique<Cq>(device, 60000); });
	void *start = nullptr;

	ASSERT_EQ(maps.size(), 1u);
	squeeze("mmap of a ring",
		{ .call =
			  [&] {
				  start = mmap(nullptr, maps[0].length, PROT_READ | PROT_WRITE,
					       MAP_SHARED, device.get()->cmd_fd, maps[0].offset);
				  return start == MAP_FAILED ? errno : 0;
			  },
		  .check = [&] { EXPECT_EQ(std::memcmp(start, maps[0].start, maps[0].length), 0); },
		  .undo = [&] { EXPECT_EQ(munmap(start, maps[0].length), 0); } },
		true);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
