// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_mads.cpp: management datagrams that make no sense, to the general services QPs of all
// devices: what the kernel makes of them is its affair, and bellhop goes on bringing them.
#include <rdma/rdma_cma.h>
#include "command.hpp"
#include "datagram.hpp"
#include "mads.hpp"
#include "raw.hpp"
#include "seed.hpp"
#include "tally.hpp"
#include "victim.hpp"

using namespace vm;

enum {
	answers = Mads::kinds,
	heard,
	kinds
};

static Tally<kinds> &tally()
{
	static Tally<kinds> tally({ "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ",
				    "SIDR_REP", "LAP", "APR", "REQ for a listener",
				    "Get of counters", "Get of something like counters",
				    "other classes", "noise", "answers received",
				    "requests that the listener heard of" });
	return tally;
}

static constexpr const char *address = "10.9.0.1";
static constexpr uint16_t port = 7471;

/* Somebody to be connected to, who will not. Until it is killed. */
static int be_listener(const Line &line)
{
	rdma_event_channel *channel = rdma_create_event_channel();
	sockaddr_in self = {};
	rdma_cm_id *listener;

	self.sin_family = AF_INET;
	self.sin_port = htons(port);
	inet_pton(AF_INET, address, &self.sin_addr);
	require_errno(channel && !rdma_create_id(channel, &listener, nullptr, RDMA_PS_TCP) &&
			      !rdma_bind_addr(listener, reinterpret_cast<sockaddr *>(&self)) &&
			      !rdma_listen(listener, 64),
		      "rdma_listen");
	line.tell(true);
	for (;;) {
		rdma_cm_event *event;

		if (rdma_get_cm_event(channel, &event))
			continue;
		rdma_cm_id *id = event->id;
		const bool is_request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

		rdma_ack_cm_event(event);
		if (!is_request)
			continue;
		tally().count(heard, true);
		rdma_reject(id, nullptr, 0);
		rdma_destroy_id(id);
	}
}

/* Where to: a GID, and the index of a source from which it is reached. */
struct Target {
	ibv_gid gid;
	uint8_t sgid_index;
};

class Attacker
{
public:
	Attacker(std::vector<Target> targets, uint32_t seed)
	    : targets_(std::move(targets)), random_(seed)
	{
		qp_.fill(region_, random_);
		require_errno(!(errno = qp_.qp->open(gsi_qkey)), "to RTS");
		receive(RawQp::recv_slots);
	}

	void attack(double seconds)
	{
		const Deadline end(seconds);

		while (!end.passed()) {
			send();
			cq_.drain([&](const bellhop_cqe &cqe) {
				if (cqe.opcode == BELLHOP_WC_RECV)
					receive(tally().count(answers, cqe.src_qp == gsi_qpn));
			});
			usleep(random_() % 200);
		}
	}

private:
	/* The next entry, which is not waited for: it may change while it is executed. */
	void send()
	{
		const auto kind = static_cast<Mads::Kind>(random_() % Mads::kinds);
		const std::vector<uint8_t> mad = mads_.make(kind, random_);
		const uint32_t slot = sent_ % RawQp::send_slots;
		const Target &target = targets_[random_() % targets_.size()];
		RawQp::Datagram &entry = qp_.datagram(slot);

		std::copy(mad.begin(), mad.end(), region_.memory.data() + slot * Mads::longest);
		entry.sge.addr = region_.address(slot * Mads::longest);
		entry.sge.length = mad.size();
		std::memcpy(entry.av.dgid, target.gid.raw, sizeof(entry.av.dgid));
		entry.av.sgid_index = target.sgid_index;
		entry.av.qpn = gsi_qpn;
		entry.av.qkey = gsi_qkey;
		entry.av.hop_limit = 1;
		qp_.send->index() = ++sent_;
		tally().count(kind, !lseek(kick_, qp_.qpn, SEEK_SET));
	}

	void receive(uint32_t count)
	{
		qp_.recv->index().fetch_add(count, std::memory_order_release);
	}

	const std::vector<Target> targets_;
	std::mt19937 random_;
	Device device_;
	Pd pd_{ device_ };
	RawCq cq_{ device_ };
	RawQp qp_{ device_, pd_, cq_, IBV_QPT_UD };
	/* The datagrams, and behind them as much for the answers. */
	Region region_{ pd_, 2 * RawQp::send_slots *Mads::longest };
	Mads mads_{ mapped_gid(address), port };
	int kick_ = find_kicks().at(0);
	uint32_t sent_ = 0;
};

/* Another device, and an address for rdma_cm. */
class HostileMads : public testing::Test
{
protected:
	void SetUp() override
	{
		if (!is_bellhop())
			GTEST_SKIP() << "the rings are bellhop's";
		expect_command("ip link add dummy9 type dummy && ip link set dummy9 up && "
			       "rdma link add bell9 type bellhop netdev dummy9");
		expect_command(std::string("ip address add ") + address + "/24 dev " +
			       device_name());
	}

	void TearDown() override
	{
		if (!is_bellhop())
			return;
		expect_command("rdma link delete bell9 && ip link delete dummy9");
		expect_command(std::string("ip address delete ") + address + "/24 dev " +
			       device_name());
	}

	static std::vector<Target> targets()
	{
		const Device own, other("bell9");
		const ibv_gid ipv4 = mapped_gid(address);

		EXPECT_TRUE(comes_true([&] { return own.find_gid(ipv4) >= 0; }));
		return { { own.gid(), Device::gid_index() },
			 { other.gid(), Device::gid_index() },
			 { ipv4, static_cast<uint8_t>(own.find_gid(ipv4)) } };
	}
};

TEST_F(HostileMads, hurt_nobody_else)
{
	std::mt19937 random(seed());
	const std::vector<Target> where = targets();
	tally();
	Victim victim;
	Line line;
	Child listener([&] {
		line.take(1);
		return be_listener(line);
	});
	line.take(0);
	ASSERT_TRUE(line.hear<bool>()) << "nobody listens";
	const Toll toll = besiege(attack_time(12), random, [&](uint32_t seed) {
		Attacker(where, seed).attack(2);
		return harmless;
	});

	tally().print();
	EXPECT_EQ(toll.crashed + toll.killed, 0u) << "this attack does not harm its own program";
	for (size_t kind = 0; kind < Mads::kinds; kind++)
		EXPECT_GT(tally().done(kind), 0u) << "kind " << kind;
	EXPECT_GT(tally().done(answers), 0u) << "the kernel has read nothing";
	EXPECT_GT(tally().done(heard), 0u) << "nothing got as far as the listener";
	EXPECT_FALSE(listener.wait(0)) << "the listener has ended";
	victim.expect_unharmed();
}

/* What is brought after all that is understood. */
TEST_F(HostileMads, leave_a_device_that_connects)
{
	const std::string rping = std::string("rping -a ") + address + " -C 20";

	targets();
	expect_command("{ sleep 1; " + rping + " -c; } & " + rping + " -s && wait $!");
	TransferRig(64 << 10).run_each(60000);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
