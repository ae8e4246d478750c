// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_xrc.cpp: initiators whose rings are nonsense, shared receive queues and targets that come
// and go under them, in a domain that attackers share: nobody else is hurt.
#include <array>
#include <memory>
#include <sys/resource.h>
#include "scribble.hpp"
#include "seed.hpp"
#include "victim.hpp"
#include "xrc.hpp"

using namespace vm;

namespace
{

class Attacker
{
public:
	explicit Attacker(uint32_t seed) : random_(seed)
	{
		for (size_t i = 0; i < lines; i++)
			create_line();
		for (size_t i = 0; i < lasting; i++)
			create_srq();
		for (std::unique_ptr<Srq> &srq : passing_)
			renew(srq);
		/* What comes next has one of the numbers behind these. */
		for (uint32_t i = 0; i < 32; i++)
			sense_.srqns.push_back(passing_.back()->number() + i);
		for (size_t i = 0; i < lines; i++)
			start(i, i);
		fill(region_.memory.bytes(), 1);
		kick_ = find_kicks().at(0);
	}

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
		while (!end.passed()) {
			change();
			while (std::optional<ibv_wc> wc = cq_.poll())
				received_ |=
					wc->status == IBV_WC_SUCCESS && (wc->opcode & IBV_WC_RECV);
		}
		for (std::thread &thread : threads)
			thread.join();
	}

	/** Whether some of the nonsense was sense enough to move bytes. */
	bool has_moved() const
	{
		return !is_filled(region_.memory.bytes(), 1);
	}

	/** Whether some of it took a receive. */
	bool has_received() const
	{
		return received_;
	}

private:
	static constexpr Path path = { .timeout = 8, .retry_cnt = 1, .rnr_retry = 1 };
	static constexpr size_t lines = 4, lasting = 2;

	/* An initiator whose ring is scribbled on, and a target. */
	void create_line()
	{
		const std::vector<Mapping> maps = new_mappings([&] {
			initiators_.push_back(std::make_unique<Qp>(
				device_, pd_.get(), cq_, cq_,
				QpShape{ .cap = { 64, 0, 4, 0, 64 }, .type = IBV_QPT_XRC_SEND }));
		});

		require(maps.size() == 1, "an initiator has one ring");
		rings_.push_back({ maps[0], ScribbledRing::requests, 128 });
		targets_.push_back(std::make_unique<Qp>(device_, xrcd_.get()));
	}

	void create_srq()
	{
		const std::vector<Mapping> maps = new_mappings(
			[&] { srqs_.push_back(std::make_unique<Srq>(pd_, xrcd_.get(), cq_)); });

		require(maps.size() == 1, "an SRQ has one ring");
		rings_.push_back({ maps[0], ScribbledRing::receives, 64 });
		for (int i = 0; i < 16; i++)
			sense_.srqns.push_back(srqs_.back()->number());
	}

	/* One more, with receives in it, in the domain or not, with a CQ that overruns or not. */
	void renew(std::unique_ptr<Srq> &srq)
	{
		srq.reset();
		srq = std::make_unique<Srq>(pd_, (random_() % 4 ? xrcd_ : own_).get(),
					    random_() % 8 ? cq_ : small_cq_);
		for (int i = 0; i < 64; i++)
			srq->post({ mail_.sge(0, 4096) }, 0);
	}

	/* Results do not matter: an attack may have ended the QP meanwhile. */
	void start(size_t i, size_t target)
	{
		const Qp &from = *initiators_[i], &to = *targets_[target];

		to.modify(to_state(IBV_QPS_RESET));
		from.modify(to_state(IBV_QPS_RESET));
		to.modify(to_init());
		to.modify(to_rtr(from.address(), path));
		from.modify(to_init());
		from.modify(to_rtr(to.address(), path));
		from.modify(to_rts(path));
	}

	/* Also the targets, which have nothing to be kicked for. */
	void kick(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		std::vector<uint32_t> numbers;

		for (const auto &qp : initiators_)
			numbers.push_back(qp->get()->qp_num);
		while (!end.passed())
			lseek(kick_,
			      numbers[random() % lines] + (random() % 16 ? 0 : random() % 16),
			      SEEK_SET);
	}

	void change()
	{
		const size_t i = random_() % lines;

		switch (random_() % 8) {
		case 0:
		case 1:
			renew(passing_[random_() % passing_.size()]);
			break;
		case 2:
			targets_[i] = std::make_unique<Qp>(device_, xrcd_.get());
			start(i, i);
			break;
		case 3: {
			const Qp again(device_, xrcd_.get(), targets_[i]->get()->qp_num);

			again.modify(to_state(ibv_qp_state(random_() % 8)));
			if (random_() % 2)
				targets_[i] = std::make_unique<Qp>(device_, xrcd_.get());
			break;
		}
		case 4:
			Xrcd(device_, null_, O_CREAT);
			break;
		case 5:
			srqs_[random_() % lasting]->set_limit(random_() % 64);
			break;
		default:
			start(i, random_() % 4 ? i : random_() % lines);
			usleep(random_() % 3000);
		}
	}

	std::mt19937 random_;
	Device device_;
	/* All attackers' domain, some of whom are killed while they use it. */
	const int null_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
	Xrcd xrcd_{ device_, null_ }, own_{ device_ };
	Pd pd_{ device_ };
	Region region_{ pd_, 64 << 10 }, mail_{ pd_, 64 << 10 };
	Cq cq_{ device_, 1 << 16 }, small_cq_{ device_, 16 };
	Sense sense_{ .sge = region_.sge(0, 4096),
		      .rkey = region_.mr.rkey(),
		      .receive = mail_.sge(0, 8192),
		      .gid = device_.gid(),
		      .qpns = { 0 },
		      .qkeys = { 0 } };
	std::vector<std::unique_ptr<Qp>> initiators_, targets_;
	std::vector<std::unique_ptr<Srq>> srqs_;
	std::array<std::unique_ptr<Srq>, 2> passing_;
	std::vector<ScribbledRing> rings_;
	int kick_ = -1;
	bool received_ = false;
};

constexpr int moved = 1, received = 2;

/* Half of them leave it all to the kernel, with everything open. */
int be_attacker(uint32_t seed)
{
	Attacker attacker(seed);

	attacker.attack(2);
	const int ending = harmless + (attacker.has_moved() ? moved : 0) +
			   (attacker.has_received() ? received : 0);
	if (seed % 2)
		_exit(ending);
	return ending;
}

TEST(HostileXrc, hurts_nobody_else)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the rings are bellhop's";
	std::mt19937 random(seed());
	Victim victim;
	const Toll toll = besiege(attack_time(16), random, be_attacker);
	const uint32_t movers = toll.with(moved), receivers = toll.with(received);

	note("%u moved bytes, and %u took a receive", movers, receivers);
	EXPECT_GT(movers, 0u) << "no attack got as far as to move a byte";
	EXPECT_GT(receivers, 0u) << "no attack got as far as to take a receive";
	victim.expect_unharmed();
}

TEST(HostileXrc, leaves_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

} // namespace

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
