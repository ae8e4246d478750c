// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// setup_kill.cpp: 64 processes at once, each killed at some step of its life, from opening the
// device to closing it; nothing is left of them.
#include <array>
#include <atomic>
#include <memory>
#include <sys/resource.h>
#include "meminfo.hpp"
#include "seed.hpp"
#include "shared.hpp"
#include "victim.hpp"

using namespace vm;

static constexpr size_t crowd = 64;
static constexpr uint32_t room = 256 << 10;
/* Gives up at once when the partner has died. */
static constexpr Path impatient = { .timeout = 8, .retry_cnt = 1, .rnr_retry = 1 };

enum Stage {
	begin,
	opened,
	with_pd,
	with_region,
	with_cqs,
	with_qps,
	connected,
	working,
	stages
};

static constexpr const char *stage_names[stages] = { "before open",   "opened",	   "with a PD",
						     "with a region", "with CQs",  "with QPs",
						     "connected",     "in traffic" };

/* What one process tells all others of itself, in shared memory: it may die while it writes. */
struct Notice {
	std::atomic<uint32_t> step; /* how many stages it has reached, over all of its rounds */
	std::atomic<uint32_t> qpn;
	std::atomic<uint64_t> start;
	std::atomic<uint32_t> rkey;
};

using Board = Shared<Notice, crowd>;

/* All of verbs, again and again. The partner may be at any step, or dead, and its notice old. */
static void live_once(Notice &own, const Notice &partner)
{
	const ibv_qp_cap cap = { 1024, 1024, 1, 1, 0 };

	Device device;
	own.step++;
	Pd pd(device);
	own.step++;
	Region region(pd, room);
	own.step++;
	Channel channel(device);
	Cq send_cq(device, 2048, &channel), recv_cq(device, 2048, &channel);
	own.step++;
	Qp alone(device, pd.get(), send_cq, recv_cq, { .cap = cap });
	Qp paired(device, pd.get(), send_cq, recv_cq, { .cap = cap });
	own.qpn = paired.get()->qp_num;
	own.start = region.address();
	own.rkey = region.mr.rkey();
	own.step++;
	alone.connect(alone.address());
	paired.connect({ device.gid(), partner.qpn & 0xffffff }, impatient);
	own.step++;
	ibv_req_notify_cq(send_cq.get(), 0);
	for (int i = 0; i < 8; i++) {
		post_recv(alone, { region.sge(room / 2, room / 2) });
		post_recv(paired, { region.sge(room / 2, room / 2) });
		post(alone, { .sges = { region.sge(0, room / 2) } });
		post(paired, { .opcode = i % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
			       .sges = { region.sge(0, room / 2) },
			       .remote = i % 2 ? 0 : partner.start.load(),
			       .rkey = i % 2 ? 0 : partner.rkey.load() });
		if (i == 0)
			own.step++;
		while (send_cq.poll() || recv_cq.poll())
			;
	}
}

/* Returns at which stage each was, by count. */
static void kill_crowd(std::mt19937 &random, std::array<uint32_t, stages> &deaths)
{
	Board board;
	std::vector<std::unique_ptr<Child>> children;
	std::array<uint32_t, crowd> last_step;
	size_t left = crowd;
	const Deadline deadline(4 * patience);

	for (size_t i = 0; i < crowd; i++) {
		/* Some never begin, some have lived before. */
		last_step[i] = random() % (stages + stages / 2);
		children.push_back(std::make_unique<Child>([&board, i] {
			/* Or whoever kills would seldom have a turn. */
			setpriority(PRIO_PROCESS, 0, 10);
			for (;;) {
				live_once(board[i], board[i ^ 1]);
				board[i].step++;
			}
			return 0;
		}));
	}
	while (left && !deadline.passed()) {
		for (size_t i = 0; i < crowd; i++) {
			const uint32_t step = board[i].step;

			if (!children[i] || step < last_step[i])
				continue;
			/* Anywhere between this step and the next. */
			if (random() % 2)
				usleep(random() % 300);
			deaths[board[i].step % stages]++;
			children[i]->kill();
			const std::optional<int> status = children[i]->wait();
			ASSERT_TRUE(status) << "a process cannot be killed";
			ASSERT_TRUE(WIFSIGNALED(*status)) << "a process has ended by itself";
			children[i].reset();
			left--;
		}
		usleep(200);
	}
	EXPECT_EQ(left, 0u) << "some processes do not get on";
}

TEST(SetupKill, leaves_nothing)
{
	if (!is_bellhop())
		GTEST_SKIP() << "what is left is looked for in bellhop's module";
	std::mt19937 random(seed());
	Victim victim;
	std::array<uint32_t, stages> deaths = {};
	const Deadline end(attack_time(15));
	const Holdings before;
	const long used = vmalloc_used();
	uint32_t rounds = 0, met = 0;

	while ((rounds < 2 || !end.passed()) && !HasFailure()) {
		kill_crowd(random, deaths);
		ASSERT_TRUE(before.are_back())
			<< "before: " << before.describe() << "\nafter:  " << Holdings().describe();
		rounds++;
	}
	/* Each that got so far had rings of 600 KiB. */
	const long lost = vmalloc_used() - used;
	EXPECT_LT(lost, 2 << 10) << "KiB of kernel memory are lost";
	note("%u rounds of %zu processes, %ld KiB more in use; killed", rounds, crowd, lost);
	for (size_t stage = 0; stage < stages; stage++) {
		note("%6u %s", deaths[stage], stage_names[stage]);
		met += deaths[stage] > 0;
	}
	EXPECT_GE(met, 4u) << "they have all died in the same way";
	victim.expect_unharmed();
}

TEST(SetupKill, leaves_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
