// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// import.cpp: a process works on what another has made: its context, its PD, its regions.
#include <array>
#include "child.hpp"
#include "passing.hpp"
#include "request.hpp"

using namespace vm;

static constexpr size_t length = 64 << 10;

/* What a process tells of its objects, beside the file. */
struct Told {
	uint32_t pd;
	uint32_t mr;
	uint64_t start;
};

/* A PD that somebody else has made. */
class JoinedPd
{
public:
	JoinedPd(const Device &device, uint32_t handle) : pd_(ibv_import_pd(device.get(), handle))
	{
		require_errno(pd_, "ibv_import_pd");
	}

	~JoinedPd()
	{
		ibv_unimport_pd(pd_);
	}

	JoinedPd(const JoinedPd &) = delete;
	JoinedPd &operator=(const JoinedPd &) = delete;

	ibv_pd *get() const
	{
		return pd_;
	}

private:
	ibv_pd *pd_;
};

/* A connection of a QP with itself, in a context and a PD that are there. */
struct Echo {
	Echo(const Device &device, ibv_pd *pd) : cq(device, 16), qp(device, pd, cq, cq)
	{
		qp.connect(qp.address());
	}

	/** Writes the first half of a range over the second. */
	void write(uint64_t start, uint32_t lkey, uint32_t rkey)
	{
		ASSERT_EQ(post(qp, { .opcode = IBV_WR_RDMA_WRITE,
				     .sges = { { start, length / 2, lkey } },
				     .remote = start + length / 2,
				     .rkey = rkey,
				     .id = 1 }),
			  0);
		expect(cq, qp, 1);
	}

	Cq cq;
	Qp qp;
};

static void expect_copied(const uint8_t *start)
{
	EXPECT_EQ(std::memcmp(start, start + length / 2, length / 2), 0);
}

/* The file of a context, as another process gets it. */
static int another_file(const Device &device)
{
	const int fd = dup(device.get()->cmd_fd);

	require_errno(fd >= 0, "dup");
	return fd;
}

TEST(Import, of_a_file_that_is_none)
{
	int ends[2];

	ASSERT_EQ(pipe(ends), 0);
	errno = 0;
	EXPECT_EQ(ibv_import_device(ends[0]), nullptr);
	EXPECT_EQ(errno, EINVAL);
	close(ends[0]);
	close(ends[1]);
}

TEST(Import, of_a_context_within_a_process)
{
	const Device device;
	const Pd pd(device);
	const Region region(pd, length);
	const Device joined(another_file(device));
	const JoinedPd joined_pd(joined, pd.get()->handle);
	Echo echo(joined, joined_pd.get());

	EXPECT_NE(joined.get(), device.get());
	EXPECT_EQ(joined.get()->num_comp_vectors, device.get()->num_comp_vectors);
	fill(region.memory.bytes().first(length / 2), 1);
	echo.write(region.address(), region.mr.lkey(), region.mr.rkey());
	expect_copied(region.memory.data());
}

TEST(Import, of_a_region)
{
	const Device device;
	const Pd pd(device);
	const Memory memory(length);
	ibv_mr *mr = ibv_reg_mr(pd.get(), memory.data(), length, access_all);
	const Device joined(another_file(device));
	const JoinedPd joined_pd(joined, pd.get()->handle);

	ASSERT_TRUE(mr);
	ibv_mr *imported = ibv_import_mr(joined_pd.get(), mr->handle);
	ASSERT_TRUE(imported);
	EXPECT_EQ(imported->lkey, mr->lkey);
	EXPECT_EQ(imported->rkey, mr->rkey);
	EXPECT_EQ(imported->length, length);
	EXPECT_EQ(imported->addr, nullptr);
	ibv_unimport_mr(imported);
	errno = 0;
	EXPECT_EQ(ibv_import_mr(joined_pd.get(), mr->handle + 1000), nullptr);
	EXPECT_EQ(errno, ENOENT);
	/* It was the kernel's all the while, and goes once. */
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST(Import, of_a_pd_that_is_none)
{
	const Device device;
	const Device joined(another_file(device));
	const JoinedPd pd(joined, 12345);
	const Memory memory(length);

	/* What names it is refused by the kernel. */
	errno = 0;
	EXPECT_EQ(ibv_reg_mr(pd.get(), memory.data(), length, access_all), nullptr);
	EXPECT_EQ(errno, ENOENT);
}

/* The one that imports works on in the context when the other has closed it. */
TEST(Import, outlives_who_opened_it)
{
	std::optional<Device> device(std::in_place);
	const Device joined(another_file(*device));
	const Pd pd(joined);
	const Region region(pd, length);
	Echo echo(joined, pd.get());

	device.reset();
	fill(region.memory.bytes().first(length / 2), 2);
	echo.write(region.address(), region.mr.lkey(), region.mr.rkey());
	expect_copied(region.memory.data());
}

/* Of an owner that is killed: its PD and its region, with its memory, stay for as long as the
 * context does. */
TEST(Import, from_a_process_that_is_killed)
{
	Passing passing;
	Child owner([&] {
		passing.take(0);
		const Device device;
		const Pd pd(device);
		const Memory memory(length);
		ibv_mr *mr = ibv_reg_mr(pd.get(), memory.data(), length, access_all);

		require_errno(mr, "ibv_reg_mr");
		fill(memory.bytes().first(length / 2), 3);
		passing.send(Told{ pd.get()->handle, mr->handle,
				   reinterpret_cast<uintptr_t>(memory.data()) },
			     std::array{ device.get()->cmd_fd });
		pause();
		return 0;
	});
	std::array<int, 1> files;
	Told told;

	passing.take(1);
	ASSERT_TRUE(passing.receive(told, files));
	const Device joined(files[0]);
	const JoinedPd pd(joined, told.pd);
	const Memory memory(length);
	const Mr own(pd.get(), memory.data(), length);
	ibv_mr *mr = ibv_import_mr(pd.get(), told.mr);
	ASSERT_TRUE(mr);
	Echo echo(joined, pd.get());

	owner.kill();
	ASSERT_TRUE(owner.wait());
	echo.write(told.start, mr->lkey, mr->rkey);
	ASSERT_EQ(post(echo.qp, { .opcode = IBV_WR_RDMA_READ,
				  .sges = { { reinterpret_cast<uintptr_t>(memory.data()), length,
					      own.lkey() } },
				  .remote = told.start,
				  .rkey = mr->rkey,
				  .id = 2 }),
		  0);
	expect(echo.cq, echo.qp, 2);
	std::vector<uint8_t> noise(length / 2);
	fill(noise, 3);
	EXPECT_EQ(std::memcmp(memory.data(), noise.data(), noise.size()), 0);
	expect_copied(memory.data());
	ibv_unimport_mr(mr);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
