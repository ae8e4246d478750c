// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_calls.cpp: the kernel's own interfaces called with nonsense: write(), ioctl() and mmap()
// of the device's file, and everything that can be done to a kick, event or asynchronous file.
#include <sys/ioctl.h>
#include <sys/resource.h>
#include "called.hpp"
#include "datagram.hpp"
#include "raw.hpp"
#include "seed.hpp"
#include "spoiler.hpp"
#include "srq.hpp"
#include "victim.hpp"

using namespace vm;
using namespace vm::called;

/* The device's file, without a library. */
static std::string device_file()
{
	Device device;

	return std::string("/dev/infiniband/") + device.get()->device->dev_name;
}

static ibv_gid device_gid()
{
	return Device().gid();
}

class Attacker
{
public:
	explicit Attacker(uint32_t seed) : random_(seed)
	{
		/* So that the files of one attacker can be met by chance. */
		const rlimit limit = { 200, 200 };
		setrlimit(RLIMIT_NOFILE, &limit);
		/* Signals interrupt calls, and do nothing else. */
		struct sigaction nothing = {};
		nothing.sa_handler = [](int) {};
		sigaction(SIGUSR1, &nothing, nullptr);
		require_errno(file_ >= 0, "cannot open " + path_);
		Places places;
		const Command command =
			commands_.make(Commands::get_context, random_, places.answers());
		require_errno(write(file_, command.bytes.data(), command.bytes.size()) > 0,
			      "GET_CONTEXT");
		bellhop_alloc_ucontext_resp answer;
		std::memcpy(&answer, places.answer(sizeof(ib_uverbs_get_context_resp)),
			    sizeof(answer));
		status_ = mmap(nullptr, answer.status_length, PROT_READ, MAP_SHARED, file_,
			       static_cast<off_t>(answer.status_offset));
		require_errno(status_ != MAP_FAILED, "mmap of the status page");
	}

	void attack(double seconds)
	{
		const Deadline end(seconds);
		std::vector<std::thread> threads;
		const auto start = [&](void (Attacker::*what)(const Deadline &, uint32_t)) {
			running_++;
			threads.emplace_back([&, what, seed = random_()] {
				(this->*what)(end, seed);
				running_--;
			});
		};

		for (int i = 0; i < 3; i++) {
			start(&Attacker::write_commands);
			start(&Attacker::make_calls);
		}
		start(&Attacker::use_files);
		start(&Attacker::map);
		start(&Attacker::open_contexts);
		/* What a thread reads may be another file by now, upon which it waits. */
		while (running_) {
			for (std::thread &thread : threads)
				pthread_kill(thread.native_handle(), SIGUSR1);
			usleep(20000);
		}
		for (std::thread &thread : threads)
			thread.join();
	}

private:
	void write_commands(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		Places places(reinterpret_cast<uintptr_t>(status_));
		Spoiler spoiler(places, random);

		while (!end.passed()) {
			/* A context has been got: another is for another file. */
			const auto kind =
				static_cast<Commands::Kind>(1 + random() % (Commands::kinds - 1));

			write_one(file_, commands_, kind, random() % 2, places, spoiler, random);
			if (random() % 32)
				continue;
			/* The way of a QP to RTS, into a group and out, and of a CQ and an SRQ to
			 * another ring, which chance alone seldom finds. */
			Handles one;
			for (ObjectKind which :
			     { cq_object, qp_object, datagram_qp_object, srq_object })
				one.fill(which, handles_.some(which, random));
			const Commands commands(one, 0, gid_.raw);
			for (Commands::Kind step :
			     { Commands::to_reset, Commands::to_init, Commands::to_rtr,
			       Commands::to_rts, Commands::datagram_reset, Commands::datagram_init,
			       Commands::datagram_rtr, Commands::datagram_rts,
			       Commands::attach_mcast, Commands::detach_mcast, Commands::resize_cq,
			       Commands::move_cq, Commands::resize_srq, Commands::move_srq })
				write_one(file_, commands, step, false, places, spoiler, random);
		}
	}

	bool write_one(int file, const Commands &commands, Commands::Kind kind, bool spoil,
		       Places &places, Spoiler &spoiler, std::mt19937 &random)
	{
		Command command = commands.make(kind, random, places.answers());

		if (spoil)
			spoiler.spoil(command);
		const uint8_t *from = spoiler.place(command.bytes, spoil);
		const bool done = write(file, from, command.bytes.size()) > 0;
		if (done && !spoil && command.makes >= 0)
			handles_.add(static_cast<ObjectKind>(command.makes), places.first_answer());
		tally().count(spoil ? size_t(spoilt_writes) : size_t(kind), done);
		return done;
	}

	void make_calls(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		Places places(reinterpret_cast<uintptr_t>(status_));
		Spoiler spoiler(places, random);
		const ib_uverbs_qp_cap cap = { 16, 16, 1, 1, 0 };

		while (!end.passed()) {
			const auto kind = static_cast<Calls::Kind>(random() % Calls::kinds);
			const bool spoil = random() % 2;
			Call call = calls_.make(kind, random, places.answers());

			const Command address =
				commands_.make(Commands::create_ah, random, places.answers());

			std::memcpy(places.answer(Calls::cap_at), &cap, sizeof(cap));
			std::memcpy(places.answer(Calls::address_handle_at),
				    &address.bytes[sizeof(ib_uverbs_cmd_hdr)],
				    sizeof(ib_uverbs_create_ah));
			if (spoil)
				spoiler.spoil(call);
			uint8_t *from = spoiler.place(call.bytes(), spoil);
			const bool done = !ioctl(file_, RDMA_VERBS_IOCTL, from);
			if (done && !spoil && call.makes >= 0) {
				ib_uverbs_attr first;

				std::memcpy(&first, from + sizeof(call.head), sizeof(first));
				handles_.add(static_cast<ObjectKind>(call.makes), first.data);
			}
			tally().count(spoil ? size_t(spoilt_calls) : size_t(first_call) + kind,
				      done);
		}
	}

	/* Kick, event and asynchronous files, all that are there: none is blocked upon. */
	void use_files(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		uint8_t bytes[256];

		while (!end.passed()) {
			const int file = 3 + random() % 197;

			if (file == file_)
				continue;
			if (random() % 4 == 0) {
				tally().count(closes, !close(file));
				continue;
			}
			fcntl(file, F_SETFL, O_NONBLOCK);
			tally().count(file_calls, use(file, bytes, random) >= 0);
		}
	}

	static long use(int file, uint8_t (&bytes)[256], std::mt19937 &random)
	{
		pollfd waiter = { file, POLLIN, 0 };
		void *start;

		switch (random() % 10) {
		case 0:
			return read(file, bytes, random() % sizeof(bytes));
		case 1:
			return write(file, bytes, random() % sizeof(bytes));
		case 2:
			return lseek(file,
				     random() % 2 ? random() % 0x20000 : off_t(random()) << 32,
				     random() % 4 ? SEEK_SET : int(random()));
		case 3:
			return ioctl(file, random() % 2 ? RDMA_VERBS_IOCTL : random(), bytes);
		case 4:
			return poll(&waiter, 1, 0);
		case 5:
			start = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
			return start == MAP_FAILED ? -1 : munmap(start, 4096);
		case 6:
			return pread(file, bytes, sizeof(bytes), random());
		case 7:
			return ftruncate(file, random());
		case 8:
			return fcntl(file, F_SETFL, O_NONBLOCK | (random() % 2 ? O_ASYNC : 0));
		default:
			return dup(file);
		}
	}

	void map(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);

		while (!end.passed()) {
			const size_t length = 1 + random() % (random() % 4 ? 5 * 4096 : 1 << 24);
			const off_t offset = random() % 8 ? off_t(random() % 64) << 12
							  : off_t(random()) << (random() % 44);
			auto *start = static_cast<uint8_t *>(
				mmap(nullptr, length,
				     random() % 2 ? PROT_READ | PROT_WRITE : int(random() % 8),
				     random() % 8 ? MAP_SHARED : MAP_PRIVATE, file_, offset));

			usleep(100);
			if (!tally().count(mmaps, start != MAP_FAILED))
				continue;
			/* A page in the middle goes: what is left are two mappings. Nothing else is
			 * unmapped, since another thread may have the hole by now. */
			const size_t hole = length / 2 & ~size_t(4095), behind = hole + 4096;
			munmap(start + hole, 4096);
			if (hole)
				munmap(start, hole);
			if (length > behind)
				munmap(start + behind, length - behind);
		}
	}

	/* The first call on a file makes its context; two at once, and none. */
	void open_contexts(const Deadline &end, uint32_t seed)
	{
		std::mt19937 random(seed);
		Places places(reinterpret_cast<uintptr_t>(status_));
		Spoiler spoiler(places, random);

		while (!end.passed()) {
			const int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);

			if (file < 0)
				continue;
			for (int i = random() % 4; i >= 0; i--)
				tally().count(opens,
					      write_one(file, commands_, Commands::get_context,
							random() % 2, places, spoiler, random));
			write_one(file, commands_, Commands::alloc_pd, true, places, spoiler,
				  random);
			close(file);
		}
	}

	std::mt19937 random_;
	std::atomic<int> running_ = 0; /* threads */
	const std::string path_ = device_file();
	const ibv_gid gid_ = device_gid();
	int file_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
	void *status_ = nullptr; /* the kernel's, to be read */
	Handles handles_;
	Memory room_{ 64 << 10 };
	Commands commands_{ handles_, reinterpret_cast<uintptr_t>(room_.data()), gid_.raw };
	Calls calls_{ handles_ };
};

TEST(HostileCalls, hurt_nobody_else)
{
	if (!is_bellhop())
		GTEST_SKIP() << "the sound calls are those of bellhop's library";
	std::mt19937 random(seed());
	tally();
	Victim victim;
	/* Longer on a slow kernel: each of the sound calls is to succeed at least once. */
	const Toll toll = besiege(attack_time(2 * patience), random, [](uint32_t seed) {
		Attacker attacker(seed);

		attacker.attack(2);
		/* Whatever its files are by now. */
		_exit(harmless);
		return harmless;
	});

	tally().print();
	EXPECT_EQ(toll.crashed, 0u) << "an answer hits what was not meant";
	EXPECT_EQ(toll.killed, 0u) << "a call does not come back";
	/* What is not spoilt works, or the others would be refused for a wrong reason. */
	for (size_t kind = 1; kind < kinds; kind++) {
		EXPECT_GT(tally().tried(kind), 0u) << "kind " << kind;
		if (is_refused(kind))
			EXPECT_EQ(tally().done(kind), 0u) << "kind " << kind;
		else if (!may_be_refused(kind))
			EXPECT_GT(tally().done(kind), 0u) << "kind " << kind;
	}
	victim.expect_unharmed();
}

/* To be sure that they are refused for that reason: each with objects that are there. */
TEST(HostileCalls, do_not_get_by_the_rings)
{
	if (!is_bellhop())
		GTEST_SKIP() << "others may post in the kernel";
	std::mt19937 random(1);
	Station station(0x11111111);
	Srq srq(station.pd);
	Memory room(4096);
	Handles handles;
	const Commands commands(handles, 0, station.device.gid().raw);

	handles.fill(pd_object, station.pd.get()->handle);
	handles.fill(cq_object, station.send_cq.get()->handle);
	handles.fill(datagram_qp_object, station.qp.get()->handle);
	handles.fill(ah_object, station.ah.get()->handle);
	handles.fill(srq_object, srq.get()->handle);
	for (Commands::Kind kind :
	     { Commands::post_send, Commands::post_recv, Commands::post_srq_recv, Commands::poll_cq,
	       Commands::req_notify_cq }) {
		int refused = 0;

		for (int i = 0; i < 20; i++) {
			const Command command = commands.make(
				kind, random, reinterpret_cast<uintptr_t>(room.data()));

			ASSERT_LT(write(station.device.get()->cmd_fd, command.bytes.data(),
					command.bytes.size()),
				  0);
			refused += errno == EOPNOTSUPP;
		}
		/* Now and then a handle is a guess. */
		EXPECT_GT(refused, 10) << "kind " << kind;
	}
}

TEST(HostileCalls, leave_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
