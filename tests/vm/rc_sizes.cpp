// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_sizes.cpp: messages around every boundary, from pages of every kind.
#include <fstream>
#include "ktap.hpp"
#include "transfer.hpp"

using namespace vm;

class Sizes : public testing::TestWithParam<ibv_wr_opcode>
{
};

TEST_P(Sizes, around_boundaries)
{
	std::mt19937 random(1);
	TransferRig rig(320 << 10);

	for (uint32_t boundary : { 64, 128, 256, 1024, 2048, 4096, 8192, 65536, 131072, 262144 })
		for (uint32_t length : { boundary - 1, boundary, boundary + 1 }) {
			rig.run({ .opcode = GetParam(),
				  .local = { { random() % 8192, length } },
				  .remote = { { random() % 8192, length } } });
			/* Both begin with a page. */
			rig.run({ .opcode = GetParam(),
				  .local = { { 4096, length } },
				  .remote = { { 8192, length } } });
			if (HasFailure())
				return;
		}
}

TEST_P(Sizes, to_the_very_end_of_a_region)
{
	TransferRig rig(128 << 10);

	for (uint32_t length : { 1u, 4096u, 4097u, 128u << 10 })
		rig.run({ .opcode = GetParam(),
			  .local = { { (128 << 10) - length, length } },
			  .remote = { { (128 << 10) - length, length } } });
}

TEST_P(Sizes, of_1_MiB)
{
	TransferRig rig((1 << 20) + 8192);

	rig.run({ .opcode = GetParam(),
		  .local = { { 4095, 1 << 20 } },
		  .remote = { { 13, 1 << 20 } } });
}

/* Reserves huge pages for as long as it lives, where the kernel lets it. */
class HugePages
{
public:
	HugePages()
	{
		std::ifstream(path) >> before_;
		set(before_ + 8);
	}

	~HugePages()
	{
		set(before_);
	}

private:
	static void set(long count)
	{
		std::ofstream(path) << count;
	}

	static constexpr const char *path = "/proc/sys/vm/nr_hugepages";
	long before_ = 0;
};

TEST_P(Sizes, in_huge_pages)
{
	constexpr size_t room = 4 << 20;
	HugePages reserved;

	try {
		Memory(room * 2, MAP_HUGETLB).data()[0] = 1;
	} catch (const std::runtime_error &error) {
		GTEST_SKIP() << "no huge pages: " << error.what();
	}
	TransferRig rig(room, {}, {}, MAP_HUGETLB);
	for (uint32_t length : { 4096u, 65537u, (2u << 20) + 1, (3u << 20) + 123 })
		rig.run({ .opcode = GetParam(),
			  .local = { { 54321, length } },
			  .remote = { { 98765, length } } });
}

INSTANTIATE_TEST_SUITE_P(rc, Sizes, testing::ValuesIn(all_opcodes),
			 [](const auto &info) { return opcode_name(info.param); });

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
