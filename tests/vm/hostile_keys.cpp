// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_keys.cpp: an attacker that knows or guesses keys and QP numbers of others reads nothing,
// writes nothing, and gets no answer.
#include "seed.hpp"
#include "tally.hpp"
#include "victim.hpp"
#include "window.hpp"

using namespace vm;

enum Kind {
	writes,
	reads,
	sends,
	scatters,
	binds,
	invalidations,
	strangers,
	kinds
};

static Tally<kinds> &tally()
{
	static Tally<kinds> tally(
		{ "writes by others' rkeys", "reads by others' rkeys", "sends from others' lkeys",
		  "receives into others' lkeys", "binds to others' lkeys and of their rkeys",
		  "invalidations of others' rkeys", "requests to QPs that did not choose us" });
	return tally;
}

/* Small transfers on a QP that is connected to itself; each ends the QP, or should. */
class Attacker
{
public:
	Attacker(const Prey &prey, uint32_t seed) : prey_(prey), random_(seed)
	{
		fill(region_.memory.bytes(), seed);
	}

	/** Returns false when the kernel did what it must not. */
	bool attack(double seconds)
	{
		const Deadline end(seconds);
		bool sound = true;

		while (sound && !end.passed())
			sound = random_() % 8 ? try_key() : try_stranger();
		return sound;
	}

private:
	static constexpr Path path = { .timeout = 1, .retry_cnt = 0, .rnr_retry = 0 };

	/* The whole truth, a little off, or noise. */
	uint32_t guess(uint32_t truth)
	{
		switch (random_() % 6) {
		case 0:
			return truth;
		case 1:
			return truth ^ 0x80000000u;
		case 2:
			return (truth & ~0xffu) | random_() % 256;
		case 3:
			return truth + (random_() % 64 - 32) * 256;
		case 4:
			return truth ^ 1u << random_() % 32;
		default:
			return random_();
		}
	}

	bool is_ours(uint32_t key) const
	{
		return key == region_.mr.lkey() || key == region_.mr.rkey();
	}

	void restart(const Address &peer)
	{
		qp_.modify(to_state(IBV_QPS_RESET));
		qp_.connect(peer, path);
		while (cq_.poll())
			;
	}

	/* A request that must fail. Returns whether it did, within the time that it has. */
	bool fails(Kind kind, const Send &send, uint32_t key)
	{
		require(!post(qp_, send), "ibv_post_send");
		return fails(kind, key);
	}

	/* The same of what is posted already. */
	bool fails(Kind kind, uint32_t key)
	{
		std::optional<ibv_wc> wc;
		/* The receive's completion may come before. */
		do
			wc = cq_.wait();
		while (wc && wc->status == IBV_WC_WR_FLUSH_ERR);
		const bool refused = wc && wc->status != IBV_WC_SUCCESS;

		tally().count(kind, !refused);
		if (!refused)
			note("kind %d, key %#x: %s", kind, key,
			     wc ? "it succeeded" : "no completion");
		return refused;
	}

	bool try_key()
	{
		const int end = random_() % 2;
		const uint32_t length = 1 + random_() % 64;
		const uint64_t theirs = prey_.starts[end] + random_() % (Prey::length - 64);
		const Kind kind = static_cast<Kind>(random_() % strangers);
		const uint32_t key = guess(kind == writes || kind == reads ? prey_.rkeys[end]
									   : prey_.lkeys[end]);

		if (is_ours(key))
			return true;
		restart(qp_.address());
		if (kind == binds)
			return try_bind(theirs, length, key, end);
		if (kind == invalidations)
			return try_invalidation(guess(prey_.rkeys[end]));
		if (kind == sends)
			return post_recv(qp_, { region_.sge(4096, 4096) }) ||
			       fails(kind, { .sges = { { theirs, length, key } } }, key);
		if (kind == scatters)
			return post_recv(qp_, { { theirs, length, key } }) ||
			       fails(kind, { .sges = { region_.sge(0, length) } }, key);
		return fails(kind,
			     { .opcode = kind == writes ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
			       .sges = { region_.sge(0, length) },
			       .remote = theirs,
			       .rkey = key },
			     key);
	}

	/* A window of ours to memory of theirs; or of a key of theirs, to memory of ours. */
	bool try_bind(uint64_t theirs, uint32_t length, uint32_t lkey, int end)
	{
		const bool own_window = random_() % 2;
		ibv_mr mr = {};
		ibv_mw mw = *window_.get();

		mr.lkey = own_window ? lkey : region_.mr.lkey();
		if (!own_window)
			mw.rkey = guess(prey_.rkeys[end]);
		if (!((mw.rkey ^ window_.rkey()) >> 8) != own_window)
			return true;
		ibv_send_wr wr = {}, *bad;
		wr.opcode = IBV_WR_BIND_MW;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.bind_mw = { &mw,
			       mw.rkey,
			       { &mr, own_window ? theirs : region_.address(), length,
				 IBV_ACCESS_REMOTE_READ } };
		require(!ibv_post_send(qp_.get(), &wr, &bad), "ibv_post_send");
		return fails(binds, own_window ? lkey : mw.rkey);
	}

	bool try_invalidation(uint32_t rkey)
	{
		const bool is_local = random_() % 2;

		if (is_local) {
			require(!post_local_inv(qp_, rkey), "ibv_post_send");
		} else {
			require(!post_recv(qp_, { region_.sge(4096, 4096) }), "ibv_post_recv");
			require(!post_send_inv(qp_, { region_.sge(0, 8) }, rkey), "ibv_post_send");
		}
		return fails(invalidations, rkey);
	}

	/* The victim's QPs have chosen each other. */
	bool try_stranger()
	{
		const int end = random_() % 2;
		const uint32_t qpn =
			random_() % 4 ? prey_.qpns[end] : prey_.qpns[end] + random_() % 256 - 128;

		if (qpn == qp_.get()->qp_num)
			return true;
		restart({ device_.gid(), qpn & 0xffffff });
		return fails(strangers,
			     { .opcode = all_opcodes[random_() % std::size(all_opcodes)],
			       .sges = { region_.sge(0, 1 + random_() % 64) },
			       .remote = prey_.starts[end],
			       .rkey = prey_.rkeys[end] },
			     qpn);
	}

	const Prey prey_;
	std::mt19937 random_;
	Device device_;
	Pd pd_{ device_ };
	Cq cq_{ device_, 64 };
	Region region_{ pd_, 8192, access_all | IBV_ACCESS_MW_BIND };
	Window window_{ pd_, IBV_MW_TYPE_2 };
	Qp qp_{ device_, pd_.get(), cq_, cq_ };
};

TEST(HostileKeys, open_nothing)
{
	if (!is_bellhop())
		GTEST_SKIP() << "others may have other ideas of keys";
	std::mt19937 random(seed());
	tally();
	Victim victim;
	const Prey prey = victim.prey();
	const Toll toll = besiege(attack_time(12), random, [&](uint32_t seed) {
		return Attacker(prey, seed).attack(2) ? harmless : 1;
	});

	note("what must have been refused, and was not:");
	tally().print();
	EXPECT_EQ(toll.crashed + toll.killed, 0u) << "this attack does not harm its own program";
	for (size_t kind = 0; kind < kinds; kind++)
		EXPECT_GT(tally().tried(kind), 0u);
	victim.expect_unharmed();
}

/* What ends a request of a QP that is connected to itself. */
static ibv_wc end_of(const Send &send, const Qp &qp, const Cq &cq)
{
	qp.modify(to_state(IBV_QPS_RESET));
	qp.connect(qp.address());
	require(!post(qp, send), "ibv_post_send");
	return cq.next();
}

/* A region of the kernel's is all memory there is. It is the first of each device's. */
TEST(HostileKeys, do_not_open_the_kernels_memory)
{
	if (!is_bellhop())
		GTEST_SKIP() << "others may have other ideas of keys";
	constexpr uint64_t memory = 0xffff888000000000;
	const Device device;
	const Pd pd(device);
	const Cq cq(device, 16);
	const Region region(pd, 4096);
	const Qp qp(device, pd.get(), cq, cq);
	int met = 0;

	for (uint32_t key = 0x100; key < 0x200; key++) {
		const ibv_wc local = end_of({ .opcode = IBV_WR_RDMA_WRITE,
					      .sges = { { memory, 8, key } },
					      .remote = region.address(),
					      .rkey = region.mr.rkey() },
					    qp, cq);
		const ibv_wc remote = end_of({ .opcode = IBV_WR_RDMA_READ,
					       .sges = { region.sge(0, 8) },
					       .remote = memory,
					       .rkey = key | 0x80000000 },
					     qp, cq);

		EXPECT_EQ(local.status, IBV_WC_LOC_PROT_ERR);
		EXPECT_EQ(remote.status, IBV_WC_REM_ACCESS_ERR);
		EXPECT_EQ(local.vendor_err == BELLHOP_REASON_LKEY_PD,
			  remote.vendor_err == BELLHOP_REASON_RKEY_PD);
		met += local.vendor_err == BELLHOP_REASON_LKEY_PD;
	}
	EXPECT_EQ(met, 1) << "the kernel's region was not met";
}

/* The same requests with the right keys succeed: what is refused above is refused for its keys. */
TEST(HostileKeys, do_not_spoil_those_that_fit)
{
	TransferRig(64 << 10).run_each(60);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
