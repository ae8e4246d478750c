// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_queues.cpp: queues that are reset, destroyed and unmapped while eight threads post to
// them and kick them.
#include <array>
#include <set>
#include <sys/resource.h>
#include "group.hpp"
#include "raw.hpp"
#include "seed.hpp"
#include "tally.hpp"
#include "victim.hpp"

using namespace vm;

enum Kind {
	posts,
	kicks,
	stale_kicks,
	changes,
	cycles,
	destructions,
	refused,
	unmapped,
	dead,
	resizes,
	aims,
	joins,
	leaves,
	succeeded,
	delivered,
	crossed,
	flushed,
	failed,
	kinds
};

static Tally<kinds> &tally()
{
	static Tally<kinds> tally(
		{ "posts", "kicks", "kicks of a QP that is gone", "changes to any state",
		  "ways to RTS", "QPs destroyed and made", "CQs and PDs in use refused to go",
		  "QPs used without the library's mappings", "QPs destroyed that cannot be kicked",
		  "CQs resized", "datagrams sent where another QP was", "QPs attached to a group",
		  "QPs detached", "completions with success", "datagrams received",
		  "datagrams received from another QP", "completions flushed",
		  "completions with another error" });
	return tally;
}

class Attacker
{
public:
	explicit Attacker(uint32_t seed) : random_(seed)
	{
		kick_ = find_kicks().at(0);
		fill(region_.memory.bytes(), seed);
		for (std::atomic<RawQp *> &place : places_)
			create(place);
	}

	/** Returns false when the kernel did what it must not. */
	bool attack(double seconds)
	{
		const Deadline end(seconds);
		std::vector<std::thread> threads;
		const uint32_t seed = random_();

		for (uint32_t i = 0; i < 8; i++)
			threads.emplace_back([&, i] { post(end, seed + i); });
		threads.emplace_back([&] {
			while (!end.passed())
				drain();
		});
		while (!end.passed())
			change();
		for (std::thread &thread : threads)
			thread.join();
		drain();
		return sound_;
	}

private:
	static constexpr Path path = { .timeout = 8, .retry_cnt = 1, .rnr_retry = 1 };
	/* At the others are UD QPs. */
	static constexpr size_t places = 7, connected_places = 4;

	void create(std::atomic<RawQp *> &place)
	{
		const size_t i = &place - places_.data();

		qps_.push_back(std::make_unique<RawQp>(device_, pd_, cq_,
						       i >= connected_places ? IBV_QPT_UD
						       : i % 2		     ? IBV_QPT_UC
									     : IBV_QPT_RC));
		RawQp &qp = *qps_.back();

		qp.fill(region_, random_);
		cycle(qp);
		place = &qp;
	}

	void cycle(RawQp &qp)
	{
		qp.open = tally().count(cycles, !qp.cycle(path));
	}

	/* Which QP a number in hand belongs to changes at any moment: that is the attack. */
	void post(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);

		/* Or whoever changes things would seldom have a turn. */
		setpriority(PRIO_PROCESS, 0, 10);
		while (!end.passed()) {
			RawQp &qp = *places_[random() % places_.size()].load();

			if (qp.sends_datagrams && random() % 4 == 0)
				aim(qp, random);
			if (qp.open) {
				if (random() % 4 == 0)
					qp.recv->index().fetch_add(1, std::memory_order_release);
				qp.send->index().fetch_add(1 + random() % 3,
							   std::memory_order_release);
				tally().count(posts, true);
			}
			tally().count(kicks, !lseek(kick_, qp.qpn, SEEK_SET));
			if (random() % 16 == 0)
				tally().count(stale_kicks,
					      !lseek(kick_, qp.qpn - random() % 64, SEEK_SET));
		}
	}

	/* One of its datagrams goes to another QP, or to where that was, or to the group. */
	void aim(const RawQp &qp, std::mt19937 &random)
	{
		const size_t place = connected_places + random() % (places - connected_places);
		const uint32_t slot = random();

		if (slot % 4)
			qp.aim(slot, places_[place].load()->qpn);
		else
			qp.aim(slot, group_qpn, group_);
		tally().count(aims, true);
	}

	void drain()
	{
		cq_.drain([](const bellhop_cqe &cqe) {
			tally().count(cqe.status == BELLHOP_WC_SUCCESS	      ? succeeded
				      : cqe.status == BELLHOP_WC_WR_FLUSH_ERR ? flushed
									      : failed,
				      true);
			if (cqe.status != BELLHOP_WC_SUCCESS || !(cqe.wc_flags & BELLHOP_WC_GRH))
				return;
			tally().count(delivered, true);
			if (cqe.src_qp != cqe.qpn)
				tally().count(crossed, true);
		});
		usleep(200);
	}

	/* Its number is nobody's from then on, whatever others kick at this moment. */
	void destroy(RawQp &qp, Kind kind)
	{
		if (members_.erase(&qp))
			tally().count(leaves, !ibv_detach_mcast(qp.qp->get(), &group_, 0));
		tally().count(kind, !qp.qp->destroy());
		sound_ &=
			tally().count(dead, lseek(kick_, qp.qpn, SEEK_SET) < 0 && errno == ENOENT);
	}

	void change()
	{
		std::atomic<RawQp *> &place = places_[random_() % places_.size()];
		RawQp &qp = *place.load();

		switch (random_() % 16) {
		case 0:
		case 1:
		case 2:
			qp.open = false;
			tally().count(changes, !qp.qp->modify(to_state(
						       ibv_qp_state(random_() % IBV_QPS_UNKNOWN))));
			break;
		case 3:
		case 4:
		case 5:
			/* While its rings are written and kicked, also through the mapping that
			 * stays. */
			qp.open = random_() % 2;
			destroy(qp, destructions);
			create(place);
			break;
		case 6:
			sound_ &= tally().count(refused, ibv_destroy_cq(cq_.cq->get()) == EBUSY);
			sound_ &= tally().count(refused, ibv_dealloc_pd(pd_.get()) == EBUSY);
			break;
		case 7:
			unmap(qp);
			break;
		case 8:
			tally().count(resizes, !cq_.resize(int(RawCq::slots) << random_() % 2));
			break;
		case 9:
		case 10:
			if (qp.sends_datagrams)
				join_or_leave(qp);
			break;
		default:
			cycle(qp);
			usleep(random_() % 2000);
		}
	}

	/* The group that all attackers send to. */
	void join_or_leave(RawQp &qp)
	{
		if (members_.erase(&qp)) {
			sound_ &=
				tally().count(leaves, !ibv_detach_mcast(qp.qp->get(), &group_, 0));
		} else if (tally().count(joins, !ibv_attach_mcast(qp.qp->get(), &group_, 0))) {
			members_.insert(&qp);
		}
	}

	/* The kernel does not need what a process has mapped. Then the QP goes, since the library
	 * needs it to reset. */
	void unmap(RawQp &qp)
	{
		std::atomic<RawQp *> &place = *std::find(places_.begin(), places_.end(), &qp);

		cycle(qp);
		qp.unmap_library();
		usleep(random_() % 2000);
		destroy(qp, unmapped);
		create(place);
	}

	std::mt19937 random_;
	Device device_;
	Pd pd_{ device_ };
	Region region_{ pd_, 128 << 10 };
	RawCq cq_{ device_ };
	std::vector<std::unique_ptr<RawQp>> qps_; /* those that were destroyed, too */
	std::array<std::atomic<RawQp *>, places> places_ = {};
	const ibv_gid group_ = group_gid(1);
	std::set<const RawQp *> members_;
	int kick_;
	bool sound_ = true;
};

static int be_attacker(uint32_t seed)
{
	Attacker attacker(seed);

	if (!attacker.attack(2))
		return 1;
	/* Half of them leave it all to the kernel. */
	if (seed % 2)
		_exit(harmless);
	return harmless;
}

TEST(HostileQueues, hurt_nobody_else)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the rings are bellhop's";
	std::mt19937 random(seed());
	tally();
	Victim victim;
	/* Somebody looks at all objects while they come and go. */
	Child onlooker([] {
		for (;;)
			for (const char *what : { "qp", "cq", "mr", "pd" })
				if (std::system((std::string("rdma -dd resource show ") + what +
						 " >/dev/null")
							.c_str()))
					return 1;
		return 0;
	});
	const Toll toll = besiege(attack_time(16), random, be_attacker);

	tally().print();
	EXPECT_FALSE(onlooker.wait(0)) << "rdma resource show fails";
	EXPECT_EQ(toll.crashed + toll.killed, 0u) << "this attack does not harm its own program";
	EXPECT_GT(tally().done(succeeded), 0u) << "the queues did nothing";
	EXPECT_GT(tally().done(crossed), 0u) << "no datagram got from one QP to another";
	EXPECT_GT(tally().done(destructions), 0u);
	EXPECT_GT(tally().done(unmapped), 0u);
	EXPECT_GT(tally().done(resizes), 0u);
	EXPECT_GT(tally().done(joins), 0u);
	EXPECT_GT(tally().done(leaves), 0u);
	victim.expect_unharmed();
}

/* All requests of a QP, whose rings nobody has mapped, which complete visibly. */
static void expect_works_without_mappings(ibv_qp_type type)
{
	std::mt19937 random(seed());
	Device device;
	Pd pd(device);
	RawCq cq(device);
	RawQp qp(device, pd, cq, type);
	Region region(pd, 128 << 10);
	uint32_t completions = 0;

	qp.fill(region, random);
	ASSERT_EQ(qp.cycle({}), 0);
	qp.recv->index() = RawQp::recv_slots;
	qp.send->index() = RawQp::send_slots;
	qp.unmap_library();
	qp.send.reset();
	qp.recv.reset();
	const Deadline deadline(patience);
	while (completions < RawQp::send_slots / 8 && !deadline.passed()) {
		EXPECT_EQ(lseek(find_kicks().at(0), qp.qpn, SEEK_SET), 0);
		cq.drain([&](const bellhop_cqe &cqe) {
			EXPECT_EQ(cqe.status, BELLHOP_WC_SUCCESS);
			completions += !(cqe.opcode & BELLHOP_WC_RECV);
		});
	}
	EXPECT_GE(completions, RawQp::send_slots / 8);
	EXPECT_EQ(qp.qp->destroy(), 0);
}

/* What the kernel does with a ring does not depend on anybody's mapping of it. */
TEST(HostileQueues, work_without_mappings)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the rings are bellhop's";
	for (ibv_qp_type type : { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD })
		expect_works_without_mappings(type);
}

TEST(HostileQueues, leave_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
