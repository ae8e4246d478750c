// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// memlock.cpp: rings and device memory count as locked memory of the process that has them made,
// and are bounded by it.
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "child.hpp"
#include "cq.hpp"
#include "dm.hpp"

using namespace vm;

/* Without this right RLIMIT_MEMLOCK is a limit. */
static void drop_right_to_lock()
{
	__user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	__user_cap_data_struct data[2] = {};

	require_errno(!syscall(SYS_capget, &head, data), "capget");
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	data[0].permitted &= ~(1u << CAP_IPC_LOCK);
	require_errno(!syscall(SYS_capset, &head, data), "capset");
}

/* From here on a MiB is all that may be locked. */
static void limit_locked_memory()
{
	const rlimit limit = { 1 << 20, 1 << 20 };

	drop_right_to_lock();
	require_errno(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
}

/* Returns how many CQs of 64 KiB can be made before one is refused. */
static int count_cqs(const Device &device)
{
	std::vector<ibv_cq *> cqs;

	while (cqs.size() < 100) {
		ibv_cq *cq = ibv_create_cq(device.get(), 1024, nullptr, nullptr, 0);

		if (!cq)
			break;
		cqs.push_back(cq);
	}
	for (ibv_cq *cq : cqs)
		ibv_destroy_cq(cq);
	return static_cast<int>(cqs.size());
}

TEST(Memlock, bounds_rings)
{
	if (!is_bellhop())
		GTEST_SKIP() << "others count otherwise";
	Child child([] {
		limit_locked_memory();
		Device device;
		const int first = count_cqs(device), again = count_cqs(device);
		note("%d CQs, and then %d again", first, again);
		return first > 0 && first < 16 && again == first ? 0 : 1;
	});
	EXPECT_EQ(child.wait(), std::optional(0))
		<< "1 MiB holds fewer than 16, and they are given back";
}

/* So much of it is locked memory as well, beside what the device has. */
TEST(Memlock, bounds_device_memory)
{
	if (!is_bellhop())
		GTEST_SKIP() << "others count otherwise";
	Child child([] {
		limit_locked_memory();
		Device device;
		for (int i = 0; i < 50; i++) {
			const Dm dm(device, 512 << 10);

			if (ibv_dm *more = alloc_dm(device, 512 << 10)) {
				ibv_free_dm(more);
				return 1;
			}
			if (errno != ENOMEM)
				return 2;
		}
		return dm_total(device) > (1 << 20) ? 0 : 3;
	});
	EXPECT_EQ(child.wait(), std::optional(0))
		<< "1: more than may be locked, 2: errno is not ENOMEM, 3: there is no more at all";
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
