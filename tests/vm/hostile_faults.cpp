// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_faults.cpp: calls with memory whose page faults nobody ever answers (userfaultfd): they
// wait, and nobody waits for them.
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "ioctls.hpp"
#include "seed.hpp"
#include "tally.hpp"
#include "victim.hpp"

using namespace vm;

enum Kind {
	command,
	answer_of_pd,
	answer_of_cq,
	answer_of_qp,
	answer_of_ah,
	call,
	answer_of_call,
	region,
	kinds
};

static Tally<kinds> &tally()
{
	static Tally<kinds> tally({ "commands that are not there", "answers of ALLOC_PD",
				    "answers of CREATE_CQ", "answers of CREATE_QP",
				    "answers of CREATE_AH", "ioctls that are not there",
				    "answers of ioctl CQ_CREATE", "regions" });
	return tally;
}

/* Memory that is never there. */
class Pit
{
public:
	static constexpr size_t page = 4096;

	Pit() : file_(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC)))
	{
		uffdio_api api = { .api = UFFD_API, .features = 0, .ioctls = 0 };
		uffdio_register range = { .range = { reinterpret_cast<uintptr_t>(memory_.data()),
						     memory_.size() },
					  .mode = UFFDIO_REGISTER_MODE_MISSING,
					  .ioctls = 0 };

		is_deep_ = file_ >= 0 && !ioctl(file_, UFFDIO_API, &api) &&
			   !ioctl(file_, UFFDIO_REGISTER, &range);
	}

	~Pit()
	{
		if (file_ >= 0)
			close(file_);
	}

	Pit(const Pit &) = delete;
	Pit &operator=(const Pit &) = delete;

	/** Whether the kernel lets us. */
	bool is_deep() const
	{
		return is_deep_;
	}

	/** A page of its own for each kind. */
	uint64_t place(Kind kind) const
	{
		return reinterpret_cast<uintptr_t>(memory_.data()) + kind * page;
	}

private:
	Memory memory_{ kinds * page };
	int file_;
	bool is_deep_ = false;
};

class Attacker
{
public:
	explicit Attacker(uint32_t seed) : random_(seed)
	{
		handles_.fill(pd_object, pd_.get()->handle);
		handles_.fill(cq_object, cq_.get()->handle);
	}

	/** Makes every call once, each in a thread that does not come back. */
	void fall()
	{
		for (size_t kind = 0; kind < kinds; kind++)
			std::thread([this, kind] {
				fall_into(static_cast<Kind>(kind));
				back_[kind] = true;
			}).detach();
		usleep(100000 + random_() % 100000);
		for (size_t kind = 0; kind < kinds; kind++)
			tally().count(kind, !back_[kind]);
	}

private:
	void fall_into(Kind kind)
	{
		const int file = device_.get()->cmd_fd;
		std::mt19937 random(1);
		Memory answers(8192);
		const auto good = reinterpret_cast<uintptr_t>(answers.data());
		const uint64_t bad = pit_.place(kind);
		const Commands commands(handles_, bad, device_.gid().raw);
		const Calls calls(handles_);
		const auto write_one = [&](Commands::Kind which, uint64_t response) {
			const Command one = commands.make(which, random, response);

			return write(file, one.bytes.data(), one.bytes.size());
		};
		const auto call_one = [&](Call one, size_t spoilt) {
			one.attrs[spoilt].data = bad;
			std::vector<uint8_t> bytes = one.bytes();

			return ioctl(file, RDMA_VERBS_IOCTL, bytes.data());
		};

		switch (kind) {
		case command:
			(void)!write(file, reinterpret_cast<void *>(bad), 64);
			break;
		case answer_of_pd:
			write_one(Commands::alloc_pd, bad);
			break;
		case answer_of_cq:
			write_one(Commands::create_cq, bad);
			break;
		case answer_of_qp:
			write_one(Commands::create_qp, bad);
			break;
		case answer_of_ah:
			write_one(Commands::create_ah, bad);
			break;
		case call:
			ioctl(file, RDMA_VERBS_IOCTL, bad);
			break;
		case answer_of_call:
			/* The last attribute is the driver's answer. */
			call_one(calls.make(Calls::cq_create, random, good), 5);
			break;
		default:
			write_one(Commands::reg_mr, good);
		}
	}

	std::mt19937 random_;
	Pit pit_;
	Device device_;
	Pd pd_{ device_ };
	Cq cq_{ device_, 16 };
	Handles handles_;
	std::array<std::atomic<bool>, kinds> back_ = {};
};

/* Others of this very program go on with what is theirs; then it is killed as it waits. */
static int be_attacker(uint32_t seed)
{
	Attacker attacker(seed);

	attacker.fall();
	TransferRig(64 << 10).run_each(6000);
	if (testing::Test::HasFailure())
		_exit(1);
	::kill(getpid(), SIGKILL);
	return 0;
}

TEST(HostileFaults, hurt_nobody_else)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the calls are those of bellhop's library";
	if (!Pit().is_deep())
		GTEST_SKIP() << "no userfaultfd";
	std::mt19937 random(seed());
	tally();
	Victim victim;
	const Toll toll = besiege(attack_time(8), random, be_attacker);

	note("calls that waited, of all:");
	tally().print();
	EXPECT_EQ(toll.killed, 0u) << "an attacker waits for its own calls";
	EXPECT_EQ(toll.crashed, toll.lives) << "an attacker does not die";
	for (size_t kind = 0; kind < kinds; kind++)
		EXPECT_GT(tally().tried(kind), 0u) << "kind " << kind;
	for (Kind kind : { answer_of_qp, answer_of_ah })
		EXPECT_GT(tally().done(kind), 0u) << "nothing was waited for, kind " << kind;
	victim.expect_unharmed();
}

TEST(HostileFaults, leave_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
