// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// dm.cpp: device memory: how much of it there is, what programs copy to and from it, and what
// becomes of it when they fork, end, or share it. Its regions are in dm_mr.cpp.
#include <array>
#include <csignal>
#include "child.hpp"
#include "dm.hpp"
#include "passing.hpp"

using namespace vm;

static constexpr size_t page = 4096;

class Allocation : public testing::Test
{
protected:
	/** Expects @error, or success for 0. */
	void expect_result(int error, size_t length, uint32_t log_align = 0, uint32_t comp_mask = 0)
	{
		errno = 0;
		ibv_dm *dm = alloc_dm(device, length, log_align, comp_mask);

		EXPECT_EQ(dm ? 0 : errno, error) << (dm ? "allocated" : std::strerror(errno));
		if (dm)
			EXPECT_EQ(ibv_free_dm(dm), 0);
	}

	Device device;
	size_t total = dm_total(device);
};

TEST_F(Allocation, of_any_size_there_is)
{
	ASSERT_GE(total, 16 * page);
	for (size_t length :
	     { size_t(1), size_t(4), size_t(100), page, page + 4, total / 2, total })
		expect_result(0, length);
	expect_result(EINVAL, 0);
	for (size_t length : { total + 1, size_t(1) << 32, (size_t(1) << 32) + 64, ~size_t(0) })
		expect_result(ENOMEM, length);
}

TEST_F(Allocation, with_an_alignment)
{
	for (uint32_t log_align : { 1, 3, 6, 12 })
		expect_result(0, 64, log_align);
	expect_result(EINVAL, 64, 13);
	expect_result(EINVAL, 64, 64);
	expect_result(EINVAL, 64, ~0u);
}

TEST_F(Allocation, with_what_is_unknown)
{
	expect_result(EOPNOTSUPP, 64, 0, 1);
}

TEST_F(Allocation, of_no_more_than_all)
{
	{
		const Dm most(device, total - 2 * page), one(device, page);

		expect_result(ENOMEM, page + 1);
		expect_result(0, page);
		const Dm last(device, 1);
		expect_result(ENOMEM, 1);
		/* And for other programs. */
		const Device other;
		errno = 0;
		EXPECT_EQ(alloc_dm(other, 1), nullptr);
		EXPECT_EQ(errno, ENOMEM);
	}
	expect_result(0, total);
}

TEST_F(Allocation, of_memory_without_anybodys_bytes)
{
	for (int i = 0; i < 20; i++) {
		const Dm dm(device, 8 * page);

		ASSERT_EQ(dm.bytes(), std::vector<uint8_t>(8 * page));
		dm.write_noise(i);
	}
}

TEST(Copy, there_and_back)
{
	const Device device;
	const Dm dm(device, 3 * page);
	const std::vector<uint8_t> noise = dm.write_noise(1);
	uint8_t some[100];

	EXPECT_EQ(dm.bytes(), noise);
	ASSERT_EQ(ibv_memcpy_from_dm(some, dm.get(), page - 40, sizeof(some)), 0);
	EXPECT_EQ(std::memcmp(some, &noise[page - 40], sizeof(some)), 0);
	EXPECT_EQ(ibv_memcpy_to_dm(dm.get(), 3 * page, some, 0), 0);
}

/* As of devices that reach it by words. */
TEST(Copy, of_what_it_has_not)
{
	struct {
		uint64_t offset;
		size_t length;
	} const ranges[] = { { 0, 104 },       { 4, 100 },   { 104, 0 },
			     { 100, 4 },       { 1, 4 },     { 4, 3 },
			     { ~0ULL - 3, 8 }, { ~0ULL, 4 }, { 4, ~size_t(0) - 3 } };
	const Device device;
	const Dm dm(device, 100);
	const std::vector<uint8_t> noise = dm.write_noise(1);
	uint8_t bytes[128] = {};

	for (const auto &range : ranges) {
		EXPECT_EQ(ibv_memcpy_to_dm(dm.get(), range.offset, bytes, range.length), EINVAL)
			<< range.offset << "+" << range.length;
		EXPECT_EQ(ibv_memcpy_from_dm(bytes, dm.get(), range.offset, range.length), EINVAL)
			<< range.offset << "+" << range.length;
	}
	EXPECT_EQ(dm.bytes(), noise);
}

/* Like rings, it is not the child's; and the parent's stays as it is. */
TEST(Fork, leaves_it_with_the_parent)
{
	const Device device;
	const Dm dm(device, page);
	const std::vector<uint8_t> noise = dm.write_noise(1);
	Child child([&] {
		uint8_t bytes[4];

		std::signal(SIGSEGV, [](int) { _exit(7); });
		return ibv_memcpy_from_dm(bytes, dm.get(), 0, sizeof(bytes));
	});
	std::optional<int> status = child.wait();

	ASSERT_TRUE(status);
	EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 7) << "status " << *status;
	EXPECT_EQ(dm.bytes(), noise);
}

TEST(Kill, gives_all_of_it_back)
{
	int ready[2];

	ASSERT_EQ(pipe(ready), 0);
	Child owner([&] {
		const Device device;
		const Pd pd(device);
		const Dm dm(device, dm_total(device));
		ibv_mr *mr = reg_dm_mr(pd, dm, 0, page);

		require_errno(mr && write(ready[1], "r", 1) == 1, "a region");
		pause();
		return 0;
	});
	char byte;

	ASSERT_EQ(read(ready[0], &byte, 1), 1);
	const Device device;
	errno = 0;
	EXPECT_EQ(alloc_dm(device, 1), nullptr);
	EXPECT_EQ(errno, ENOMEM);
	owner.kill();
	ASSERT_TRUE(owner.wait());
	/* Its file can be closed a little later than it ends. */
	const Deadline deadline(patience);
	ibv_dm *dm;
	while (!(dm = alloc_dm(device, dm_total(device))) && !deadline.passed())
		usleep(1000);
	ASSERT_NE(dm, nullptr);
	EXPECT_EQ(ibv_free_dm(dm), 0);
	close(ready[0]);
	close(ready[1]);
}

static int another_file(const Device &device)
{
	const int fd = dup(device.get()->cmd_fd);

	require_errno(fd >= 0, "dup");
	return fd;
}

TEST(Import, is_the_same_memory)
{
	const Device device;
	const Device joined(another_file(device));
	Dm dm(device, 2 * page + 4);
	ibv_dm *imported = ibv_import_dm(joined.get(), dm.get()->handle);

	ASSERT_TRUE(imported);
	const std::vector<uint8_t> noise = dm.write_noise(1);
	std::vector<uint8_t> seen(noise.size());
	ASSERT_EQ(ibv_memcpy_from_dm(seen.data(), imported, 0, seen.size()), 0);
	EXPECT_EQ(seen, noise);
	EXPECT_EQ(ibv_memcpy_from_dm(seen.data(), imported, 4, seen.size()), EINVAL);
	seen.assign(seen.size(), 0x5a);
	ASSERT_EQ(ibv_memcpy_to_dm(imported, 0, seen.data(), seen.size()), 0);
	EXPECT_EQ(dm.bytes(), seen);
	ibv_unimport_dm(imported);
	EXPECT_EQ(dm.bytes(), seen);
	const uint32_t handle = dm.get()->handle;
	EXPECT_EQ(dm.release(), 0);
	errno = 0;
	EXPECT_EQ(ibv_import_dm(joined.get(), handle), nullptr);
	EXPECT_EQ(errno, ENOENT);
}

/* Of an owner that is killed: it stays for as long as the context does. */
TEST(Import, outlives_who_has_allocated_it)
{
	Passing passing;
	Child owner([&] {
		passing.take(0);
		const Device device;
		const Dm dm(device, page);

		dm.write_noise(3);
		passing.send(dm.get()->handle, std::array{ device.get()->cmd_fd });
		pause();
		return 0;
	});
	std::array<int, 1> files;
	uint32_t handle;

	passing.take(1);
	ASSERT_TRUE(passing.receive(handle, files));
	const Device joined(files[0]);
	ibv_dm *dm = ibv_import_dm(joined.get(), handle);
	ASSERT_TRUE(dm);
	owner.kill();
	ASSERT_TRUE(owner.wait());
	std::vector<uint8_t> noise(page), seen(page);
	fill(noise, 3);
	ASSERT_EQ(ibv_memcpy_from_dm(seen.data(), dm, 0, page), 0);
	EXPECT_EQ(seen, noise);
	EXPECT_EQ(ibv_free_dm(dm), 0);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
