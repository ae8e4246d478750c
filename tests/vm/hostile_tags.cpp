// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_tags.cpp: queues that match tags, to which anything is added and sent while queue pairs
// and queues come and go: nobody else is hurt.
#include <atomic>
#include <memory>
#include "ktap.hpp"
#include "seed.hpp"
#include "tag.hpp"
#include "victim.hpp"

using namespace vm;

namespace
{

class Attacker
{
public:
	Attacker(uint32_t seed, const Prey &prey) : random_(seed), prey_(prey)
	{
		fill(region_.memory.bytes(), 1);
		for (std::unique_ptr<Connection> &connection : connections_)
			renew(connection);
	}

	void attack(double seconds)
	{
		const Deadline end(seconds);
		std::vector<std::jthread> threads;

		for (uint32_t i = 0; i < 2; i++) {
			threads.emplace_back([this, &end, seed = random_()] {
				std::mt19937 random(seed);

				while (!end.passed())
					operate(random);
			});
		}
		threads.emplace_back([this, &end, seed = random_()] {
			std::mt19937 random(seed);

			/* While a message is matched by its header, that is another one. */
			while (!end.passed())
				write_header(random);
		});
		while (!end.passed())
			change();
	}

	/** How many messages were matched, and how many rendezvous ended well. */
	unsigned matched() const
	{
		return matched_;
	}

	unsigned read() const
	{
		return read_;
	}

private:
	static constexpr Path path = { .timeout = 8, .retry_cnt = 1, .rnr_retry = 1 };
	static constexpr uint32_t tags = 8;

	/* One that sends, and one that has its tags matched. */
	struct Connection {
		explicit Connection(Attacker &of)
		    : from(of.device_, of.pd_.get(), of.send_cq_, of.send_cq_,
			   { .cap = { 64, 64, 2, 1, 64 } }),
		      to(of.device_, of.pd_.get(), of.send_cq_, of.send_cq_,
			 { .cap = { 16, 0, 1, 0, 0 }, .srq = of.srq_.get() })
		{
		}

		Qp from, to;
	};

	void renew(std::unique_ptr<Connection> &connection)
	{
		connection.reset();
		connection = std::make_unique<Connection>(*this);
		start(*connection);
	}

	/* Results do not matter: an attack may have ended the QP meanwhile. */
	static void start(const Connection &connection)
	{
		const Qp &from = connection.from, &to = connection.to;

		for (const Qp *qp : { &from, &to }) {
			const Qp &other = qp == &from ? to : from;

			qp->modify(to_state(IBV_QPS_RESET));
			qp->modify(to_init());
			qp->modify(to_rtr(other.address(), path));
			qp->modify(to_rts(path));
		}
	}

	ibv_sge any_sge(std::mt19937 &random) const
	{
		ibv_sge sge = region_.sge(random() % 8192, random() % 8192);

		if (random() % 16 == 0)
			sge = { prey_.starts[random() % 2], 64, prey_.lkeys[random() % 2] };
		if (random() % 64 == 0)
			sge.addr = random();
		return sge;
	}

	void write_header(std::mt19937 &random)
	{
		TagHeader header = rendezvous_header(random() % tags, region_.address(8192),
						     region_.mr.rkey(), random() % 8192);

		header.tmh.opcode = random() % 16 ? 1 + random() % 3 : uint8_t(random());
		if (random() % 16 == 0) {
			header.rvh.va = htobe64(prey_.starts[random() % 2]);
			header.rvh.rkey = htobe32(prey_.rkeys[random() % 2]);
		}
		if (random() % 32 == 0)
			header.rvh.len = htobe32(random());
		std::memcpy(region_.memory.data() + 16384 + 64 * (random() % 16), &header,
			    sizeof(header));
	}

	/* Adds, takes out and tells what it likes. */
	void operate(std::mt19937 &random)
	{
		TagOp op = { .opcode = ibv_ops_wr_opcode(random() % 5 ? 0 : random() % 4),
			     .flags = int(random() % 4),
			     .unexpected = random() % 4 ? unmatched_.load() : uint32_t(random()),
			     .handle = uint32_t(random() % 4 ? random() % 4096 : random()),
			     .recv_id = random(),
			     .tag = random() % tags,
			     .mask = random() % 4 ? ~0ull : random() };

		for (uint32_t i = 0; i < 1 + random() % 4; i++)
			op.sges.push_back(any_sge(random));
		srq_.post(op);
		if (random() % 8 == 0)
			srq_.post({ .opcode = IBV_WR_TAG_SYNC,
				    .flags = 0,
				    .unexpected = unmatched_.load() });
	}

	void send(const Connection &connection)
	{
		const ibv_sge sge =
			region_.sge(16384 + 64 * (random_() % 16),
				    random_() % 4 ? 32 + random_() % 64 : random_() % 64);

		post_recv(connection.from, { region_.sge(32768, 4096) });
		post(connection.from,
		     { .sges = { sge },
		       .flags = random_() % 2 ? unsigned(IBV_SEND_SIGNALED) : 0u });
		if (random_() % 4 == 0)
			srq_.post({ region_.sge(36864, 4096) }, 1);
		if (random_() % 64 == 0)
			post(connection.to, { .sges = { region_.sge(16384, 64) } });
	}

	void reap()
	{
		while (send_cq_.poll())
			;
		while (const std::optional<TagWc> wc = cq_.wait(0)) {
			if (wc->status != IBV_WC_SUCCESS || wc->opcode != IBV_WC_TM_RECV)
				continue;
			unmatched_ += !wc->flags;
			matched_ += bool(wc->flags & IBV_WC_TM_MATCH);
			read_ += wc->flags == IBV_WC_TM_DATA_VALID;
		}
	}

	void change()
	{
		std::unique_ptr<Connection> &connection =
			connections_[random_() % std::size(connections_)];

		switch (random_() % 64) {
		case 0:
			renew(connection);
			break;
		case 1:
			TagSrq(pd_, cq_.get(), 1 + random_() % 1100 % 1024)
				.post({ .sges = { region_.sge(0, 8) } });
			break;
		case 2:
			connection->to.modify(to_state(ibv_qp_state(random_() % 8)));
			break;
		case 3:
		case 4:
		case 5:
			start(*connection);
			break;
		default:
			for (const auto &each : connections_)
				send(*each);
			reap();
		}
	}

	std::mt19937 random_;
	const Prey &prey_;
	Device device_;
	Pd pd_{ device_ };
	Region region_{ pd_, 64 << 10 };
	TagCq cq_{ device_, 1 << 14 };
	Cq send_cq_{ device_, 1 << 14 };
	TagSrq srq_{ pd_, cq_.get(), 16 };
	std::unique_ptr<Connection> connections_[4];
	std::atomic<uint32_t> unmatched_ = 0;
	unsigned matched_ = 0, read_ = 0;
};

constexpr int matched = 1, has_read = 2;

/* Half of them leave it all to the kernel, with everything open. */
int be_attacker(uint32_t seed, const Prey &prey)
{
	Attacker attacker(seed, prey);

	attacker.attack(2);
	const int ending =
		harmless + (attacker.matched() ? matched : 0) + (attacker.read() ? has_read : 0);
	if (seed % 2)
		_exit(ending);
	return ending;
}

TEST(HostileTags, hurt_nobody_else)
{
	std::mt19937 random(seed());
	Victim victim;
	const Toll toll = besiege(attack_time(16), random, [&victim](uint32_t seed) {
		return be_attacker(seed, victim.prey());
	});

	note("%u had messages matched, and %u read the payload of rendezvous", toll.with(matched),
	     toll.with(has_read));
	EXPECT_GT(toll.with(matched), 0u) << "no attack got as far as to have a message matched";
	EXPECT_GT(toll.with(has_read), 0u) << "no attack got as far as to have a payload read";
	victim.expect_unharmed();
}

TEST(HostileTags, leave_a_device_that_works)
{
	TransferRig(64 << 10).run_each(60000);
}

} // namespace

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
