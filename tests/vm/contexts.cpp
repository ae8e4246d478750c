// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// contexts.cpp: a hundred open contexts, some with traffic. The module answers that it is in use;
// taking the devices away under them is over in bounded time, and then the module goes.
#include <memory>
#include "program.hpp"
#include "seed.hpp"
#include "shared.hpp"
#include "site.hpp"
#include "transfer.hpp"

using namespace vm;

/* Two contexts each. */
static constexpr size_t crowd = 50;
/* Of which so many have traffic that never rests. */
static constexpr size_t busy = 4;

class Contexts : public testing::Test
{
protected:
	void SetUp() override
	{
		if (!is_bellhop())
			GTEST_SKIP() << "it is bellhop's module that comes and goes";
		/* The library loads its drivers, which is slow: those that are forked need not. */
		ibv_free_device_list(ibv_get_device_list(nullptr));
		site_.emplace();
		before_ = Site::holdings();
	}

	void TearDown() override
	{
		if (!site_)
			return;
		programs_.clear();
		site_->restore();
		EXPECT_TRUE(before_->are_back()) << "before: " << before_->describe()
						 << "\nafter:  " << Site::holdings().describe();
		for (const char *name : { Site::own, Site::link }) {
			Child next([&] {
				setenv("BELLHOP_TEST_DEVICE", name, 1);
				TransferRig(64 << 10).run_each(60000);
				return HasFailure();
			});
			EXPECT_EQ(next.wait(2 * patience), std::optional(0)) << "on " << name;
		}
	}

	/** Half of them on each device, all of them open when it returns. */
	void open_all(Trade rest = Trade::idler)
	{
		std::mt19937 random(seed());

		for (size_t i = 0; i < crowd; i++) {
			const char *device = i % 2 ? Site::own : Site::link;

			programs_.push_back(std::make_unique<Program>(
				i < busy ? Trade::steady : rest, Route{ device, device },
				reports_[i], random()));
		}
		for (size_t i = 0; i < crowd; i++)
			ASSERT_TRUE(
				comes_true([&] { return bool(reports_[i].begun); }, 4 * patience))
				<< programs_[i]->describe();
	}

	/** Whoever is on @device is told that it is gone, within @patience altogether. */
	void expect_told(const std::string &device)
	{
		const Deadline deadline(patience);

		for (const auto &program : programs_)
			while (program->route().from == device && program->child().pid()) {
				const bool told =
					program->report().has_event(IBV_EVENT_DEVICE_FATAL) ||
					program->report().ending == Ending::broken;

				if (told)
					break;
				ASSERT_FALSE(deadline.passed()) << program->describe();
				usleep(1000);
			}
	}

	/** Whoever is on @device ends by itself. */
	void expect_ended(const std::string &device)
	{
		for (const auto &program : programs_) {
			if (program->route().from != device)
				continue;
			const std::optional<int> status = program->child().wait(2 * patience);

			if (!status)
				note_threads(program->child().pid());
			ASSERT_TRUE(status) << "does not end: " << program->describe();
			EXPECT_EQ(*status, 0) << program->describe();
		}
	}

	void expect_flow(const std::string &device)
	{
		for (size_t i = 0; i < busy; i++) {
			if (programs_[i]->route().from != device)
				continue;
			const uint32_t now = reports_[i].transfers;

			EXPECT_TRUE(comes_true([&] { return reports_[i].transfers > now + 1; }))
				<< programs_[i]->describe();
		}
	}

	void kill_all()
	{
		for (const auto &program : programs_)
			program->child().kill();
		for (const auto &program : programs_)
			if (program->child().pid())
				EXPECT_TRUE(program->child().wait(2 * patience))
					<< "cannot be killed: " << program->describe();
	}

	Shared<Report, crowd> reports_;
	std::vector<std::unique_ptr<Program>> programs_;
	std::optional<Site> site_;
	std::optional<Holdings> before_;
};

TEST_F(Contexts, keep_the_module_until_they_are_killed)
{
	open_all();
	EXPECT_EQ(remove_module(), EWOULDBLOCK);
	expect_flow(Site::own);
	expect_flow(Site::link);
	EXPECT_EQ(remove_module(), EWOULDBLOCK);
	kill_all();
	EXPECT_TRUE(unload_module()) << "the dead keep the module";
}

TEST_F(Contexts, keep_the_module_until_they_are_stopped)
{
	open_all();
	EXPECT_EQ(remove_module(), EWOULDBLOCK);
	for (const auto &program : programs_)
		program->stop();
	expect_ended(Site::own);
	expect_ended(Site::link);
	EXPECT_TRUE(unload_module()) << "closed contexts keep the module";
}

TEST_F(Contexts, lose_their_devices_one_by_one)
{
	open_all();
	expect_command("rdma link delete bell1");
	EXPECT_TRUE(comes_true([] { return !Site::exists(Site::link); }));
	expect_told(Site::link);
	expect_flow(Site::own);
	expect_ended(Site::link);
	expect_command("rdma link delete bell0");
	EXPECT_TRUE(comes_true([] { return !Site::exists(Site::own); }));
	expect_told(Site::own);
	expect_ended(Site::own);
	EXPECT_TRUE(unload_module()) << "contexts of deleted devices keep the module";
}

/* Told, they sleep on and hold what they have: then the module is theirs still. */
TEST_F(Contexts, of_deleted_devices_keep_the_module_until_they_are_killed)
{
	open_all(Trade::sleeper);
	expect_command("rdma link delete bell1 && rdma link delete bell0");
	EXPECT_TRUE(
		comes_true([] { return !Site::exists(Site::link) && !Site::exists(Site::own); }));
	EXPECT_EQ(remove_module(), EWOULDBLOCK);
	kill_all();
	EXPECT_TRUE(unload_module()) << "the dead keep the module";
}

/* Nothing but the kick file keeps the module. */
TEST_F(Contexts, lose_the_module_when_they_have_closed_what_keeps_it)
{
	open_all(Trade::keyless);
	for (size_t i = 0; i < busy; i++)
		programs_[i]->stop();
	for (size_t i = 0; i < busy; i++)
		EXPECT_EQ(programs_[i]->child().wait(), std::optional(0));
	EXPECT_TRUE(unload_module()) << "contexts without a kick file keep the module";
	programs_.erase(programs_.begin(), programs_.begin() + busy);
	expect_told(Site::own);
	expect_told(Site::link);
	expect_ended(Site::own);
	expect_ended(Site::link);
}

/* The devices' parents in sysfs have no driver that could be unbound. */
TEST_F(Contexts, cannot_lose_a_driver)
{
	int parents = 0;

	for (const auto &parent :
	     std::filesystem::directory_iterator("/sys/bus/platform/devices")) {
		if (!parent.path().filename().string().starts_with("bellhop"))
			continue;
		parents++;
		EXPECT_FALSE(std::filesystem::exists(parent.path() / "driver")) << parent.path();
	}
	EXPECT_EQ(parents, 2) << "one for each device";
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
