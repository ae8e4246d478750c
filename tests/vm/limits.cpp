// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// limits.cpp: as many objects of a kind as the device says can be made, and no more; then each that
// goes makes room for one.
#include <fstream>
#include <functional>
#include <vector>
#include "device.hpp"
#include "ktap.hpp"

using namespace vm;

/* Objects are many, and each of some kinds is a mapping of its own. */
class Limits : public testing::Test
{
protected:
	Limits()
	{
		std::ifstream(maps_file) >> maps;
		std::ofstream(maps_file) << (1 << 20);
		require(!ibv_query_device(device.get(), &limits), "ibv_query_device");
	}

	~Limits() override
	{
		std::ofstream(maps_file) << maps;
	}

	/** @most: what the device says, of which the kernel itself may have some. */
	template <typename Object>
	void reach(int most, const std::function<Object *()> &create, int (*destroy)(Object *))
	{
		constexpr int others = 64;
		std::vector<Object *> all;

		while (Object *one = create()) {
			all.push_back(one);
			ASSERT_LE(all.size(), size_t(most)) << "more than the device says";
		}
		EXPECT_EQ(errno, ENOMEM) << std::strerror(errno);
		ASSERT_GT(all.size(), size_t(most - others));
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(destroy(all.back()), 0);
			all.back() = create();
			ASSERT_TRUE(all.back()) << std::strerror(errno);
			EXPECT_FALSE(create());
		}
		for (Object *one : all)
			EXPECT_EQ(destroy(one), 0);
		note("%zu of %d", all.size(), most);
	}

	static constexpr const char *maps_file = "/proc/sys/vm/max_map_count";
	Device device;
	ibv_device_attr limits;
	long maps = 65530;
};

TEST_F(Limits, of_pds)
{
	reach<ibv_pd>(
		limits.max_pd, [&] { return ibv_alloc_pd(device.get()); }, ibv_dealloc_pd);
}

TEST_F(Limits, of_srqs)
{
	Pd pd(device);

	reach<ibv_srq>(
		limits.max_srq,
		[&] {
			ibv_srq_init_attr attr = {};

			attr.attr = { 1, 1, 0 };
			return ibv_create_srq(pd.get(), &attr);
		},
		ibv_destroy_srq);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
