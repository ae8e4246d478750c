// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wire_capture.cpp: what two hosts send each other is what tshark, which knows nothing of bellhop,
// takes for RoCEv2.
//
// It does not check the ICRC; rdma_rxe does (wire_rc, wire_ud).
#include <set>
#include <sstream>
#include "counted.hpp"
#include "roce.hpp"
#include "terminals.hpp"

namespace
{

using namespace vm;

/** A folder that goes with what is in it. */
class Folder
{
public:
	Folder()
	{
		require_errno(mkdtemp(name_), "mkdtemp");
	}

	~Folder()
	{
		std::error_code error;

		std::filesystem::remove_all(name_, error);
	}

	Folder(const Folder &) = delete;
	Folder &operator=(const Folder &) = delete;

	std::string file(const char *name) const
	{
		return std::string(name_) + "/" + name;
	}

private:
	char name_[32] = "/tmp/bellhop.XXXXXX";
};

/** A packet as tshark sees it. */
struct Seen {
	int opcode = -1; /* none, if it is no packet of RoCE's */
	std::string qkey;
	bool has_icrc = false;
	bool is_malformed = false;
	std::string line;
};

/** The RoCE packets that pass the port of a host on the bridge, from its making on. */
class Capture
{
public:
	Capture()
	{
		socket_.make_room(64 << 20);
	}

	std::vector<Seen> packets() const
	{
		/* What was sent last may be on its way still. */
		usleep(static_cast<useconds_t>(200000 * slowness()));
		write();
		EXPECT_EQ(run_command(command(), true, 6 * patience), 0);
		return parse();
	}

private:
	/* What may be in the payload is not for it to guess. */
	static constexpr const char *guesses[] = {
		"rpcordma", "smb_direct", "nvme-rdma",	    "lnet",	      "iser",
		"smc",	    "fcoib",	  "infiniband_sdp", "infiniband.eoib"
	};
	static constexpr const char *fields[] = { "infiniband.bth.opcode", "infiniband.deth.q_key",
						  "infiniband.invariant.crc", "_ws.malformed",
						  "_ws.expert.message" };

	std::string command() const
	{
		std::string text =
			"tshark -n -r " + file_ + " -T fields -E separator=, -E occurrence=f";

		/* There is the ICRC instead. */
		text += " -o udp.ignore_ipv6_zero_checksum:TRUE";
		for (const char *guess : guesses)
			text += std::string(" --disable-protocol ") + guess;
		for (const char *field : fields)
			text += std::string(" -e ") + field;
		return text + " >" + listing_;
	}

	std::vector<Seen> parse() const
	{
		std::ifstream lines(listing_);
		std::vector<Seen> packets;
		std::string line;

		while (std::getline(lines, line)) {
			std::istringstream words(line);
			std::string opcode, icrc, malformed, expert;
			Seen seen;

			seen.line = line;
			std::getline(words, opcode, ',');
			std::getline(words, seen.qkey, ',');
			std::getline(words, icrc, ',');
			std::getline(words, malformed, ',');
			std::getline(words, expert);
			seen.opcode = opcode.empty() ? -1 : std::stoi(opcode, nullptr, 0);
			seen.has_icrc = !icrc.empty();
			seen.is_malformed = !malformed.empty() || !expert.empty();
			packets.push_back(seen);
		}
		return packets;
	}

	/* As pcap's files are: a head, and one for each packet. */
	void write() const
	{
		static constexpr uint32_t head[] = { 0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1 };
		std::ofstream file(file_, std::ios::binary);
		Bytes bytes(8192);
		ssize_t length;

		file.write(reinterpret_cast<const char *>(head), sizeof(head));
		while ((length = socket_.take(bytes)) > 0) {
			const auto size = static_cast<uint32_t>(length);
			const uint32_t packet[] = { 0, 0, size, size };

			if (!Frame::parse(std::span(bytes).first(size)))
				continue;
			file.write(reinterpret_cast<const char *>(packet), sizeof(packet));
			file.write(reinterpret_cast<const char *>(bytes.data()), length);
		}
		file.flush();
		require(file.good(), "cannot write " + file_);
	}

	Folder folder_;
	const std::string file_ = folder_.file("packets.pcap"), listing_ = folder_.file("listing");
	FrameSocket socket_{ "far-port" };
};

class WireCapture : public testing::Test
{
protected:
	static void SetUpTestSuite()
	{
		if (has_tshark())
			hosts_.emplace(false);
	}

	static void TearDownTestSuite()
	{
		hosts_.reset();
	}

	void SetUp() override
	{
		if (!hosts_)
			GTEST_SKIP() << "there is no tshark";
	}

private:
	static bool has_tshark()
	{
		return !run_command("command -v tshark", false);
	}

	static inline std::optional<Hosts> hosts_;
};

constexpr uint32_t qkey = 0x12345678;

void connect_and_carry(Family family, ibv_qp_type type)
{
	Terminals terminals(far, away, family, {}, type);

	for (ibv_wr_opcode opcode : { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
				      IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ }) {
		if (type == IBV_QPT_UC && opcode == IBV_WR_RDMA_READ)
			continue;
		/* Nobody is told that what an unreliable one has written is there. */
		if (type == IBV_QPT_UC && opcode == IBV_WR_RDMA_WRITE) {
			for (uint32_t length : { 7u, 5001u }) {
				ASSERT_EQ(
					post(terminals.from.qp, terminals.message(opcode, length)),
					0);
				expect(terminals.from.send_cq, terminals.from.qp, 0);
			}
			continue;
		}
		for (uint32_t length : { 0u, 1u, 2u, 3u, 1024u, 1025u, 5001u })
			ASSERT_NO_FATAL_FAILURE(terminals.carry(opcode, length, 3));
	}
	for (ibv_wr_opcode opcode : { IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD }) {
		if (type == IBV_QPT_UC)
			continue;
		ASSERT_EQ(post(terminals.from.qp, terminals.message(opcode, 8)), 0);
		expect(terminals.from.send_cq, terminals.from.qp, 0);
	}
}

void send_datagrams(Family family)
{
	const Office from(far, family, qkey), to(away, family, qkey);
	const AddressHandle ah(from.pd, away.gid(family), from.gid_index);

	for (uint32_t length : { 0u, 1u, 1000u, 4096u })
		for (ibv_wr_opcode opcode : { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM }) {
			Send send = { .opcode = opcode,
				      .sges = { from.region.sge(0, length) },
				      .ah = ah.get(),
				      .qpn = to.qp.get()->qp_num,
				      .qkey = qkey };

			if (!length)
				send.sges.clear();
			ASSERT_EQ(post_recv(to.qp, { to.region.sge(0, grh_bytes + 4096) }), 0);
			ASSERT_EQ(post(from.qp, send), 0);
			expect(from.send_cq, from.qp, 0);
			expect(to.recv_cq, to.qp, 0);
		}
}

TEST_F(WireCapture, every_packet_is_one)
{
	const Counted here(far.device), there(away.device);
	Capture capture;

	for (Family family : { Family::ipv4, Family::ipv6 }) {
		for (ibv_qp_type type : { IBV_QPT_RC, IBV_QPT_UC })
			ASSERT_NO_FATAL_FAILURE(connect_and_carry(family, type));
		ASSERT_NO_FATAL_FAILURE(send_datagrams(family));
	}
	const std::vector<Seen> packets = capture.packets();
	std::set<int> opcodes;

	for (const Seen &seen : packets) {
		ASSERT_TRUE(seen.has_icrc && seen.opcode >= 0) << "no packet: " << seen.line;
		ASSERT_FALSE(seen.is_malformed) << seen.line;
		if (seen.opcode >> 5 == BELLHOP_BTH_UD >> 5)
			ASSERT_EQ(std::stoul(seen.qkey, nullptr, 0), qkey) << seen.line;
		opcodes.insert(seen.opcode);
	}
	EXPECT_EQ(static_cast<long long>(packets.size()),
		  here.grown("hw_counters/packets_sent") + there.grown("hw_counters/packets_sent"));
	for (int opcode = BELLHOP_BTH_SEND_FIRST; opcode <= BELLHOP_BTH_FETCH_ADD; opcode++)
		EXPECT_TRUE(opcodes.contains(BELLHOP_BTH_RC | opcode)) << "no RC " << opcode;
	for (int opcode = BELLHOP_BTH_SEND_FIRST; opcode <= BELLHOP_BTH_WRITE_ONLY_IMM; opcode++)
		EXPECT_TRUE(opcodes.contains(BELLHOP_BTH_UC | opcode)) << "no UC " << opcode;
	for (int opcode : { BELLHOP_BTH_SEND_ONLY, BELLHOP_BTH_SEND_ONLY_IMM })
		EXPECT_TRUE(opcodes.contains(BELLHOP_BTH_UD | opcode)) << "no UD " << opcode;
}

/* Else the one above would say nothing. */
TEST_F(WireCapture, a_packet_that_is_none_is_seen)
{
	const Envelope envelope = { .source = rxe.gid(Family::ipv4),
				    .destination = far.gid(Family::ipv4) };
	const FrameSocket socket("far-port");
	bellhop_transport transport = {};
	Capture capture;

	transport.opcode = BELLHOP_BTH_READ_REQUEST;
	for (size_t length : { 28, 20, 12 }) {
		Bytes body = encode(transport, {});

		body.resize(length);
		ASSERT_TRUE(socket.put(Frame(envelope, body).bytes()));
	}
	const std::vector<Seen> packets = capture.packets();
	ASSERT_EQ(packets.size(), 3u);
	EXPECT_FALSE(packets[0].is_malformed) << packets[0].line;
	for (size_t i : { 1, 2 })
		EXPECT_TRUE(packets[i].is_malformed || !packets[i].has_icrc) << packets[i].line;
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
