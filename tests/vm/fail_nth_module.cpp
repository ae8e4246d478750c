// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_module.cpp: the module is inserted and removed with each of the allocations failing: it
// is refused and leaves nothing, or it is there.
#include "module.hpp"
#include "presence.hpp"
#include "sweep.hpp"

using namespace vm;

/** The module's file, where reading it sends no messages to another machine's file system: one that
 * is not told of a failure may not recover. */
class ModuleImage
{
public:
	ModuleImage()
	{
		const std::string path = "/dev/shm/bellhop.ko";

		std::filesystem::copy_file(module_path(), path,
					   std::filesystem::copy_options::overwrite_existing);
		file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
		require_errno(file_ >= 0, path);
		std::filesystem::remove(path);
	}

	~ModuleImage()
	{
		close(file_);
	}

	ModuleImage(const ModuleImage &) = delete;
	ModuleImage &operator=(const ModuleImage &) = delete;

	/** Returns 0 or an errno. */
	int insert(const char *parameters) const
	{
		return syscall(SYS_finit_module, file_, parameters, 0) ? errno : 0;
	}

private:
	int file_;
};

class FailNthModule : public FaultTest
{
protected:
	void SetUp() override
	{
		FaultTest::SetUp();
		if (IsSkipped())
			return;
		/* What it needs, and the library's provider, have been loaded by now. */
		expect_works(device);
		ASSERT_TRUE(unload_module());
		image_ = std::make_unique<ModuleImage>();
	}

	void TearDown() override
	{
		if (image_ && !is_loaded())
			load_module();
	}

	static bool is_loaded()
	{
		return !access("/sys/module/bellhop", F_OK);
	}

	/* Returns 0 or an errno. */
	int load(const char *parameters = "") const
	{
		return image_->insert(parameters);
	}

	static bool has_netdev()
	{
		return !access(("/sys/class/net/" + device).c_str(), F_OK);
	}

	static void expect_nothing()
	{
		EXPECT_FALSE(is_loaded());
		EXPECT_FALSE(has_netdev());
		EXPECT_FALSE(is_there(device));
		EXPECT_EQ(count_parents(), 0u);
	}

	/* Of the devices, in sysfs. */
	static size_t count_parents()
	{
		size_t count = 0;

		for (const auto &entry :
		     std::filesystem::directory_iterator("/sys/devices/platform"))
			count += entry.path().filename().string().starts_with("bellhop");
		return count;
	}

	static inline const std::string device = "bell0";

private:
	std::unique_ptr<ModuleImage> image_;
};

/* First without its device, which shows where the allocations for the device begin. */
TEST_F(FailNthModule, inserted)
{
	unsigned incomplete = 0;

	sweep("finit_module without a device", { .prepare = [&] { expect_nothing(); },
						 .call = [&] { return load("create=N"); },
						 .refused = [&] { expect_nothing(); },
						 .check = [&] { EXPECT_TRUE(is_loaded()); },
						 .undo = [&] { EXPECT_TRUE(unload_module()); },
						 .most = most,
						 .every = every });
	const unsigned calls = Swept::all().back().calls;
	sweep("finit_module", { .prepare = [&] { expect_nothing(); },
				.call = [&] { return load(); },
				.refused = [&] { expect_nothing(); },
				.check =
					[&] {
						EXPECT_TRUE(is_there(device) && has_netdev());
						if (is_complete(device))
							expect_works(device);
					},
				.undo =
					[&] {
						incomplete += !is_complete(device);
						EXPECT_TRUE(unload_module());
						expect_nothing();
					},
				.also = nameless,
				.most = 2 * most,
				.every = every,
				.from = std::max(calls, 20u) - 20 });
	note("%u times it was inserted and misses something of the core's", incomplete);
}

TEST_F(FailNthModule, removed)
{
	sweep("delete_module", { .prepare = [&] { ASSERT_EQ(load(), 0); },
				 .call = [&] { return remove_module(); },
				 .refused = [&] { expect_works(device); },
				 .check = [&] { expect_nothing(); } });
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
