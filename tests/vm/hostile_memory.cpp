// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_memory.cpp: regions whose memory is unmapped, moved, protected, dropped, cut or shared
// while requests use it, and regions over the device's own pages.
#include <mutex>
#include <sys/resource.h>
#include "letters.hpp"
#include "raw.hpp"
#include "seed.hpp"
#include "spot.hpp"
#include "victim.hpp"

using namespace vm;
using namespace vm::spot;

/* What the threads know of a region. They are not told when it has gone. */
struct Key {
	uint64_t place;
	uint32_t length, lkey, rkey;

	ibv_sge sge() const
	{
		return { place, length, lkey };
	}
};

class Attacker
{
public:
	explicit Attacker(uint32_t seed) : random_(seed)
	{
		for (size_t i = 0; i < keys_.size(); i++)
			replace(i);
	}

	/** Returns false when the kernel did what it must not. */
	bool attack(double seconds)
	{
		const Deadline end(seconds);
		std::vector<std::thread> threads;
		const uint32_t seed = random_();
		bool sound = is_status_refused();

		for (uint32_t i = 0; i < 3; i++)
			threads.emplace_back([&, i] { transfer(end, seed + i); });
		while (sound && !end.passed()) {
			const size_t i = random_() % spots_.size();

			switch (random_() % 4) {
			case 0:
				sound = replace(i);
				break;
			case 1:
				change(i);
				break;
			default:
				spots_[i]->disturb(random_);
			}
		}
		for (std::thread &thread : threads)
			thread.join();
		return sound;
	}

private:
	bool replace(size_t i)
	{
		const bool sound = !spots_[i] || spots_[i]->end(random_);

		switch (random_() % 8) {
		case 0:
			spots_[i] = std::make_unique<Spot>(pd_, rings_[random_() % rings_.size()]);
			break;
		case 1:
			spots_[i] = std::make_unique<Spot>(device_, pd_, random_);
			break;
		default:
			spots_[i] = std::make_unique<Spot>(pd_, random_);
		}
		if (!spots_[i]->mr)
			spots_[i] = std::make_unique<Spot>(pd_, random_);
		std::lock_guard guard(lock_);
		const Spot &spot = *spots_[i];
		keys_[i] = { spot.place, static_cast<uint32_t>(spot.length), spot.mr->lkey(),
			     spot.mr->rkey() };
		return sound;
	}

	/*
	 * The region becomes another part of its memory, or of nothing. What has come in the place
	 * of memory that is gone can be the threads' own rings, and must not be a region.
	 */
	void change(size_t i)
	{
		const Spot &spot = *spots_[i];
		const bool is_there = spot.has_its_memory();
		const size_t skip = (random_() % spot.length) & ~size_t(4095);
		const int flags = is_there ? 1 + random_() % 7 : int(IBV_REREG_MR_CHANGE_PD);
		const int access =
			flags & IBV_REREG_MR_CHANGE_ACCESS && random_() % 4 ? access_all : 0;

		if (!is_there)
			tally().count(changes_to_nothing,
				      !ibv_rereg_mr(spot.mr->get(), IBV_REREG_MR_CHANGE_TRANSLATION,
						    pd_.get(), nothing_, 8192, 0));
		tally().count(changes, !ibv_rereg_mr(spot.mr->get(), flags, pd_.get(),
						     reinterpret_cast<void *>(spot.place + skip),
						     spot.length - skip, access));
		std::lock_guard guard(lock_);
		/* Where the region was is named, too: it is the other's to refuse that. */
		keys_[i] = { spot.place + (random_() % 2 ? skip : 0),
			     static_cast<uint32_t>(spot.length - skip), spot.mr->lkey(),
			     spot.mr->rkey() };
	}

	/* Only the kernel writes the status page, and it does so for nobody. */
	bool is_status_refused()
	{
		for (const Mapping &mapping : find_mappings()) {
			if (mapping.writable)
				continue;
			ibv_mr *mr =
				ibv_reg_mr(pd_.get(), mapping.start, mapping.length, access_all);
			if (tally().count(status_page, mr))
				return false;
		}
		return tally().tried(status_page) > 0;
	}

	Key some_key(std::mt19937 &random)
	{
		std::lock_guard guard(lock_);

		return keys_[random() % keys_.size()];
	}

	/* Both ends of a transfer are some regions; a QP that has failed begins again. */
	void transfer(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		Cq cq(device_, 64);
		Qp qp(device_, pd_.get(), cq, cq);
		Letters letters(device_, pd_);

		/* Or whoever changes things would seldom have a turn. */
		setpriority(PRIO_PROCESS, 0, 10);
		qp.connect(qp.address());
		while (!end.passed()) {
			const Key from = some_key(random), to = some_key(random);
			const uint32_t length = std::min(from.length, to.length);
			std::optional<ibv_wc> wc;

			post(qp, { .opcode = random() % 2 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
				   .sges = { { from.place, length, from.lkey } },
				   .remote = to.place,
				   .rkey = to.rkey });
			wc = cq.wait();
			if (!wc)
				_exit(2);
			tally().count(wc->status == IBV_WC_SUCCESS	  ? transfers
				      : wc->status == IBV_WC_LOC_PROT_ERR ? local_refusals
									  : remote_refusals,
				      true);
			if (wc->status != IBV_WC_SUCCESS) {
				qp.modify(to_state(IBV_QPS_RESET));
				qp.connect(qp.address());
			}
			tally().count(
				letters.exchange(some_key(random).sge(), some_key(random).sge())
					? datagrams
					: lost_datagrams,
				true);
			/* Rings that are regions are written, and what is written is executed. */
			lseek(kick_, target_.qpn, SEEK_SET);
		}
	}

	std::mt19937 random_;
	Device device_;
	Pd pd_{ device_ };
	RawCq cq_{ device_ };
	RawQp target_{ device_, pd_, cq_ };
	/* Below what can be mapped: there is no memory, and none comes. */
	void *nothing_ = reinterpret_cast<void *>(4096);
	std::vector<Mapping> rings_ = writable_mappings();
	int kick_ = find_kicks().at(0);
	std::mutex lock_;
	std::array<Key, 8> keys_ = {}; /* under lock_ */
	std::array<std::unique_ptr<Spot>, 8> spots_;

	static std::vector<Mapping> writable_mappings()
	{
		std::vector<Mapping> found = find_mappings();

		std::erase_if(found, [](const Mapping &mapping) { return !mapping.writable; });
		return found;
	}
};

static int be_attacker(uint32_t seed)
{
	Attacker attacker(seed);
	const bool sound = attacker.attack(2);

	/* Half of them leave it all to the kernel. */
	if (seed % 2)
		_exit(sound ? harmless : 1);
	return sound ? harmless : 1;
}

TEST(HostileMemory, hurts_nobody_else)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the rings are bellhop's";
	std::mt19937 random(seed());
	tally();
	Victim victim;
	const Toll toll = besiege(attack_time(16), random, be_attacker);

	tally().print();
	EXPECT_EQ(toll.crashed + toll.killed, 0u) << "this attack does not harm its own program";
	for (size_t kind = 0; kind < kinds; kind++)
		EXPECT_GT(tally().tried(kind), 0u) << "kind " << kind;
	EXPECT_EQ(tally().done(changes_to_nothing), 0u);
	EXPECT_GT(tally().done(transfers), 0u);
	EXPECT_GT(tally().done(datagrams), 0u);
	victim.expect_unharmed();
}

TEST(HostileMemory, leaves_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
