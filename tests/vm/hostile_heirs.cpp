// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_heirs.cpp: files of the device that a process inherits from its parent or is sent by a
// stranger, used while their owner uses them and after it has died.
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include "ioctls.hpp"
#include "passing.hpp"
#include "raw.hpp"
#include "seed.hpp"
#include "tally.hpp"
#include "victim.hpp"

using namespace vm;

enum Kind {
	kicks,
	posts,
	maps,
	calls,
	reads,
	revivals,
	inherited,
	sent,
	undelivered,
	kinds
};

static Tally<kinds> &tally()
{
	static Tally<kinds> tally({ "kicks by an heir", "posts by an heir",
				    "rings mapped by an heir", "ioctls by an heir",
				    "reads of event files by an heir",
				    "transfers on the QP of a dead process", "heirs by fork()",
				    "heirs by SCM_RIGHTS", "files sent that nobody received" });
	return tally;
}

/* What an heir is told. The files come beside it. */
struct Will {
	enum File {
		device,
		kick,
		async,
		channel,
		files
	};

	ibv_gid gid;
	uint32_t qpn, handle;
	off_t offsets[3]; /* of the rings: SQ, RQ, CQ */
	size_t lengths[3];
};

/* A process with a QP at work. */
class Owner
{
public:
	explicit Owner(std::mt19937 &random) : random_(random)
	{
		qp_.fill(region_, random_);
		require(!qp_.cycle({}), "to RTS");
	}

	Will will() const
	{
		return { .gid = device_.gid(),
			 .qpn = qp_.qpn,
			 .handle = qp_.qp->get()->handle,
			 .offsets = { qp_.send_map().offset, qp_.recv_map().offset,
				      cq_.map().offset },
			 .lengths = { qp_.send_map().length, qp_.recv_map().length,
				      cq_.map().length } };
	}

	std::array<int, Will::files> files() const
	{
		return { device_.get()->cmd_fd, kick_, device_.get()->async_fd,
			 channel_.get()->fd };
	}

	/** The kernel keeps a child from the rings, unless the parent insists. */
	void share_rings() const
	{
		for (const Mapping &mapping : find_mappings())
			require_errno(!madvise(mapping.start, mapping.length, MADV_DOFORK),
				      "MADV_DOFORK");
	}

	/* Its life until its end, which may be sudden. */
	void live()
	{
		const Deadline end(0.1 + random_() % 200 * 0.001);

		while (!end.passed()) {
			qp_.recv->index().fetch_add(1);
			qp_.send->index().fetch_add(1);
			lseek(kick_, qp_.qpn, SEEK_SET);
			cq_.drain([](const bellhop_cqe &) {});
			usleep(random_() % 200);
		}
		if (random_() % 2)
			::kill(getpid(), SIGKILL);
		_exit(0);
	}

private:
	std::mt19937 &random_;
	Device device_;
	Channel channel_{ device_ };
	Pd pd_{ device_ };
	RawCq cq_{ device_ };
	RawQp qp_{ device_, pd_, cq_ };
	Region region_{ pd_, 128 << 10 };
	int kick_ = find_kicks().at(0);
};

class Heir
{
public:
	Heir(const Will &will, const std::array<int, Will::files> &files, uint32_t seed)
	    : will_(will), files_(files), random_(seed)
	{
		for (size_t i = 0; i < rings_.size(); i++) {
			rings_[i] = std::make_unique<Ring>(files[Will::device], will.offsets[i],
							   will.lengths[i]);
			tally().count(maps, true);
		}
	}

	/** Whatever can be done, while @owner lives. */
	void disturb(const std::function<bool()> &owner_lives)
	{
		const Deadline end(2);

		while (owner_lives() && !end.passed()) {
			act();
			usleep(random_() % 100);
		}
	}

	/** Returns false when the QP cannot be used any more, though it is there. */
	bool revive()
	{
		if (!restart())
			return has_destroyed_it();
		/* What its requests name is gone. */
		if (has_destroyed_region_)
			return true;
		RawCq::View view(*rings_[2], rings_[2]->index());
		uint32_t done = 0;
		const Deadline deadline(patience);

		view.drain([](const bellhop_cqe &) {});
		rings_[1]->index() = RawQp::recv_slots;
		rings_[0]->index() = RawQp::send_slots;
		while (done < RawQp::send_slots / 8 && !deadline.passed()) {
			if (lseek(files_[Will::kick], will_.qpn, SEEK_SET))
				return false;
			view.drain([&](const bellhop_cqe &cqe) {
				done += tally().count(revivals, cqe.status == BELLHOP_WC_SUCCESS);
			});
		}
		return done >= RawQp::send_slots / 8;
	}

	/** One after the other, in any order; or all at once. */
	void leave()
	{
		std::shuffle(files_.begin(), files_.end(), random_);
		if (random_() % 2)
			_exit(0);
		for (int file : files_) {
			close(file);
			usleep(random_() % 500);
		}
		rings_ = {};
	}

private:
	/* One of the handles that it has guessed was right. */
	bool has_destroyed_it() const
	{
		return lseek(files_[Will::kick], will_.qpn, SEEK_SET) && errno == ENOENT;
	}

	void act()
	{
		uint8_t bytes[64];

		switch (random_() % 8) {
		case 0:
			call_any();
			break;
		case 1:
			/* Non-blocking, as its owner made it. */
			tally().count(reads,
				      read(files_[random_() % 2 ? Will::async : Will::channel],
					   bytes, sizeof(bytes)) > 0);
			break;
		case 2:
			rings_[1]->index().fetch_add(random_() % 2);
			rings_[0]->index().fetch_add(1);
			tally().count(posts, true);
			break;
		default:
			tally().count(kicks, !lseek(files_[Will::kick], will_.qpn, SEEK_SET));
		}
	}

	void call_any()
	{
		const auto kind = static_cast<Calls::Kind>(random_() % Calls::kinds);
		const bool done = !call(Calls(handles_).make(kind, random_, answers()));

		/* There is no other region that its guess could have met. */
		has_destroyed_region_ |= done && kind == Calls::mr_destroy;
		tally().count(calls, done);
	}

	int call(const Call &call)
	{
		std::vector<uint8_t> bytes = call.bytes();

		return ioctl(files_[Will::device], RDMA_VERBS_IOCTL, bytes.data());
	}

	uint64_t answers() const
	{
		return reinterpret_cast<uintptr_t>(answers_.data());
	}

	/* From RESET to RTS. The write() interface is for those who opened the file. */
	bool restart()
	{
		Handles handles;
		const Commands commands(handles, 0, will_.gid.raw);

		for (Commands::Kind kind : { Commands::to_reset, Commands::to_init,
					     Commands::to_rtr, Commands::to_rts }) {
			Command command = commands.make(kind, random_, 0);
			ib_uverbs_modify_qp body;

			std::memcpy(&body, &command.bytes[sizeof(ib_uverbs_cmd_hdr)], sizeof(body));
			body.qp_handle = will_.handle;
			body.dest_qp_num = will_.qpn;
			body.path_mtu = IBV_MTU_1024;
			body.rnr_retry = body.retry_cnt = 7;
			if (call(Calls::invoke(IB_USER_VERBS_CMD_MODIFY_QP, &body, sizeof(body))))
				return false;
			if (kind == Commands::to_reset) {
				rings_[0]->index() = 0;
				rings_[1]->index() = 0;
			}
		}
		return true;
	}

	const Will will_;
	std::array<int, Will::files> files_;
	std::mt19937 random_;
	std::array<std::unique_ptr<Ring>, 3> rings_;
	Handles handles_;
	Memory answers_{ 8192 };
	bool has_destroyed_region_ = false;
};

static int be_heir(const Will &will, const std::array<int, Will::files> &files, uint32_t seed,
		   const std::function<bool()> &owner_lives)
{
	Heir heir(will, files, seed);

	heir.disturb(owner_lives);
	if (owner_lives())
		return 2;
	const bool well = heir.revive();
	if (!well)
		note("an heir cannot use the QP: %s", std::strerror(errno));
	heir.leave();
	return well ? 0 : 1;
}

/* The child has its parent's files, and its rings only if the parent wants it so. */
static int inherit(uint32_t seed)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	Child owner([seed] {
		std::mt19937 random(seed);
		Owner owner(random);
		const pid_t parent = getpid();
		const bool shares = random() % 2;

		if (shares)
			owner.share_rings();
		if (!fork()) {
			int status = find_mappings().empty() == shares ? 3 : 0;

			if (!status)
				status = be_heir(owner.will(), owner.files(), seed,
						 [parent] { return getppid() == parent; });
			_exit(status);
		}
		owner.live();
		return 0;
	});
	require(owner.wait().has_value(), "the owner hangs");
	/* The heir is ours now. */
	const Deadline deadline(2 * patience);
	int status;
	while (waitpid(-1, &status, WNOHANG) <= 0) {
		if (deadline.passed())
			return 4;
		usleep(1000);
	}
	tally().count(inherited, !status);
	return status ? 1 : harmless;
}

/* The heir is there before anything is opened, and gets all of it by a socket. */
static int be_sent(uint32_t seed)
{
	std::mt19937 random(seed);
	/* Every second or third is not. */
	const bool is_received = tally().tried(undelivered) * 2 >= tally().tried(sent);
	Passing passing;
	Child heir([&] {
		passing.take(1);
		if (!is_received)
			return 0;
		Will will;
		std::array<int, Will::files> files;

		if (!passing.receive(will, files))
			return 5;
		return be_heir(will, files, seed, [&] { return !passing.is_alone(); });
	});
	Child owner([&] {
		passing.take(0);
		Owner owner(random);

		passing.send(owner.will(), owner.files());
		owner.live();
		return 0;
	});
	passing.close_both();
	require(owner.wait().has_value(), "the owner hangs");
	const std::optional<int> status = heir.wait(2 * patience);
	tally().count(is_received ? sent : undelivered, status == 0);
	return status == 0 ? harmless : 1;
}

TEST(HostileHeirs, hurt_nobody_else)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the rings are bellhop's";
	std::mt19937 random(seed());
	tally();
	Victim victim;
	const double time = attack_time(14);
	const Toll by_fork = besiege(time / 2, random, inherit);
	const Toll by_socket = besiege(time / 2, random, be_sent);

	tally().print();
	EXPECT_EQ(by_fork.crashed + by_fork.killed + by_socket.crashed + by_socket.killed, 0u)
		<< "this attack does not harm its own program";
	for (size_t kind = 0; kind < kinds; kind++)
		EXPECT_GT(tally().tried(kind), 0u) << "kind " << kind;
	EXPECT_GT(tally().done(revivals), 0u);
	victim.expect_unharmed();
}

TEST(HostileHeirs, leave_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
