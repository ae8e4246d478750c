// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_demand.cpp: pages on demand that their process maps, moves, protects, drops, cuts, shares
// and locks while requests of all kinds fetch and use them.
#include <mutex>
#include <sys/resource.h>
#include "demand.hpp"
#include "letters.hpp"
#include "seed.hpp"
#include "tally.hpp"
#include "victim.hpp"

using namespace vm;

enum Kind {
	mappings,
	file_mappings,
	removals,
	protections,
	advices,
	truncations,
	holes,
	forks,
	locks,
	canaries,
	registrations,
	changes,
	prefetches,
	transfers,
	datagrams,
	local_refusals,
	remote_refusals,
	other_refusals,
	kinds
};

static Tally<kinds> &tally()
{
	static Tally<kinds> tally(
		{ "other pages", "pages of a file", "no pages", "mprotect()", "madvise()",
		  "ftruncate()", "FALLOC_FL_PUNCH_HOLE", "fork()", "mlock() and munlock()",
		  "pages that were watched after they had been moved away", "regions",
		  "changes of regions", "ibv_advise_mr()", "transfers with success",
		  "datagrams that arrived", "transfers refused at the requester",
		  "transfers refused at the responder", "requests refused otherwise" });
	return tally;
}

/* Addresses where nothing else is ever mapped, so that what is there can be anything. */
class Arena
{
public:
	static constexpr size_t size = 4 << 20;

	Arena()
	{
		start_ = place(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		room_ = place(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		file_ = memfd_create("hostile", 0);
		require_errno(file_ >= 0 && !ftruncate(file_, size), "memfd_create");
	}

	uint8_t *start() const
	{
		return start_;
	}

	/* Something in it becomes something else. False: the kernel wrote where it must not. */
	bool disturb(std::mt19937 &random)
	{
		const size_t offset = random() % size & ~(page - 1);
		const size_t length = std::min(size - offset, (1 + random() % 64) * page);
		uint8_t *at = start_ + offset;

		switch (random() % 10) {
		case 0:
			return tally().count(mappings,
					     place(at, length, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1));
		case 1:
			return tally().count(file_mappings,
					     place(at, length, PROT_READ | PROT_WRITE,
						   MAP_SHARED | MAP_FIXED, file_, offset));
		case 2:
			return tally().count(removals,
					     place(at, length, PROT_NONE,
						   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1));
		case 3:
			tally().count(protections, !mprotect(at, length, random() % 4));
			return true;
		case 4:
			tally().count(advices, !madvise(at, length, advice(random)));
			return true;
		case 5:
			tally().count(truncations, !ftruncate(file_, size - random() % 2 * offset));
			return true;
		case 6:
			tally().count(holes,
				      !fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
						 offset, length));
			return true;
		case 7:
			return tally().count(forks, share_memory());
		case 8:
			tally().count(locks, !mlock(at, length));
			return !munlock(at, length);
		default:
			return watch(at, length);
		}
	}

private:
	static uint8_t *place(void *at, size_t length, int protection, int flags, int file,
			      size_t offset = 0)
	{
		void *got = mmap(at, length, protection, flags, file, static_cast<off_t>(offset));

		require_errno(got != MAP_FAILED, "mmap");
		return static_cast<uint8_t *>(got);
	}

	static int advice(std::mt19937 &random)
	{
		static constexpr int advices[] = { MADV_DONTNEED, MADV_FREE,	  MADV_PAGEOUT,
						   MADV_COLD,	  MADV_HUGEPAGE,  MADV_NOHUGEPAGE,
						   MADV_DONTFORK, MADV_MERGEABLE, MADV_REMOVE };

		return advices[random() % std::size(advices)];
	}

	/*
	 * Pages that are moved out of the arena are nobody's to write any more. They are used for
	 * a while before; those of a file could still be reached through it.
	 */
	bool watch(uint8_t *at, size_t length)
	{
		const std::vector<uint8_t> pattern(length, 0x5a);

		place(at, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		      -1);
		usleep(300);
		if (mremap(at, length, length, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			   room_) != room_)
			return tally().count(canaries, false);
		std::memcpy(room_, pattern.data(), length);
		usleep(300);
		return tally().count(canaries, !std::memcmp(room_, pattern.data(), length));
	}

	uint8_t *start_;
	uint8_t *room_;
	int file_;
};

/* What the threads know of the region. They are not told when it has gone. */
struct Keys {
	uint32_t lkey, rkey;
};

class Attacker
{
public:
	explicit Attacker(uint32_t seed) : random_(seed)
	{
		replace();
	}

	/** Returns false when the kernel did what it must not. */
	bool attack(double seconds)
	{
		const Deadline end(seconds);
		std::vector<std::thread> threads;
		const uint32_t seed = random_();
		bool sound = true;

		for (uint32_t i = 0; i < 2; i++) {
			threads.emplace_back([&, i] { transfer(end, seed + i); });
			threads.emplace_back([&, i] { write_letters(end, seed + 2 + i); });
		}
		while (sound && !end.passed()) {
			switch (random_() % 32) {
			case 0:
				replace();
				break;
			case 1:
				change();
				break;
			case 2:
				prefetch();
				break;
			default:
				sound = arena_.disturb(random_);
			}
		}
		for (std::thread &thread : threads)
			thread.join();
		return sound;
	}

private:
	void publish()
	{
		std::lock_guard guard(lock_);

		keys_ = { mr_->lkey(), mr_->rkey() };
	}

	void replace()
	{
		mr_.reset();
		mr_ = std::make_unique<Mr>(pd_, arena_.start(), Arena::size, access_on_demand);
		tally().count(registrations, true);
		publish();
	}

	/* Now and then its pages are pinned, if they are all there. */
	void change()
	{
		const int flags = 1 + random_() % 7;
		const int access = access_all | (random_() % 4 ? IBV_ACCESS_ON_DEMAND : 0);

		tally().count(changes, !ibv_rereg_mr(mr_->get(), flags, pd_.get(), arena_.start(),
						     Arena::size, access));
		publish();
	}

	void prefetch()
	{
		static constexpr ibv_advise_mr_advice advices[] = {
			IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT
		};
		ibv_sge sge = some_sge(random_);

		tally().count(prefetches, !ibv_advise_mr(pd_.get(), advices[random_() % 3],
							 random_() % 2, &sge, 1));
	}

	Keys keys()
	{
		std::lock_guard guard(lock_);

		return keys_;
	}

	uint64_t some_place(std::mt19937 &random, size_t room)
	{
		return reinterpret_cast<uintptr_t>(arena_.start()) +
		       random() % (Arena::size - room);
	}

	ibv_sge some_sge(std::mt19937 &random)
	{
		const uint32_t length = 1 + random() % (random() % 4 ? 8 << 10 : 512 << 10);

		return { some_place(random, length), length, keys().lkey };
	}

	Send some_send(std::mt19937 &random)
	{
		static constexpr ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
							     IBV_WR_SEND,
							     IBV_WR_ATOMIC_FETCH_AND_ADD };
		Send send = { .opcode = opcodes[random() % std::size(opcodes)],
			      .sges = { some_sge(random) },
			      .rkey = keys().rkey };

		if (send.is_atomic())
			send.sges[0].length = 8;
		send.remote = some_place(random, send.sges[0].length);
		if (send.is_atomic())
			send.remote &= ~7ull;
		return send;
	}

	static void count(ibv_wc_status status)
	{
		tally().count(status == IBV_WC_SUCCESS		? transfers
			      : status == IBV_WC_LOC_PROT_ERR	? local_refusals
			      : status == IBV_WC_REM_ACCESS_ERR ? remote_refusals
								: other_refusals,
			      true);
	}

	/* A QP that has failed begins again. */
	void transfer(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		Cq cq(device_, 64), recv_cq(device_, 64);
		Qp qp(device_, pd_.get(), cq, recv_cq);

		/* Or whoever changes things would seldom have a turn. */
		setpriority(PRIO_PROCESS, 0, 10);
		qp.connect(qp.address());
		while (!end.passed()) {
			const Send send = some_send(random);

			if (send.opcode == IBV_WR_SEND)
				post_recv(qp, { some_sge(random) }, 1);
			post(qp, send);
			const std::optional<ibv_wc> wc = cq.wait();
			if (!wc)
				_exit(2);
			count(wc->status);
			while (recv_cq.poll())
				;
			if (wc->status != IBV_WC_SUCCESS) {
				qp.modify(to_state(IBV_QPS_RESET));
				qp.connect(qp.address());
			}
		}
	}

	void write_letters(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		Letters letters(device_, pd_);

		setpriority(PRIO_PROCESS, 0, 10); /* likewise */
		while (!end.passed()) {
			const ibv_sge room = { some_place(random, 2048), 2048, keys().lkey };

			tally().count(datagrams, letters.exchange(some_sge(random), room));
		}
	}

	std::mt19937 random_;
	Arena arena_;
	Device device_;
	Pd pd_{ device_ };
	std::mutex lock_;
	Keys keys_ = {}; /* under lock_ */
	std::unique_ptr<Mr> mr_;
};

static int be_attacker(uint32_t seed)
{
	Attacker attacker(seed);
	const bool sound = attacker.attack(patience / 5);

	/* Half of them leave it all to the kernel. */
	if (seed % 2)
		_exit(sound ? harmless : 1);
	return sound ? harmless : 1;
}

TEST(HostileDemand, hurts_nobody_else)
{
	std::mt19937 random(seed());
	tally();
	Victim victim;
	const Toll toll = besiege(attack_time(2 * patience), random, be_attacker);

	tally().print();
	EXPECT_EQ(toll.crashed + toll.killed, 0u) << "this attack does not harm its own program";
	for (size_t kind = 0; kind < kinds; kind++)
		EXPECT_GT(tally().tried(kind), 0u) << "kind " << kind;
	for (Kind kind : { canaries, changes, prefetches, transfers, datagrams })
		EXPECT_GT(tally().done(kind), 0u) << "kind " << kind;
	victim.expect_unharmed();
}

TEST(HostileDemand, leaves_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
