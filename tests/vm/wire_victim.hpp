// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wire_victim.hpp: a process whose traffic between two hosts must stay right, whatever else is on
// the network.
#ifndef BELLHOP_VM_WIRE_VICTIM_HPP
#define BELLHOP_VM_WIRE_VICTIM_HPP

#include "line.hpp"
#include "shared.hpp"
#include "terminals.hpp"
#include "victim.hpp"

namespace vm
{

/** Where it is now; the victim writes it, and anybody may know. Of far, and of away. */
struct WirePrey {
	std::atomic<bool> is_ipv6;
	std::atomic<uint32_t> connected[2];
	std::atomic<uint32_t> datagrams[2]; /* but not the keys that these QPs want; by IPv4 */
};

/** Datagrams from far to away, which may be lost, but not be others. */
class Courier
{
public:
	explicit Courier(uint32_t secret)
	    : from_(far, Family::ipv4, secret & 0x7fffffff),
	      to_(away, Family::ipv4, (secret ^ 0x5555) & 0x7fffffff),
	      ah_(from_.pd, away.gid(Family::ipv4), from_.gid_index)
	{
		for (uint64_t slot = 0; slot < slots; slot++)
			receive(slot);
	}

	/** Sends one, and waits for it, but not for long. */
	void run()
	{
		const uint32_t length = length_of(sent_);
		const Send send = { .opcode = IBV_WR_SEND_WITH_IMM,
				    .sges = { from_.region.sge(0, length) },
				    .imm = htonl(sent_),
				    .id = sent_,
				    .ah = ah_.get(),
				    .qpn = to_.qp.get()->qp_num,
				    .qkey = to_.qkey };

		fill(from_.region.memory.bytes().first(longest), sent_);
		ASSERT_EQ(post(from_.qp, send), 0);
		expect(from_.send_cq, from_.qp, sent_);
		sent_++;
		if (const std::optional<ibv_wc> wc = to_.recv_cq.wait(0.05 * slowness()))
			check(*wc);
		while (const std::optional<ibv_wc> wc = to_.recv_cq.poll())
			check(*wc);
	}

	void expect_unharmed() const
	{
		EXPECT_FALSE(from_.recv_cq.poll()) << "somebody has sent to the sender";
		expect_no_event(from_.device);
		expect_no_event(to_.device);
		note("%u of %u datagrams arrived", arrived_, sent_);
		EXPECT_GT(2 * arrived_, sent_) << "the network has lost too many";
	}

	uint32_t qpn(bool is_receiver) const
	{
		return (is_receiver ? to_ : from_).qp.get()->qp_num;
	}

private:
	static constexpr uint32_t slots = 8, longest = 1024, room = 2048;
	static constexpr uint8_t blank = 0xee;

	static uint32_t length_of(uint32_t number)
	{
		return number * 37 % (longest + 1);
	}

	std::span<uint8_t> slot(uint64_t id) const
	{
		return to_.region.memory.bytes().subspan(id * room, room);
	}

	void receive(uint64_t id)
	{
		std::ranges::fill(slot(id), blank);
		ASSERT_EQ(post_recv(to_.qp, { to_.region.sge(id * room, grh_bytes + longest) }, id),
			  0);
	}

	void check(const ibv_wc &wc)
	{
		const uint32_t number = ntohl(wc.imm_data), length = length_of(number);

		ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
		ASSERT_LT(number, sent_) << "nobody has sent this datagram";
		ASSERT_GE(number, next_) << "this datagram was here before";
		EXPECT_TRUE(wc.wc_flags & IBV_WC_WITH_IMM);
		EXPECT_EQ(wc.src_qp, from_.qp.get()->qp_num);
		ASSERT_EQ(wc.byte_len, grh_bytes + length);
		Bytes expected(longest);
		fill(expected, number);
		expected.resize(length);
		EXPECT_TRUE(std::ranges::equal(slot(wc.wr_id).subspan(grh_bytes, length), expected))
			<< "a wrong byte, of datagram " << number;
		EXPECT_TRUE(std::ranges::all_of(slot(wc.wr_id).subspan(grh_bytes + length),
						[](uint8_t byte) { return byte == blank; }))
			<< "more bytes than datagram " << number << " has";
		next_ = number + 1;
		arrived_++;
		receive(wc.wr_id);
	}

	using Bytes = std::vector<uint8_t>;

	Office from_, to_;
	AddressHandle ah_;
	uint32_t sent_ = 0, arrived_ = 0;
	uint32_t next_ = 0; /* datagrams stay in order */
};

/** What it sends, writes, reads and adds must arrive, and nothing else. */
class WireVictim
{
public:
	/** To be made while this process has nothing of verbs open, and there are hosts. */
	WireVictim()
	{
		ibv_free_device_list(ibv_get_device_list(nullptr));
		line_.take(0);
		require(line_.hear<bool>().has_value(), "the victim does not begin");
	}

	const WirePrey &prey() const
	{
		return prey_[0];
	}

	/** Has it stop, and expects that nothing happened to it. */
	void expect_unharmed()
	{
		vm::expect_unharmed(line_, child_, 3 * patience);
	}

private:
	/* So few packets that their numbers stay near those of the first. */
	static constexpr uint32_t transfers_of_one = 40;

	static void add(const Terminals &terminals, uint64_t times)
	{
		auto *word = reinterpret_cast<uint64_t *>(terminals.to.region.memory.data());
		auto *found = reinterpret_cast<uint64_t *>(terminals.from.region.memory.data());

		*word = 5;
		for (uint64_t i = 0; i < times; i++) {
			Send send = terminals.message(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0, i);

			send.compare_add = 3;
			ASSERT_EQ(post(terminals.from.qp, send), 0);
			expect(terminals.from.send_cq, terminals.from.qp, i);
			ASSERT_EQ(*found, 5 + 3 * i) << "it was added more than once, or never";
		}
		ASSERT_EQ(*word, 5 + 3 * times) << "it was added more than once, or never";
	}

	static void expect_quiet(const Terminals &terminals)
	{
		for (const Terminal *end : { &terminals.from, &terminals.to }) {
			expect_none(end->send_cq, 0.01);
			expect_none(end->recv_cq, 0.01);
			expect_no_event(end->device, 0.01);
			EXPECT_EQ(end->qp.state(), IBV_QPS_RTS);
		}
	}

	void use_connection(const Line &line, std::mt19937 &random, Courier &courier) const
	{
		static constexpr ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
							     IBV_WR_RDMA_WRITE,
							     IBV_WR_RDMA_WRITE_WITH_IMM,
							     IBV_WR_RDMA_READ };
		static constexpr ibv_mtu mtus[] = { IBV_MTU_256, IBV_MTU_1024, IBV_MTU_4096 };
		const bool is_ipv6 = random() % 2;
		Path path;

		path.mtu = mtus[random() % std::size(mtus)];
		path.timeout = 18; /* a second: a kernel that looks for mistakes is slow */
		Terminals terminals(far, away, is_ipv6 ? Family::ipv6 : Family::ipv4, path,
				    IBV_QPT_RC, 32 << 10);
		prey_[0].is_ipv6 = is_ipv6;
		prey_[0].connected[0] = terminals.from.qp.get()->qp_num;
		prey_[0].connected[1] = terminals.to.qp.get()->qp_num;
		for (uint32_t i = 0; i < transfers_of_one && !line.has_news(); i++) {
			ASSERT_NO_FATAL_FAILURE(terminals.carry(opcodes[i % std::size(opcodes)],
								random() % (28 << 10),
								random() % 4096));
			ASSERT_NO_FATAL_FAILURE(courier.run());
			if (i % 8 == 7)
				ASSERT_NO_FATAL_FAILURE(add(terminals, 8));
		}
		expect_quiet(terminals);
	}

	int live(const Line &line) const
	{
		std::random_device unknown;
		std::mt19937 random(1);
		Courier courier(unknown());
		uint32_t connections = 0;

		for (bool is_receiver : { false, true })
			prey_[0].datagrams[is_receiver] = courier.qpn(is_receiver);
		line.tell(true);
		for (; !line.has_news() && !testing::Test::HasFailure(); connections++)
			use_connection(line, random, courier);
		courier.expect_unharmed();
		note("the victim made %u connections, of up to %u transfers", connections,
		     transfers_of_one);
		return testing::Test::HasFailure();
	}

	Shared<WirePrey, 1> prey_;
	Line line_;
	Child child_{ [this] {
		line_.take(1);
		return live(line_);
	} };
};

} // namespace vm

#endif
