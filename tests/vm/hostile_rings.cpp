// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_rings.cpp: a process that fills its rings with random bytes hurts nobody but itself.
#include <memory>
#include <sys/ioctl.h>
#include "scribble.hpp"
#include "window.hpp"
#include "seed.hpp"
#include "srq.hpp"
#include "victim.hpp"

using namespace vm;

/* Own objects of all kinds: QPs that are connected in pairs and to themselves, reliably and not,
 * and UD QPs. */
class Attacker
{
public:
	Attacker(const Prey &prey, uint32_t seed) : random_(seed)
	{
		for (int entries : { sound_entries, 1, 4, 16, 64, 256, 1024 })
			create_cq(entries);
		create_srq();
		for (size_t i = 0; i < std::size(types); i++)
			create_ringed_qp(types[i], i >= first_shared && i < connected ? srq_->get()
										      : nullptr);
		for (size_t i = 0; i < qps_.size(); i++)
			start(i, *qps_[i < 4 ? i ^ 1 : i]);
		fill(region_.memory.bytes(), 1);
		kicks_ = find_kicks();
		require(!kicks_.empty(), "the kick files are not to be found");
		for (const auto &qp : qps_)
			numbers_.push_back(qp->get()->qp_num);
		choose_targets(prey);
	}

	/** All that it can do, for some seconds. */
	void attack(double seconds)
	{
		const Deadline end(seconds);
		std::vector<std::thread> threads;
		const uint32_t seed = random_();

		for (uint32_t i = 0; i < 2; i++)
			threads.emplace_back([&, i] {
				Scribbler(rings_, sense_, seed + i).scribble_until(end);
			});
		for (uint32_t i = 0; i < 3; i++)
			threads.emplace_back([&, i] { kick(end, seed + 10 + i); });
		threads.emplace_back([&] { map(end, seed + 20); });
		while (!end.passed()) {
			change();
			poll();
		}
		for (std::thread &thread : threads)
			thread.join();
	}

	/** Whether some of the nonsense was sense enough to move bytes. */
	bool has_moved() const
	{
		return !is_filled(region_.memory.bytes(), 1);
	}

	/** Whether some of it came in a datagram. */
	bool has_delivered() const
	{
		return delivered_;
	}

private:
	/*
	 * An overrun is the end of a CQ and its QPs. The ring of the first CQ is left alone and is
	 * polled, so that there are always QPs that can be attacked otherwise.
	 */
	static constexpr int sound_entries = 1 << 16;
	static constexpr Path path = { .timeout = 8, .retry_cnt = 1, .rnr_retry = 1 };
	static constexpr size_t connected = 6;
	/* From here on the connected ones receive from the SRQ. */
	static constexpr size_t first_shared = 3;
	static constexpr ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC,
						 IBV_QPT_UC, IBV_QPT_RC, IBV_QPT_UC,
						 IBV_QPT_UD, IBV_QPT_UD, IBV_QPT_UD };
	/* Those of the UD QPs, which come after the connected ones. The last is for root only. */
	static constexpr uint32_t qkeys[] = { 0x11111111, 0x11111111, gsi_qkey };

	const Cq &some_cq(unsigned soundness)
	{
		return random_() % soundness ? *cqs_[0] : *cqs_[random_() % cqs_.size()];
	}

	std::unique_ptr<Qp> create_qp(ibv_qp_type type, ibv_srq *srq)
	{
		const uint32_t wr = 1 << (random_() % 4 ? 6 : random_() % 8),
			       sge = 1 + random_() % 4;
		/* A datagram needs two QPs that live. */
		const unsigned soundness = type == IBV_QPT_UD ? 8 : 2;
		const Cq &send_cq = some_cq(soundness), &recv_cq = some_cq(soundness);

		return std::make_unique<Qp>(
			device_, pd_.get(), send_cq, recv_cq,
			QpShape{ .cap = { wr, wr, sge, sge, 64 }, .type = type, .srq = srq });
	}

	void create_cq(int entries)
	{
		const std::vector<Mapping> maps = new_mappings(
			[&] { cqs_.push_back(std::make_unique<Cq>(device_, entries)); });

		require(maps.size() == 1, "a CQ has one ring");
		if (entries != sound_entries)
			rings_.push_back(
				{ maps[0], ScribbledRing::completions, sizeof(bellhop_cqe) });
	}

	void create_srq()
	{
		const std::vector<Mapping> maps =
			new_mappings([&] { srq_ = std::make_unique<Srq>(pd_); });

		require(maps.size() == 1, "an SRQ has one ring");
		rings_.push_back({ maps[0], ScribbledRing::receives, 64 });
	}

	void create_ringed_qp(ibv_qp_type type, ibv_srq *srq)
	{
		const std::vector<Mapping> maps =
			new_mappings([&] { qps_.push_back(create_qp(type, srq)); });
		const uint32_t room = 16 + 16 * qps_.back()->cap().max_recv_sge;

		require(maps.size() == (srq ? 1 : 2), "a QP has a ring for each of its queues");
		rings_.push_back(
			{ maps[0],
			  type == IBV_QPT_UD ? ScribbledRing::datagrams : ScribbledRing::requests,
			  128 });
		if (!srq)
			rings_.push_back(
				{ maps[1], ScribbledRing::receives, (room + 31) / 32 * 32 });
	}

	/* Mostly those that take what comes; but also any other, and the kernel's. */
	void choose_targets(const Prey &prey)
	{
		std::vector<uint32_t> &qpns = sense_.qpns;

		qpns = numbers_;
		for (int i = 0; i < 4; i++)
			qpns.insert(qpns.end(), numbers_.begin() + connected, numbers_.end());
		for (int i = 0; i < 2; i++)
			qpns.insert(qpns.end(), { prey.qpns[i], prey.datagram_qpns[i] });
		qpns.insert(qpns.end(), { 0, gsi_qpn, gsi_qpn });
	}

	/* RESET to RTS. A QP that an attack has ended meanwhile stays as it is. */
	void start(size_t i, const Qp &peer)
	{
		const Qp &qp = *qps_[i];

		if (i >= connected) {
			qp.open(qkeys[i - connected]);
			return;
		}
		qp.modify(to_init());
		qp.modify(to_rtr(peer.address(), path));
		qp.modify(to_rts(path));
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
			const Mapping &ring = rings_[random() % rings_.size()].mapping;
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
		const size_t i = random_() % qps_.size();
		const Qp &qp = *qps_[i];
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
			start(i, peer);
			usleep(random_() % 3000);
		}
	}

	void poll()
	{
		while (std::optional<ibv_wc> wc = cqs_[0]->poll())
			delivered_ |= wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV &&
				      (wc->wc_flags & IBV_WC_GRH);
	}

	/* One more QP, for a moment. It reuses numbers, and its rings are those that were freed. */
	void churn()
	{
		std::unique_ptr<Qp> qp = create_qp(types[random_() % std::size(types)],
						   random_() % 2 ? srq_->get() : nullptr);

		if (qp->get()->qp_type == IBV_QPT_UD)
			qp->open(qkeys[0]);
		qp->modify(to_init());
		qp->modify(to_rtr(qps_[0]->address(), path));
		qp->modify(to_rts(path));
		lseek(kicks_[0], qp->get()->qp_num, SEEK_SET);
	}

	std::mt19937 random_;
	Device device_;
	Pd pd_{ device_ };
	Region region_{ pd_, 64 << 10, access_all | IBV_ACCESS_MW_BIND }, mail_{ pd_, 64 << 10 };
	Window windows_[4] = { { pd_, IBV_MW_TYPE_1 },
			       { pd_, IBV_MW_TYPE_1 },
			       { pd_, IBV_MW_TYPE_2 },
			       { pd_, IBV_MW_TYPE_2 } };
	Sense sense_{ .sge = region_.sge(0, 4096),
		      .rkey = region_.mr.rkey(),
		      .receive = mail_.sge(0, 8192),
		      .gid = device_.gid(),
		      .qpns = {},
		      .qkeys = { qkeys[0], qkeys[0], qkeys[0], gsi_qkey, 0x80000000 },
		      .windows = { windows_[0].rkey(), windows_[1].rkey(), windows_[2].rkey(),
				   windows_[3].rkey() } };
	std::vector<std::unique_ptr<Cq>> cqs_;
	std::unique_ptr<Srq> srq_;
	std::vector<std::unique_ptr<Qp>> qps_;
	std::vector<ScribbledRing> rings_;
	std::vector<int> kicks_;
	std::vector<uint32_t> numbers_;
	bool delivered_ = false;
};

static constexpr int moved = 1, delivered = 2;

/* An attacker's life. It ends in order, with everything open, or by what its library makes of the
 * rings. */
static int be_attacker(const Prey &prey, uint32_t seed)
{
	Attacker attacker(prey, seed);

	attacker.attack(2);
	const int ending = harmless + (attacker.has_moved() ? moved : 0) +
			   (attacker.has_delivered() ? delivered : 0);
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
	const Prey prey = victim.prey();
	const Toll toll = besiege(attack_time(30), random,
				  [&](uint32_t seed) { return be_attacker(prey, seed); });
	const uint32_t movers = toll.with(moved), senders = toll.with(delivered);

	note("%u moved bytes, and %u a datagram", movers, senders);
	EXPECT_GT(movers, 0u) << "no attack got as far as to move a byte";
	EXPECT_GT(senders, 0u) << "no attack got as far as to deliver a datagram";
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
