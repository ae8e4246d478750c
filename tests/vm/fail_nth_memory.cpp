// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_memory.cpp: memory regions and windows with each allocation failing, one at a time, as
// in fail_nth.cpp.
#include <fstream>
#include <memory>
#include "dm.hpp"
#include "exporter.hpp"
#include "loopback.hpp"
#include "sweep.hpp"

using namespace vm;

class FailNthMemory : public FaultTest, protected Loopback
{
protected:
	/* A region's registration, its use, and its end. */
	void sweep_mr(const std::string &verb, void *start, uint32_t length)
	{
		ibv_mr *mr = nullptr;
		const auto reg = [&] {
			mr = ibv_reg_mr(pd.get(), start, length, access_all);
			return mr ? 0 : errno;
		};
		const auto dereg = [&] { return ibv_dereg_mr(mr); };

		ASSERT_EQ(create_qp(), 0);
		connect();
		sweep("reg_mr, " + verb,
		      { .call = reg,
			.check =
				[&] {
					const auto at = reinterpret_cast<uintptr_t>(start);
					const uint32_t half = std::min(length / 2, 60000u);

					expect_moved({ at, half, mr->lkey },
						     { at + length - half, half, mr->lkey });
				},
			.undo = [&] { EXPECT_EQ(dereg(), 0); } });
		sweep("dereg_mr, " + verb,
		      { .prepare = [&] { ASSERT_EQ(reg(), 0); }, .call = dereg });
		destroy_qp();
	}
};

TEST_F(FailNthMemory, mr_of_one_page)
{
	Memory memory(4096);

	sweep_mr("one page", memory.data(), 4096);
}

TEST_F(FailNthMemory, mr_of_many_runs_of_pages)
{
	constexpr size_t pages = 300;
	Memory memory(pages * 4096), other(pages * 4096);

	interleave(memory, other);
	sweep_mr("many runs of pages", memory.data(), pages * 4096);
}

/* Pages that are not there yet: the kernel makes them while it registers. */
TEST_F(FailNthMemory, mr_of_new_pages)
{
	constexpr size_t length = 4 * 4096;
	ibv_mr *mr = nullptr;
	std::unique_ptr<Memory> memory;

	sweep("reg_mr, new pages", { .prepare = [&] { memory = std::make_unique<Memory>(length); },
				     .call =
					     [&] {
						     mr = ibv_reg_mr(pd.get(), memory->data(),
								     length, access_all);
						     return mr ? 0 : errno;
					     },
				     .undo = [&] { EXPECT_EQ(ibv_dereg_mr(mr), 0); } });
}

TEST_F(FailNthMemory, mr_of_a_huge_page)
{
	constexpr size_t length = 2 << 20;

	std::ofstream("/proc/sys/vm/nr_hugepages") << "2" << std::flush;
	{
		Memory memory(length, MAP_HUGETLB);

		sweep_mr("a huge page", memory.data(), length);
	}
	std::ofstream("/proc/sys/vm/nr_hugepages") << "0" << std::flush;
}

/* Each kind of change: what is refused leaves the region as it was. */
TEST_F(FailNthMemory, mr_changed)
{
	struct {
		const char *verb;
		int flags;
		int access;
	} const kinds[] = {
		{ "translation", IBV_REREG_MR_CHANGE_TRANSLATION, 0 },
		{ "pd", IBV_REREG_MR_CHANGE_PD, 0 },
		{ "access", IBV_REREG_MR_CHANGE_ACCESS, IBV_ACCESS_LOCAL_WRITE },
		{ "everything",
		  IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
			  IBV_REREG_MR_CHANGE_ACCESS,
		  IBV_ACCESS_LOCAL_WRITE },
	};
	constexpr uint32_t length = 8 * 4096;
	Memory first(length), second(length);
	Pd other(device);
	ibv_mr *mr = nullptr;
	const auto expect_usable = [&] {
		const auto at = reinterpret_cast<uintptr_t>(mr->addr);

		if (mr->pd == pd.get())
			expect_moved({ at, length / 2, mr->lkey },
				     { at + length / 2, length / 2, mr->lkey });
	};

	ASSERT_EQ(create_qp(), 0);
	connect();
	for (const auto &kind : kinds) {
		/* An answer that cannot be written is about a change that was made. */
		bool answered = true;

		sweep(std::string("rereg_mr, ") + kind.verb,
		      { .prepare =
				[&] {
					mr = ibv_reg_mr(pd.get(), first.data(), length, access_all);
					ASSERT_TRUE(mr);
				},
			.call =
				[&] {
					errno = 0;
					const int code =
						ibv_rereg_mr(mr, kind.flags, other.get(),
							     second.data(), length, kind.access);

					answered = errno != EFAULT;
					return code ? errno : 0;
				},
			.refused =
				[&] {
					if (answered)
						expect_usable();
				},
			.check = expect_usable,
			.undo = [&] { EXPECT_EQ(ibv_dereg_mr(mr), 0); } });
	}
	destroy_qp();
}

TEST_F(FailNthMemory, mw)
{
	const std::unique_ptr<ibv_mr, int (*)(ibv_mr *)> mr(
		ibv_reg_mr(pd.get(), region.memory.data(), 4096,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND),
		ibv_dereg_mr);

	ASSERT_TRUE(mr);
	ASSERT_EQ(create_qp(), 0);
	connect();
	for (ibv_mw_type type : { IBV_MW_TYPE_1, IBV_MW_TYPE_2 }) {
		const std::string kind = ", type " + std::to_string(type);
		ibv_mw *mw = nullptr;
		const auto alloc = [&] { return (mw = ibv_alloc_mw(pd.get(), type)) ? 0 : errno; };
		const auto dealloc = [&] { return ibv_dealloc_mw(mw); };
		const auto bind = [&] {
			const ibv_mw_bind_info info = { mr.get(), region.address(), 4096,
							IBV_ACCESS_REMOTE_READ };
			ibv_mw_bind request = { 1, IBV_SEND_SIGNALED, info };
			ibv_send_wr wr = {}, *bad;

			wr.opcode = IBV_WR_BIND_MW;
			wr.send_flags = IBV_SEND_SIGNALED;
			wr.bind_mw = { mw, ibv_inc_rkey(mw->rkey), info };
			ASSERT_EQ(type == IBV_MW_TYPE_1 ? ibv_bind_mw(qp, mw, &request)
							: ibv_post_send(qp, &wr, &bad),
				  0);
			EXPECT_EQ(cq.next().status, IBV_WC_SUCCESS);
		};

		sweep("alloc_mw" + kind,
		      { .call = alloc, .check = bind, .undo = [&] { EXPECT_EQ(dealloc(), 0); } });
		/* Of one that is bound. */
		sweep("dealloc_mw" + kind, { .prepare =
						     [&] {
							     ASSERT_EQ(alloc(), 0);
							     bind();
						     },
					     .call = dealloc });
	}
	destroy_qp();
}

TEST_F(FailNthMemory, dm)
{
	constexpr size_t length = 3 * 4096;
	ibv_dm *dm = nullptr;
	const auto alloc = [&] { return (dm = alloc_dm(device, length)) ? 0 : errno; };
	const auto free = [&] { return ibv_free_dm(dm); };
	const auto expect_usable = [&] {
		std::vector<uint8_t> noise(length), seen(length);

		fill(noise, 1);
		ASSERT_EQ(ibv_memcpy_to_dm(dm, 0, noise.data(), length), 0);
		ASSERT_EQ(ibv_memcpy_from_dm(seen.data(), dm, 0, length), 0);
		EXPECT_EQ(seen, noise);
	};

	sweep("alloc_dm",
	      { .call = alloc, .check = expect_usable, .undo = [&] { EXPECT_EQ(free(), 0); } });
	sweep("free_dm", { .prepare = [&] { ASSERT_EQ(alloc(), 0); }, .call = free });
	/* And none of it is lost. */
	EXPECT_NE(dm = alloc_dm(device, dm_total(device)), nullptr);
	EXPECT_EQ(free(), 0);
}

TEST_F(FailNthMemory, mr_of_device_memory)
{
	constexpr uint32_t length = 2 * 4096;
	const Dm dm(device, length);
	ibv_mr *mr = nullptr;
	const auto reg = [&] { return (mr = reg_dm_mr(pd, dm, 0, length)) ? 0 : errno; };
	const auto dereg = [&] { return ibv_dereg_mr(mr); };

	ASSERT_EQ(create_qp(), 0);
	connect();
	sweep("reg_dm_mr",
	      { .call = reg,
		.check =
			[&] {
				ASSERT_EQ(post_one_recv({ 0, length, mr->lkey }, 2), 0);
				ASSERT_EQ(post_one({ .sges = { region.sge(0, length) }, .id = 1 }),
					  0);
				expect_both();
			},
		.undo = [&] { EXPECT_EQ(dereg(), 0); } });
	sweep("dereg_mr, device memory",
	      { .prepare = [&] { ASSERT_EQ(reg(), 0); }, .call = dereg });
	destroy_qp();
}

/* Another region keeps it mapped: where an exporter has no memory for that, the kernel warns. */
TEST_F(FailNthMemory, mr_of_exported_memory)
{
	constexpr uint32_t length = 20 * 4096, half = length / 2;
	const DmaBuf buffer(exporter::heap(length), length);
	const auto at = reinterpret_cast<uintptr_t>(buffer.bytes().data());
	ibv_mr *mr = nullptr;
	const auto reg = [&] {
		mr = ibv_reg_dmabuf_mr(pd.get(), 0, length, at, buffer.fd(), access_all);
		return mr ? 0 : errno;
	};
	const auto dereg = [&] { return ibv_dereg_mr(mr); };

	if (buffer.fd() < 0)
		GTEST_SKIP() << "the kernel has no system heap";
	const Mr first(ibv_reg_dmabuf_mr(pd.get(), 0, length, at, buffer.fd(), 0));
	ASSERT_EQ(create_qp(), 0);
	connect();
	sweep("reg_dmabuf_mr",
	      { .call = reg,
		.check =
			[&] {
				expect_moved({ at, half, mr->lkey }, { at + half, half, mr->lkey });
			},
		.undo = [&] { EXPECT_EQ(dereg(), 0); } });
	sweep("dereg_mr, exported memory",
	      { .prepare = [&] { ASSERT_EQ(reg(), 0); }, .call = dereg });
	destroy_qp();
}

TEST_F(FailNthMemory, mr_of_nothing)
{
	constexpr uint32_t length = 5000;
	ibv_mr *mr = nullptr;
	const auto alloc = [&] { return (mr = ibv_alloc_null_mr(pd.get())) ? 0 : errno; };
	const auto dereg = [&] { return ibv_dereg_mr(mr); };

	ASSERT_EQ(create_qp(), 0);
	connect();
	sweep("alloc_null_mr",
	      { .call = alloc,
		.check =
			[&] {
				ASSERT_EQ(post_one_recv({ 1, length, mr->lkey }, 2), 0);
				ASSERT_EQ(post_one({ .sges = { region.sge(0, length) }, .id = 1 }),
					  0);
				expect_both();
			},
		.undo = [&] { EXPECT_EQ(dereg(), 0); } });
	sweep("dereg_mr, of nothing", { .prepare = [&] { ASSERT_EQ(alloc(), 0); }, .call = dereg });
	destroy_qp();
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
