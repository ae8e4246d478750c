// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// victim.hpp: a process next door whose traffic must stay right, and the attackers that come one
// after another.
#ifndef BELLHOP_VM_VICTIM_HPP
#define BELLHOP_VM_VICTIM_HPP

#include <map>
#include "child.hpp"
#include "datagram.hpp"
#include "holdings.hpp"
#include "line.hpp"
#include "threads.hpp"
#include "transfer.hpp"

namespace vm
{

/** What an attacker may know of a victim: more than it ever could. */
struct Prey {
	static constexpr uint32_t length = 64 << 10;

	uint32_t qpns[2];
	uint64_t starts[2];
	uint32_t lkeys[2];
	uint32_t rkeys[2];
	uint32_t datagram_qpns[2]; /* but not the keys that these QPs want */
};

/** Has a victim stop within @seconds, and expects that nothing happened to it. */
inline void expect_unharmed(const Line &line, Child &child, double seconds)
{
	EXPECT_TRUE(line.tell(uint8_t(0))) << "the victim has gone early";
	std::optional<int> status = child.wait(seconds);
	ASSERT_TRUE(status) << "the victim hangs";
	ASSERT_TRUE(WIFEXITED(*status)) << "the victim was ended by signal " << WTERMSIG(*status);
	EXPECT_EQ(WEXITSTATUS(*status), 0) << "the victim's traffic was disturbed";
}

/** What it sends, writes and reads must arrive, however long it takes; datagrams, too. */
class Victim
{
public:
	/** To be made while this process has nothing of verbs open. */
	Victim()
	{
		/* The library loads its drivers, which is slow: those that are forked need not. */
		ibv_free_device_list(ibv_get_device_list(nullptr));
		line_.take(0);
		prey_ = line_.hear<Prey>();
		require(prey_.has_value(), "the victim does not begin");
	}

	const Prey &prey() const
	{
		return *prey_;
	}

	void kill() const
	{
		child_.kill();
	}

	/** Has it stop, and expects that nothing happened to it. */
	void expect_unharmed()
	{
		vm::expect_unharmed(line_, child_, 2 * patience);
	}

private:
	static int live(const Line &line)
	{
		TransferRig rig(Prey::length, { .cap = { 16, 16, 8, 8, 64 } });
		std::random_device unknown;
		std::mt19937 random(1), secret(unknown());
		DatagramRig datagrams(secret);
		uint32_t rounds = 0;

		line.tell(Prey{ { rig.pair.a.qp.get()->qp_num, rig.pair.b.qp.get()->qp_num },
				{ rig.a.address(), rig.b.address() },
				{ rig.a.mr.lkey(), rig.b.mr.lkey() },
				{ rig.a.mr.rkey(), rig.b.mr.rkey() },
				{ datagrams.a.qp.get()->qp_num, datagrams.b.qp.get()->qp_num } });
		/* Every transfer looks at every byte of both regions, not only at its own. */
		while (!line.has_news() && !testing::Test::HasFailure()) {
			const uint32_t length = random() % (60 << 10);

			rig.run({ .opcode = all_opcodes[rounds % std::size(all_opcodes)],
				  .local = { { random() % 4096, length } },
				  .remote = { { random() % 4096, length } } });
			datagrams.run();
			rounds++;
		}
		/* Nobody has disturbed it: no request failed, so there is nothing to be told. */
		expect_no_event(rig.pair.a.device);
		expect_no_event(rig.pair.b.device);
		expect_no_event(datagrams.a.device);
		expect_no_event(datagrams.b.device);
		expect_none(datagrams.b.recv_cq);
		note("the victim made %u transfers, and sent as many datagrams", rounds);
		require(rounds > 0, "the victim made no transfer");
		return testing::Test::HasFailure();
	}

	Line line_;
	Child child_{ [this] {
		line_.take(1);
		return live(line_);
	} };
	std::optional<Prey> prey_;
};

/** How long the attacks of a program last together; @seconds unless BELLHOP_HOSTILE_SECONDS says.
 */
inline double attack_time(double seconds)
{
	const char *given = std::getenv("BELLHOP_HOSTILE_SECONDS");

	return given ? std::atof(given) : seconds;
}

/** An attacker returns this, or something greater, unless it has found what must not be. */
inline constexpr int harmless = 10;

/** How attackers ended. */
struct Toll {
	uint32_t lives = 0;
	uint32_t killed = 0; /* had to be */
	uint32_t crashed = 0;
	std::map<int, uint32_t> endings = {}; /* by exit status */

	/** How many have said of themselves that they have done @deed, a bit of what they added to
	 * harmless. */
	uint32_t with(int deed) const
	{
		uint32_t total = 0;

		for (const auto &[ending, count] : endings)
			total += ending >= harmless && ((ending - harmless) & deed) ? count : 0;
		return total;
	}
};

/**
 * One attacker after another for @seconds, each in a process without its parent's files. What an
 * attacker's own program makes of its deeds is its own affair: it may crash, and it may hang, but
 * not so that it cannot be killed. In the end nothing is left of them.
 */
inline Toll besiege(double seconds, std::mt19937 &random,
		    const std::function<int(uint32_t seed)> &attacker)
{
	const Holdings before;
	const Deadline end(seconds);
	Toll toll;

	/* So many that each kind of attack has its turn, if it takes longer on a busy machine. */
	while ((!end.passed() || toll.lives < 8) && !testing::Test::HasFailure()) {
		const uint32_t seed = random();
		Child child([&] {
			close_range(3, ~0u, 0);
			return attacker(seed);
		});
		std::optional<int> status = child.wait(15);

		toll.lives++;
		if (!status) {
			note_threads(child.pid());
			child.kill();
			toll.killed++;
			status = child.wait();
			EXPECT_TRUE(status) << "an attacker cannot be killed, seed " << seed;
		} else if (WIFSIGNALED(*status)) {
			note("an attacker is ended by signal %d (%s), seed %u", WTERMSIG(*status),
			     strsignal(WTERMSIG(*status)), seed);
			toll.crashed++;
		}
		if (status && WIFEXITED(*status)) {
			EXPECT_GE(WEXITSTATUS(*status), harmless)
				<< "an attack succeeds, seed " << seed;
			EXPECT_NE(WEXITSTATUS(*status), 99)
				<< "the attack did not begin, seed " << seed;
			toll.endings[WEXITSTATUS(*status)]++;
		}
	}
	EXPECT_TRUE(before.are_back())
		<< "before: " << before.describe() << "\nafter:  " << Holdings().describe();
	note("%u attackers, %u had to be killed, %u crashed", toll.lives, toll.killed,
	     toll.crashed);
	return toll;
}

} // namespace vm

#endif
