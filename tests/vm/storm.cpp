// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// storm.cpp: whatever can happen to a device happens at random moments to programs with traffic.
// They go on with the right bytes or hear of it, everything ends in bounded time, nothing is left,
// and the next program works.
//
// BELLHOP_STORM_ROUNDS: how many strikes; the first ones are one of each kind.
#include <array>
#include <map>
#include <memory>
#include "hog.hpp"
#include "seed.hpp"
#include "shared.hpp"
#include "site.hpp"
#include "transfer.hpp"
#include "witness.hpp"

using namespace vm;

class Storm
{
public:
	explicit Storm(uint32_t seed) : random_(seed) {}

	void run(int rounds);

private:
	struct Strike {
		const char *name;
		Effects (Storm::*act)();
		void (Storm::*cast)() = &Storm::cast_usual;
	};
	static const Strike strikes[];

	/* Which programs there are. */
	void cast_usual();
	void cast_keyless();
	void cast_in_netns();
	void start(Trade trade, const Route &route);
	void start_special(Trade trade, const Route &route);
	void start_caller();

	/* Strikes. */
	Effects kill_one();
	Effects kill_all();
	Effects delete_link();
	Effects delete_own();
	Effects flap();
	Effects delete_netdev();
	Effects move_netdev();
	Effects delete_netns();
	Effects change_mtu();
	Effects change_address();
	Effects flush_addresses();
	Effects remove_in_use();
	Effects remove_under_contexts();
	Effects press_memory();
	Effects drop_caches();
	Effects unplug_processor();
	Effects race_link_with_netdev();

	void mark_all();
	void kill(Witness &witness);
	void await_beginning();
	void expect_gone(const char *device);
	void play(const Strike &strike);
	void expect_next_program_works();

	bool toss()
	{
		return random_() % 2;
	}

	using Reports = Shared<Report, 16>; /* as many as there are programs at once, or more */

	Site site_;
	Sty sty_;
	std::mt19937 random_;
	std::vector<std::unique_ptr<Witness>> witnesses_;
	std::unique_ptr<Reports> reports_;
	uint32_t started_ = 0, killed_ = 0;
	std::map<Means, uint64_t> transfers_;
};

const Storm::Strike Storm::strikes[] = {
	{ "kill -9 of one program", &Storm::kill_one },
	{ "kill -9 of all programs", &Storm::kill_all },
	{ "rdma link delete", &Storm::delete_link },
	{ "rdma link delete of the module's own", &Storm::delete_own },
	{ "ip link set down, and up", &Storm::flap },
	{ "ip link delete", &Storm::delete_netdev },
	{ "ip link set netns", &Storm::move_netdev },
	{ "ip netns delete, with programs in it", &Storm::delete_netns, &Storm::cast_in_netns },
	{ "ip link set mtu", &Storm::change_mtu },
	{ "ip address add, and delete", &Storm::change_address },
	{ "ip address flush", &Storm::flush_addresses },
	{ "rmmod in use, and after kill -9", &Storm::remove_in_use },
	{ "rmmod under open contexts", &Storm::remove_under_contexts, &Storm::cast_keyless },
	{ "a memory cgroup's limit", &Storm::press_memory },
	{ "caches dropped", &Storm::drop_caches },
	{ "a processor off, and on", &Storm::unplug_processor },
	{ "rdma link add while ip link delete", &Storm::race_link_with_netdev },
};

void Storm::start(Trade trade, const Route &route)
{
	Report &report = (*reports_)[witnesses_.size()];

	witnesses_.push_back(std::make_unique<Witness>(trade, route, report, random_()));
	started_++;
}

/* One by all means but the plain one. */
void Storm::start_special(Trade trade, const Route &route)
{
	for (Means means : all_means) {
		Route special = route;

		if (means == Means::plain)
			continue;
		special.means = means;
		if (means == Means::frames)
			special.to = special.from;
		start(trade, special);
	}
}

void Storm::cast_usual()
{
	const char *devices[] = { Site::own, Site::link };
	const auto any = [&] { return devices[random_() % 2]; };
	const auto by_any = [&](const char *device) -> Route {
		return { .from = device,
			 .to = device,
			 .means = all_means[random_() % std::size(all_means)] };
	};

	start(Trade::steady, { Site::link, Site::link });
	start(Trade::steady, { any(), any() });
	start_special(Trade::steady, { any(), any() });
	start(Trade::watcher, by_any(any()));
	start(Trade::newcomer, by_any(any()));
	start_caller();
}

void Storm::start_caller()
{
	const bool own = toss();
	const char *device = own ? Site::own : Site::link;

	start(Trade::caller, { device, device, "", Site::addresses[!own] });
}

void Storm::cast_keyless()
{
	start(Trade::keyless, { Site::own, Site::own });
	start(Trade::keyless, { Site::own, Site::link });
	start(Trade::keyless, { Site::link, Site::link });
	start_special(Trade::keyless, { Site::own, Site::link });
}

/* A device is seen in all namespaces, and its interface is in one. */
void Storm::cast_in_netns()
{
	expect_command("ip netns add storm && ip -n storm link add dummy1 up mtu 4200 type dummy &&"
		       "ip netns exec storm rdma link add bell2 type bellhop netdev dummy1");
	ASSERT_TRUE(comes_true([] { return Site::is_usable(Site::guest); }));
	start(Trade::steady, { Site::guest, Site::guest, Site::netns });
	start_special(Trade::steady, { Site::guest, Site::guest, Site::netns });
	start(Trade::steady, { Site::guest, Site::guest });
	start(Trade::steady, { .from = Site::guest, .to = Site::guest, .means = Means::frames });
	start(Trade::watcher, { Site::guest, Site::guest, Site::netns });
	start(Trade::steady, { Site::link, Site::own });
}

void Storm::mark_all()
{
	for (auto &witness : witnesses_)
		witness->mark();
}

void Storm::kill(Witness &witness)
{
	witness.kill();
	killed_++;
}

void Storm::await_beginning()
{
	for (auto &witness : witnesses_)
		witness->expect_begun();
	mark_all();
}

void Storm::expect_gone(const char *device)
{
	EXPECT_TRUE(comes_true([&] { return !Site::exists(device); })) << device << " does not go";
}

Effects Storm::kill_one()
{
	kill(*witnesses_[random_() % witnesses_.size()]);
	return {};
}

Effects Storm::kill_all()
{
	for (auto &witness : witnesses_)
		kill(*witness);
	return {};
}

Effects Storm::delete_link()
{
	expect_command("rdma link delete bell1");
	expect_gone(Site::link);
	return { { Site::link, Effect::gone } };
}

Effects Storm::delete_own()
{
	expect_command("rdma link delete bell0");
	expect_gone(Site::own);
	return { { Site::own, Effect::gone } };
}

Effects Storm::flap()
{
	const bool own = toss();
	const std::string netdev = own ? Site::own : Site::netdev;
	const Effects effects = { { own ? Site::own : Site::link, Effect::down } };

	expect_command("ip link set down " + netdev);
	/* Shorter than a sender's patience, which is half a second; or until that has passed. */
	if (toss())
		usleep(random_() % 500000);
	else
		for (auto &witness : witnesses_)
			if (witness->gives_up() && witness->effect(effects) == Effect::down)
				witness->expect_broken();
	expect_command("ip link set up " + netdev);
	return effects;
}

Effects Storm::delete_netdev()
{
	expect_command("ip link delete dummy0");
	expect_gone(Site::link);
	return { { Site::link, Effect::gone } };
}

/* For this namespace the interface is gone; what is left of the other one ends with it. */
Effects Storm::move_netdev()
{
	const bool own = toss();

	expect_command(std::string("ip netns add storm && ip link set netns storm ") +
		       (own ? Site::own : Site::netdev));
	expect_gone(own ? Site::own : Site::link);
	return { { own ? Site::own : Site::link, Effect::gone } };
}

/* Its name goes; it lives while programs are in it. */
Effects Storm::delete_netns()
{
	await_beginning();
	expect_command("ip netns delete storm");
	for (auto &witness : witnesses_)
		witness->expect_flow();
	for (auto &witness : witnesses_)
		if (!witness->program().route().netns.empty())
			kill(*witness);
	expect_gone(Site::guest);
	return { { Site::guest, Effect::gone } };
}

/* Path MTUs are those of the time of connecting; programs ask for 1024, and rdma_cm for what was
 * the port's a moment before.
 */
Effects Storm::change_mtu()
{
	static constexpr int mtus[] = { 1500, 4200, 9000, 60000 };

	for (int i = 0; i < 4; i++)
		expect_command(std::string("ip link set ") + (toss() ? Site::own : Site::netdev) +
			       " mtu " + std::to_string(mtus[random_() % std::size(mtus)]));
	return { { Site::own, Effect::paths }, { Site::link, Effect::paths } };
}

Effects Storm::change_address()
{
	const std::string netdev = toss() ? Site::own : Site::netdev;

	expect_command("ip address add 10.8.0.1/24 dev " + netdev +
		       " && ip address add fd00:8::1/64 dev " + netdev);
	usleep(random_() % 200000);
	expect_command("ip address delete 10.8.0.1/24 dev " + netdev +
		       " && ip address delete fd00:8::1/64 dev " + netdev);
	return {};
}

/* The address that programs use; whoever is connected stays so. Down and up bring it back. */
Effects Storm::flush_addresses()
{
	const bool own = toss();
	const std::string netdev = own ? Site::own : Site::netdev;

	expect_command("ip address flush dev " + netdev);
	for (auto &witness : witnesses_)
		if (witness->is_settled())
			witness->expect_flow();
	expect_command("ip link set down " + netdev + " && ip link set up " + netdev);
	Site::restore_addresses();
	return { { own ? Site::own : Site::link, Effect::down } };
}

Effects Storm::remove_in_use()
{
	await_beginning();
	EXPECT_EQ(remove_module(), EWOULDBLOCK);
	for (auto &witness : witnesses_)
		witness->expect_flow();
	EXPECT_EQ(remove_module(), EWOULDBLOCK);
	for (auto &witness : witnesses_)
		kill(*witness);
	for (auto &witness : witnesses_)
		witness->judge({});
	EXPECT_TRUE(unload_module()) << "killed programs keep the module";
	return {};
}

Effects Storm::remove_under_contexts()
{
	await_beginning();
	EXPECT_TRUE(unload_module()) << "contexts without a kick file keep the module";
	return { { Site::own, Effect::gone }, { Site::link, Effect::gone } };
}

Effects Storm::press_memory()
{
	static constexpr Food foods[] = { Food::pages, Food::regions, Food::rings };

	for (Food food : foods) {
		const std::optional<int> status = sty_.feed(food, toss() ? Site::own : Site::link);

		EXPECT_TRUE(status) << "a process at its limit does not end";
	}
	return {};
}

Effects Storm::drop_caches()
{
	expect_command("echo 3 >/proc/sys/vm/drop_caches");
	return {};
}

Effects Storm::unplug_processor()
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";

	if (!std::filesystem::exists(online))
		return {};
	for (int i = 0; i < 3; i++) {
		expect_command(std::string("echo 0 >") + online);
		usleep(random_() % 100000);
		expect_command(std::string("echo 1 >") + online);
	}
	return {};
}

/* An interface that goes while a device is made over it takes the device along, or it is refused.
 */
Effects Storm::race_link_with_netdev()
{
	for (int i = 0; i < 4; i++) {
		expect_command("ip link add dummy1 type dummy");
		Child adder([] {
			return run_command("rdma link add bell2 type bellhop netdev dummy1", false);
		});
		usleep(random_() % 40000);
		expect_command("ip link delete dummy1");
		EXPECT_TRUE(adder.wait(2 * patience)) << "rdma link add does not end";
		expect_gone(Site::guest);
	}
	return {};
}

void Storm::expect_next_program_works()
{
	for (const char *name : { Site::own, Site::link }) {
		Child next([&] {
			setenv("BELLHOP_TEST_DEVICE", name, 1);
			TransferRig(64 << 10).run_each(60000);
			return testing::Test::HasFailure();
		});
		EXPECT_EQ(next.wait(2 * patience), std::optional(0)) << "on " << name;
	}
}

void Storm::play(const Strike &strike)
{
	reports_ = std::make_unique<Reports>();
	(this->*strike.cast)();
	usleep(random_() % 400000);
	mark_all();
	const Effects effects = (this->*strike.act)();
	for (auto &witness : witnesses_)
		witness->judge(effects);
	for (const auto &witness : witnesses_)
		transfers_[witness->program().route().means] += witness->report().transfers;
	if (testing::Test::HasFailure())
		for (const auto &witness : witnesses_)
			note("%s", witness->program().describe().c_str());
	witnesses_.clear();
	site_.restore();
	/* Its children would inherit the failure. */
	if (!testing::Test::HasFailure())
		expect_next_program_works();
}

void Storm::run(int rounds)
{
	constexpr size_t kinds = std::size(strikes);
	std::array<uint32_t, kinds> counts = {};
	const Holdings before = Site::holdings();
	std::optional<Meminfo> memory;

	ASSERT_GE(rounds, static_cast<int>(kinds)) << "each kind has its turn";
	expect_next_program_works();
	for (int round = 0; round < rounds; round++) {
		/* The first of each kind fills the kernel's caches. */
		if (round == kinds)
			memory.emplace();
		const size_t kind = round < static_cast<int>(kinds) ? round : random_() % kinds;
		const auto start = std::chrono::steady_clock::now();

		play(strikes[kind]);
		counts[kind]++;
		EXPECT_TRUE(before.are_back()) << "before: " << before.describe()
					       << "\nafter:  " << Site::holdings().describe();
		const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
		note("%3d: %s, %.1f s", round, strikes[kind].name, took.count());
		ASSERT_FALSE(testing::Test::HasFailure()) << "in round " << round;
	}
	const Meminfo after;
	if (memory) {
		note("before: %s", memory->describe().c_str());
		note("after:  %s", after.describe().c_str());
		/* The regions alone of each round's programs are 4 MiB. */
		EXPECT_LT(memory->free - after.free, 16 << 10) << "KiB are lost";
		EXPECT_LT(after.slab - memory->slab, 6 << 10) << "KiB of slabs are lost";
		EXPECT_LT(after.vmalloc - memory->vmalloc, 1 << 10) << "KiB of rings are lost";
	}
	for (size_t kind = 0; kind < kinds; kind++)
		note("%4u %s", counts[kind], strikes[kind].name);
	note("%d rounds, %u programs, %u of them killed; transfers verified:", rounds, started_,
	     killed_);
	for (Means means : all_means) {
		note("%8llu %s", static_cast<unsigned long long>(transfers_[means]),
		     name_of(means));
		EXPECT_GT(transfers_[means], 0u) << name_of(means);
	}
}

TEST(Storm, leaves_nothing_but_a_device_that_works)
{
	if (!is_bellhop())
		GTEST_SKIP() << "it is bellhop's module that comes and goes";
	const char *given = std::getenv("BELLHOP_STORM_ROUNDS");
	Storm storm(seed());

	/* The library loads its drivers, which is slow: those that are forked need not. */
	ibv_free_device_list(ibv_get_device_list(nullptr));
	storm.run(given ? std::atoi(given) : 22);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
