// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_rings.cpp: a process that fills its rings with random bytes hurts nobody but itself.
#include <memory>
#include <sys/ioctl.h>
#include "scribble.hpp"
#include "seed.hpp"
#include "victim.hpp"

using namespace vm;

/* Own objects of all kinds, connected in pairs and to themselves. */
class Attacker
{
public:
	explicit Attacker(uint32_t seed) : random_(seed)
	{
		for (int entries : { sound_entries, 1, 4, 16, 64, 256, 1024 })
			cqs_.push_back(std::make_unique<Cq>(device_, entries));
		for (int i = 0; i < 6; i++)
			qps_.push_back(create_qp());
		for (size_t i = 0; i < qps_.size(); i++)
			qps_[i]->connect(qps_[i < 4 ? i ^ 1 : i]->address(), path);
		fill(region_.memory.bytes(), 1);
		for (const Mapping &mapping : find_mappings())
			if (mapping.writable &&
			    mapping.length < sound_entries * sizeof(bellhop_cqe))
				rings_.push_back(mapping);
		kicks_ = find_kicks();
		require(rings_.size() == cqs_.size() - 1 + 2 * qps_.size(),
			"the rings are not to be found");
		require(!kicks_.empty(), "the kick files are not to be found");
		for (const auto &qp : qps_)
			numbers_.push_back(qp->get()->qp_num);
	}

	/** All that it can do, for some seconds. */
	void attack(double seconds)
	{
		const Deadline end(seconds);
		std::vector<std::thread> threads;
		const uint32_t seed = random_();

		for (uint32_t i = 0; i < 2; i++)
			threads.emplace_back([&, i] { scribble(end, seed + i); });
		for (uint32_t i = 0; i < 3; i++)
			threads.emplace_back([&, i] { kick(end, seed + 10 + i); });
		threads.emplace_back([&] { map(end, seed + 20); });
		while (!end.passed())
			change();
		for (std::thread &thread : threads)
			thread.join();
	}

	/** Whether some of the nonsense was sense enough to move bytes. */
	bool has_moved() const
	{
		std::vector<uint8_t> before(region_.memory.size());

		fill(before, 1);
		return std::memcmp(before.data(), region_.memory.data(), before.size());
	}

private:
	/*
	 * An overrun is the end of a CQ and its QPs. The ring of the first CQ is large and is left
	 * alone, so that there are always QPs that can be attacked otherwise.
	 */
	static constexpr int sound_entries = 1 << 16;
	static constexpr Path path = { .timeout = 8, .retry_cnt = 1, .rnr_retry = 1 };

	const Cq &some_cq()
	{
		return random_() % 2 ? *cqs_[0] : *cqs_[random_() % cqs_.size()];
	}

	std::unique_ptr<Qp> create_qp()
	{
		const uint32_t wr = 1 << (random_() % 4 ? 6 : random_() % 8),
			       sge = 1 + random_() % 4;
		const Cq &send_cq = some_cq(), &recv_cq = some_cq();

		return std::make_unique<Qp>(device_, pd_.get(), send_cq, recv_cq,
					    QpShape{ .cap = { wr, wr, sge, sge, 64 } });
	}

	void scribble(const Deadline &end, uint32_t seed)
	{
		Scribbler scribbler(rings_, region_.sge(0, 4096), region_.mr.rkey(), seed);

		while (!end.passed())
			for (int i = 0; i < 50; i++)
				scribbler.scribble();
	}

	/* Results do not matter: only that these calls come back. */
	void kick(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);

		while (!end.passed()) {
			const int file = kicks_[random() % kicks_.size()];

			if (random() % 16)
				lseek(file, numbers_[random() % numbers_.size()], SEEK_SET);
			else if (random() % 2)
				lseek(file,
				      random() % 2 ? random() % 0x20000 : off_t(random()) << 40,
				      random() % 4 ? SEEK_SET : int(random() % 8));
			else
				ioctl(file, random(), random());
		}
	}

	/* Mappings that nobody made like that: other offsets, lengths, rights; moved, cut, grown.
	 */
	void map(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		const int file = device_.get()->cmd_fd;

		while (!end.passed()) {
			const Mapping &ring = rings_[random() % rings_.size()];
			const size_t length = random() % 4 ? ring.length : random() % (1 << 20) + 1;
			const off_t offset = random() % 4 ? ring.offset
							  : off_t(random()) << (12 + random() % 20);
			const int rights =
				random() % 2 ? PROT_READ | PROT_WRITE : int(random() % 8);
			void *start = mmap(nullptr, length, rights,
					   random() % 8 ? MAP_SHARED : MAP_PRIVATE, file, offset);

			usleep(200);
			if (start == MAP_FAILED)
				continue;
			size_t mapped = length;
			if (random() % 2) {
				const size_t other = random() % (2 * length) + 1;
				void *moved = mremap(start, length, other, MREMAP_MAYMOVE);

				if (moved != MAP_FAILED) {
					start = moved;
					mapped = other;
				}
			}
			mprotect(start, mapped, random() % 8);
			if (random() % 4 == 0)
				madvise(start, mapped, MADV_DONTNEED);
			munmap(start, mapped);
		}
	}

	/* The ordinary calls, in no order. */
	void change()
	{
		Qp &qp = *qps_[random_() % qps_.size()];
		/* Who talks to itself is always answered. */
		const Qp &peer = random_() % 4 ? qp : *qps_[random_() % qps_.size()];

		switch (random_() % 8) {
		case 0:
			qp.modify(to_state(ibv_qp_state(random_() % 8)));
			break;
		case 1:
			churn();
			break;
		case 2:
			Mr(pd_, region_.memory.data(), 4096);
			break;
		default:
			/* An attack on a QP in error is none. */
			qp.modify(to_state(IBV_QPS_RESET));
			qp.modify(to_init());
			qp.modify(to_rtr(peer.address(), path));
			qp.modify(to_rts(path));
			usleep(random_() % 3000);
		}
	}

	/* One more QP, for a moment. It reuses numbers, and its rings are those that were freed. */
	void churn()
	{
		std::unique_ptr<Qp> qp = create_qp();

		qp->modify(to_init());
		qp->modify(to_rtr(qps_[0]->address(), path));
		qp->modify(to_rts(path));
		lseek(kicks_[0], qp->get()->qp_num, SEEK_SET);
	}

	std::mt19937 random_;
	Device device_;
	Pd pd_{ device_ };
	Region region_{ pd_, 64 << 10 };
	std::vector<std::unique_ptr<Cq>> cqs_;
	std::vector<std::unique_ptr<Qp>> qps_;
	std::vector<Mapping> rings_;
	std::vector<int> kicks_;
	std::vector<uint32_t> numbers_;
};

static constexpr int moved = harmless + 1;

/* An attacker's life. It ends in order, with everything open, or by what its library makes of the
 * rings. */
static int be_attacker(uint32_t seed)
{
	Attacker attacker(seed);

	attacker.attack(2);
	const int ending = attacker.has_moved() ? moved : harmless;
	if (seed % 2)
		_exit(ending);
	return ending;
}

TEST(HostileRings, hurt_nobody_else)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the rings are bellhop's";
	std::mt19937 random(seed());
	Victim victim;
	Toll toll = besiege(attack_time(30), random, be_attacker);

	note("%u moved bytes, %u did not", toll.endings[moved], toll.endings[harmless]);
	EXPECT_GT(toll.endings[moved], 0u) << "no attack got as far as to move a byte";
	victim.expect_unharmed();
}

/* And afterwards all is as before. */
TEST(HostileRings, leave_a_device_that_works)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the rings are bellhop's";
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
