// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// simulation_test.cpp: requester.c and acceptor.c, two of each, joined by networks of all kinds.
//
// BELLHOP_SOAK_PACKETS says how many packets each of the simulations sends at least, BELLHOP_SEED
// with which seed the first begins, and BELLHOP_CAPTURE the file to which its packets are written.
#include <cstdlib>

#include "network.hpp"
#include "requesting_peer.hpp"

using namespace wire;

namespace
{

u64 setting(const char *name, u64 otherwise)
{
	const char *given = std::getenv(name);

	return given ? std::strtoull(given, nullptr, 0) : otherwise;
}

/* Two peers that talk until each has said enough. */
class Talk
{
public:
	Talk(const Setup &setup, const Weather &weather, u64 seed)
	    : network(weather, seed), requesters{ { setup, setup.psns[0], seed + 1 },
						  { setup, setup.psns[1], seed + 2 } },
	      responders{ { setup, setup.psns[1], requesters[1].announced(), seed + 3 },
			  { setup, setup.psns[0], requesters[0].announced(), seed + 4 } },
	      random_(seed + 5)
	{
		requesters[0].join(responders[1]);
		requesters[1].join(responders[0]);
		if (const char *name = std::getenv("BELLHOP_CAPTURE"))
			network.capture(name);
	}

	/** Each sends @messages at random. */
	void run(u64 messages)
	{
		while (!testing::Test::HasFatalFailure() && !is_over(messages)) {
			for (unsigned i : { 0, 1 }) {
				if (requesters[i].posted() < messages && requesters[i].has_room() &&
				    random_() % 2)
					requesters[i].post();
				if (random_() % 4)
					responders[i].post_receive();
				pump(i);
			}
			/* Programs take their time. */
			network.advance(network.now() + random_() % 4000);
			ASSERT_TRUE(move() || is_over(messages) ||
				    requesters[0].posted() < messages ||
				    requesters[1].posted() < messages)
				<< "nothing will ever happen again";
		}
	}

	/** Until nothing is under way, and no time is waited for. */
	void settle()
	{
		do {
			pump(0);
			pump(1);
		} while (!testing::Test::HasFatalFailure() && move());
	}

	Network network;
	RequestingPeer requesters[2];
	RespondingPeer responders[2];

private:
	bool is_over(u64 messages) const
	{
		return requesters[0].failed() || requesters[1].failed() ||
		       (requesters[0].completed() >= messages &&
			requesters[1].completed() >= messages);
	}

	/* Sends all that may be sent now. */
	void pump(unsigned i)
	{
		const u32 from = 0x0a000001 + i, to = 0x0a000001 + !i;

		while (auto bytes = requesters[i].next(from, to, network.now()))
			network.send(!i, std::move(*bytes));
		while (auto bytes = responders[i].next(from, to))
			network.send(!i, std::move(*bytes));
		requesters[i].collect();
		requesters[i].check();
		responders[i].check();
	}

	void receive(unsigned i, const Bytes &bytes)
	{
		const std::optional<Opened> opened = wire::open(bytes);

		if (!opened)
			return;
		if (bellhop_bth_row(opened->transport.opcode)->traits & BELLHOP_BTH_IS_RESPONSE)
			requesters[i].hear(*opened, network.now());
		else
			responders[i].accept(*opened);
		pump(i);
	}

	/* On to what happens next, if there is such a thing. */
	bool move()
	{
		u64 time = network.next().value_or(0);

		for (const RequestingPeer &requester : requesters)
			if (requester.wake_ns() && (!time || requester.wake_ns() < time))
				time = requester.wake_ns();
		if (!time)
			return false;
		network.advance(time);
		while (network.next().value_or(~0ull) <= network.now()) {
			const auto [to, bytes] = network.arrive();

			receive(to, bytes);
		}
		for (RequestingPeer &requester : requesters)
			requester.expire(network.now());
		return true;
	}

	std::mt19937_64 random_;
};

struct Case {
	const char *name;
	Weather weather;
	unsigned not_ready;
};

const Case kCases[] = {
	{ "calm", {}, 0 },
	{ "lossy", { .lose = 655 }, 0 },
	{ "very_lossy", { .lose = 3277 }, 0 },
	{ "doubling", { .twice = 6554 }, 0 },
	{ "mixing", { .jitter_ns = 20000 }, 0 },
	{ "corrupting", { .corrupt = 1311 }, 0 },
	{ "cut", { .cut_every_ns = 3000000 }, 0 },
	{ "not_ready", {}, 6554 },
	{ "all",
	  { .lose = 655, .twice = 655, .corrupt = 328, .jitter_ns = 5000, .cut_every_ns = 2000000 },
	  1311 },
};

class Simulation : public testing::TestWithParam<Case>
{
};

std::string name_of(const testing::TestParamInfo<Case> &info)
{
	return info.param.name;
}

/* One talk after the other, each set up in another way, until so many packets were sent. */
void soak(const Case &with, bellhop_service service)
{
	static constexpr u32 mtus[] = { 256, 512, 1024, 2048, 4096 };
	const u64 enough = setting("BELLHOP_SOAK_PACKETS", 60000);
	u64 seed = setting("BELLHOP_SEED", 1), packets = 0, talks = 0, failed = 0, repeated = 0,
	    delivered = 0;

	for (; packets < enough; seed++, talks++) {
		std::mt19937_64 random(seed);
		const Setup setup = {
			.service = service,
			.mtu = mtus[random() % std::size(mtus)],
			.window = u32(1 + random() % 200),
			.max_rd_atomic = u32(1 + random() % kKeep),
			.psns = { u32(random() & BELLHOP_PSN_MASK),
				  u32(random() & BELLHOP_PSN_MASK) },
			.not_ready = with.not_ready,
			.repairs = random() % 2 == 0,
			.timeout = u8(random() % 2 ? 8 : 14),
		};
		Talk talk(setup, with.weather, seed);

		SCOPED_TRACE("BELLHOP_SEED=" + std::to_string(seed));
		ASSERT_NO_FATAL_FAILURE(talk.run(200));
		ASSERT_NO_FATAL_FAILURE(talk.settle());
		for (unsigned i : { 0, 1 }) {
			const RequestingPeer &requester = talk.requesters[i];

			requester.expect_guards();
			talk.responders[i].expect_guards();
			/* Only patience may run out, and only where nothing gets through. */
			ASSERT_TRUE(!requester.failed() ||
				    requester.failed() == BELLHOP_REASON_SILENT);
			failed += requester.failed() != 0;
			repeated += requester.repeated();
			delivered += talk.responders[i].delivered();
		}
		packets += talk.network.packets();
	}
	std::printf(
		"%12llu packets, %llu sent again, %llu messages received, %llu talks, %llu broke "
		"off\n",
		(unsigned long long)packets, (unsigned long long)repeated,
		(unsigned long long)delivered, (unsigned long long)talks,
		(unsigned long long)failed);
	EXPECT_LE(failed * 100, talks) << "patience runs out too often";
	EXPECT_GT(delivered, 0u);
}

} // namespace

TEST_P(Simulation, rc)
{
	soak(GetParam(), BELLHOP_SERVICE_RC);
}

TEST_P(Simulation, uc)
{
	soak(GetParam(), BELLHOP_SERVICE_UC);
}

INSTANTIATE_TEST_SUITE_P(networks, Simulation, testing::ValuesIn(kCases), name_of);

TEST(simulation, a_key_that_is_gone_is_told)
{
	Talk talk({}, { .lose = 655 }, 1);

	talk.responders[1].revoke();
	talk.requesters[0].post(BELLHOP_WR_SEND, 5000);
	talk.requesters[0].post(BELLHOP_WR_RDMA_WRITE, 5000);
	talk.responders[1].post_receive();
	talk.settle();
	EXPECT_EQ(talk.requesters[0].completed(), 1u);
	EXPECT_EQ(talk.requesters[0].failed(), BELLHOP_REASON_NAK_ACCESS);
}

TEST(simulation, nobody_answers)
{
	Talk talk({}, { .lose = 65536 }, 1);

	talk.requesters[0].post(BELLHOP_WR_SEND, 5000);
	talk.settle();
	EXPECT_EQ(talk.requesters[0].failed(), BELLHOP_REASON_SILENT);
	/* One packet each time; the longest of the waits is long enough to try before it is over.
	 */
	EXPECT_EQ(talk.requesters[0].repeated(), 7u + 1);
}
