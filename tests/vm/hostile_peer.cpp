// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hostile_peer.cpp: somebody on the network who sends whatever can be sent to the QPs of two hosts,
// in the name of each of them.
//
// Nothing in a packet proves who has sent it. So QPs of the victim get what is wrong in at least
// one place, and what they themselves have sent once more; the targets get everything.
#include <sys/ioctl.h>
#include "counted.hpp"
#include "holdings.hpp"
#include "nuisance.hpp"
#include "seed.hpp"
#include "spoils.hpp"
#include "tally.hpp"
#include "targets.hpp"
#include "victim.hpp"
#include "wire_victim.hpp"

using namespace vm;

namespace
{

constexpr size_t first_kind = std::size(spoils);
enum Kind : size_t {
	to_targets = first_kind,
	to_managers,
	in_fragments,
	sent_again,
	changed,
	changed_to_targets,
	kinds
};

Tally<kinds> &tally()
{
	static Tally<kinds> tally([] {
		std::array<const char *, kinds> names = {};

		for (size_t i = 0; i < first_kind; i++)
			names[i] = spoils[i].name;
		names[to_targets] = "for targets, and right";
		names[to_managers] = "for the hosts' own QPs";
		names[in_fragments] = "in fragments of IPv4";
		names[sent_again] = "that were there before";
		names[changed] = "that were changed on their way";
		names[changed_to_targets] = "that were changed, for targets";
		return names;
	}());
	return tally;
}

/** The MAC of an interface in another namespace. */
Mac mac_there(const std::string &space, const std::string &interface)
{
	const int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	const int there = open(("/run/netns/" + space).c_str(), O_RDONLY | O_CLOEXEC);
	ifreq request = {};
	Mac mac;

	require_errno(here >= 0 && there >= 0 && !setns(there, CLONE_NEWNET), "setns");
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	interface.copy(request.ifr_name, IFNAMSIZ - 1);
	const int error = ioctl(fd, SIOCGIFHWADDR, &request);
	require_errno(!setns(here, CLONE_NEWNET), "setns");
	for (int file : { fd, here, there })
		close(file);
	require(!error, "no " + interface);
	std::memcpy(mac.data(), request.ifr_hwaddr.sa_data, mac.size());
	return mac;
}

/** Packets of the victim's connections that were on the wire not long ago. */
class Eavesdropper
{
public:
	Eavesdropper() : socket_("far-port") {}

	void listen(const WirePrey &prey, Forger &forger)
	{
		for (int i = 0; i < 64; i++) {
			std::optional<Frame> frame = next();

			if (!frame)
				break;
			forger.hear(frame->packet());
			remember(*frame, prey);
		}
	}

	std::optional<Frame> some(std::mt19937 &random) const
	{
		if (frames_.empty())
			return std::nullopt;
		return frames_[random() % frames_.size()];
	}

	static uint32_t qpn_of(Frame &frame)
	{
		const std::span<uint8_t> packet = frame.packet();

		return packet[5] << 16 | packet[6] << 8 | packet[7];
	}

private:
	static constexpr size_t most = 64;

	/* What is no packet, such as a fragment, is passed over. */
	std::optional<Frame> next()
	{
		uint8_t bytes[5000];
		std::optional<Frame> frame;
		ssize_t length;

		while (!frame && (length = socket_.take(bytes)) > 0)
			frame = Frame::parse({ bytes, static_cast<size_t>(length) });
		return frame;
	}

	/* Datagrams would arrive twice, as they may. */
	void remember(Frame frame, const WirePrey &prey)
	{
		const uint32_t qpn = qpn_of(frame);

		if (frame.packet()[0] >> 5 ||
		    (qpn != prey.connected[0] && qpn != prey.connected[1]))
			return;
		if (frames_.size() < most)
			frames_.push_back(frame);
		else
			frames_[place_++ % most] = frame;
	}

	FrameSocket socket_;
	std::vector<Frame> frames_;
	size_t place_ = 0;
};

class Attacker
{
public:
	Attacker(uint32_t seed, const WirePrey &prey, const Targets &targets)
	    : random_(seed), prey_(prey), targets_(targets), socket_("net0"),
	      forger_({ mac_there("far", "far0"), mac_there("away", "away0") }, random_)
	{
	}

	/** Some packets, and a moment in which others get on. */
	void attack()
	{
		for (int i = 0; i < 8; i++) {
			switch (random_() % 16) {
			case 0:
			case 1:
				send_again();
				break;
			case 2:
			case 3:
			case 4:
				change();
				break;
			case 5:
				send_story(manager(), nullptr);
				break;
			case 6:
			case 7:
			case 8:
			case 9:
				send_story(targets_.some(random_), nullptr);
				break;
			default:
				send_spoilt();
			}
		}
		eavesdropper_.listen(prey_, forger_);
		usleep(1000);
	}

private:
	/* One of the victim's QPs, as far as they can be known. */
	Mark victim()
	{
		const bool is_away = random_() % 2, sends_datagrams = random_() % 4 == 0;
		Mark mark = { .at = is_away ? away : far,
			      .from = is_away ? far : away,
			      .is_victim = true };

		if (sends_datagrams) {
			mark.service = BELLHOP_BTH_UD;
			mark.qpn = prey_.datagrams[is_away];
			mark.peer = prey_.datagrams[!is_away];
			/* A guess, since the right one is a secret. */
			mark.qkey = random_() & 0x7fffffff;
			return mark;
		}
		mark.family = prey_.is_ipv6 ? Family::ipv6 : Family::ipv4;
		mark.qpn = prey_.connected[is_away];
		mark.peer = prey_.connected[!is_away];
		for (uint32_t &key : mark.keys)
			key = static_cast<uint32_t>(random_());
		return mark;
	}

	/* The kernel's own, which speak with everybody. */
	Mark manager()
	{
		return { .at = random_() % 2 ? far : away,
			 .from = random_() % 2 ? far : away,
			 .family = random_() % 2 ? Family::ipv4 : Family::ipv6,
			 .service = BELLHOP_BTH_UD,
			 .qpn = gsi_qpn,
			 .peer = gsi_qpn,
			 .qkey = gsi_qkey };
	}

	void send_spoilt()
	{
		const Mark mark = random_() % 2 ? victim() : targets_.some(random_);
		const Spoil *spoil;

		do
			spoil = &spoils[random_() % std::size(spoils)];
		while (!spoil->suits(mark));
		send_story(mark, spoil);
	}

	void send_story(const Mark &mark, const Spoil *spoil)
	{
		for (Forged &forged : forger_.story(mark)) {
			/* Never what the victim could take for the truth. */
			if (mark.is_victim && !spoil)
				return;
			if (spoil && spoil->headers)
				spoil->headers(forged, random_);
			forged.envelope.id =
				random_() % 16 ? 0 : static_cast<uint16_t>(1 + random_() % 0xffff);
			Bytes body = encode(forged.transport, forged.payload);
			if (spoil && spoil->body)
				spoil->body(body, random_);
			Frame frame(forged.envelope, body);
			if (spoil && spoil->breaks_icrc)
				frame.bytes().back() ^= static_cast<uint8_t>(1 + random_() % 255);
			tally().count(spoil		    ? static_cast<size_t>(spoil - spoils)
				      : mark.qpn == gsi_qpn ? size_t{ to_managers }
							    : size_t{ to_targets },
				      put(frame, forged.envelope));
		}
	}

	bool put(const Frame &frame, const Envelope &envelope)
	{
		if (envelope.family == Family::ipv6 || !envelope.id || envelope.options)
			return socket_.put(frame.bytes());
		bool all = true;
		for (const Bytes &piece : frame.fragments(8 + random_() % 1000))
			all = socket_.put(piece) && all;
		return tally().count(in_fragments, all);
	}

	/* What a network may do at any time. */
	void send_again()
	{
		if (const std::optional<Frame> frame = eavesdropper_.some(random_))
			tally().count(sent_again, socket_.put(frame->bytes()));
	}

	/* Without the ICRC that belongs to it, or for others. */
	void change()
	{
		std::optional<Frame> frame = eavesdropper_.some(random_);

		if (!frame)
			return;
		const std::span<uint8_t> packet = frame->packet();
		const bool is_for_target = random_() % 2;

		for (unsigned changes = 1 + random_() % 4; changes; changes--)
			packet[random_() % std::min<size_t>(packet.size(), 48)] ^=
				static_cast<uint8_t>(1u << random_() % 8);
		if (is_for_target) {
			const Mark mark = targets_.some(random_);

			for (int i = 0; i < 3; i++)
				packet[5 + i] = static_cast<uint8_t>(mark.qpn >> (16 - 8 * i));
			frame->seal();
		} else {
			/* Its first byte, so that it is wrong whatever else was changed, and how.
			 */
			Frame right = *frame;

			right.seal();
			packet[packet.size() - 4] =
				static_cast<uint8_t>(right.packet()[packet.size() - 4] ^ 1);
		}
		tally().count(is_for_target ? changed_to_targets : changed,
			      socket_.put(frame->bytes()));
	}

	std::mt19937 random_;
	const WirePrey &prey_;
	const Targets &targets_;
	FrameSocket socket_;
	Eavesdropper eavesdropper_;
	Forger forger_;
};

class Network : public testing::Environment
{
public:
	void SetUp() override
	{
		hosts_.emplace(false);
	}

	void TearDown() override
	{
		hosts_.reset();
	}

private:
	std::optional<Hosts> hosts_;
};

/* What both hosts have counted. */
long long grown(const Counted (&hosts)[2], const char *name)
{
	long long sum = 0;

	for (const Counted &host : hosts)
		sum += host.grown(std::string("hw_counters/") + name);
	return sum;
}

TEST(HostilePeer, hurts_nobody_else)
{
	std::mt19937 random(seed());
	tally();
	const Holdings before({ far.device, away.device });
	const Counted hosts[] = { Counted(far.device), Counted(away.device) };
	WireVictim victim;
	{
		Targets targets(random());
		Attacker attacker(random(), victim.prey(), targets);
		const Deadline end(attack_time(12));
		Nuisance life([&targets] {
			targets.tend();
			usleep(500);
		});

		while (!end.passed() && !testing::Test::HasFailure())
			attacker.attack();
		life.stop();
		targets.expect_end();
	}
	tally().print();
	for (size_t kind = 0; kind < kinds; kind++)
		EXPECT_GT(tally().done(kind), 0u) << "kind " << kind;
	for (const Spoil &spoil : spoils)
		if (spoil.counter)
			EXPECT_GT(grown(hosts, spoil.counter), 0)
				<< spoil.counter << ", of packets " << spoil.name;
	for (const char *name : { "dropped_no_receive", "out_of_sequence", "rkey_unknown",
				  "rkey_of_other_pd", "rkey_without_access", "rkey_out_of_range" })
		EXPECT_GT(grown(hosts, name), 0) << name;
	victim.expect_unharmed();
	EXPECT_TRUE(before.are_back())
		<< "before: " << before.describe()
		<< "\nafter:  " << Holdings({ far.device, away.device }).describe();
}

/** Where nothing else goes on, what is wrong with a packet is what is counted, each time. */
TEST(HostilePeer, is_counted_for_what_it_is)
{
	const Neighbours neighbours = { mac_there("far", "far0"), mac_there("away", "away0") };
	const FrameSocket socket("net0");
	std::mt19937 random(1);
	Forger forger(neighbours, random);
	Terminals terminals(far, away, Family::ipv4);
	Office office(away, Family::ipv4, 0x1111);

	for (const Spoil &spoil : spoils) {
		const Mark connected = { .qpn = terminals.from.qp.get()->qp_num,
					 .peer = terminals.to.qp.get()->qp_num };
		const Mark datagrams = { .at = away,
					 .from = far,
					 .service = BELLHOP_BTH_UD,
					 .qpn = office.qp.get()->qp_num,
					 .qkey = office.qkey };
		const Counted hosts[] = { Counted(far.device), Counted(away.device) };
		long long sent = 0;

		for (const Mark &mark : { connected, datagrams }) {
			for (int i = 0; spoil.suits(mark) && i < 10; i++) {
				Forged forged = forger.story(mark)[0];

				if (spoil.headers)
					spoil.headers(forged, random);
				Bytes body = encode(forged.transport, forged.payload);
				if (spoil.body)
					spoil.body(body, random);
				Frame frame(forged.envelope, body);
				if (spoil.breaks_icrc)
					frame.bytes().back() ^= 1;
				ASSERT_TRUE(socket.put(frame.bytes()));
				sent++;
			}
		}
		if (!spoil.counter)
			continue;
		EXPECT_TRUE(comes_true([&] { return grown(hosts, spoil.counter) >= sent; }))
			<< "of " << sent << " packets " << spoil.name;
		/* Two hosts hear what is for everybody. */
		const int hearers = spoil.headers == spoil::to_everybody ? 2 : 1;
		EXPECT_LE(grown(hosts, spoil.counter), hearers * sent) << spoil.name;
	}
	ASSERT_NO_FATAL_FAILURE(terminals.carry(IBV_WR_SEND, 10000, 0));
	expect_none(office.recv_cq);
}

TEST(HostilePeer, leaves_hosts_that_work)
{
	for (Family family : { Family::ipv4, Family::ipv6 }) {
		Terminals terminals(far, away, family);

		for (ibv_wr_opcode opcode : { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ })
			ASSERT_NO_FATAL_FAILURE(terminals.carry(opcode, 60000, 3));
	}
}

} // namespace

int main(int argc, char **argv)
{
	testing::AddGlobalTestEnvironment(new Network);
	return run_ktap(argc, argv);
}
