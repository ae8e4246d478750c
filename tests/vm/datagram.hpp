// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// datagram.hpp: what sends and takes datagrams, and one datagram of which every byte and every wc
// field is checked.
#ifndef BELLHOP_VM_DATAGRAM_HPP
#define BELLHOP_VM_DATAGRAM_HPP

#include <algorithm>
#include <array>
#include <arpa/inet.h>
#include <netinet/ip6.h>
#include "request.hpp"

namespace vm
{

inline constexpr uint32_t grh_bytes = BELLHOP_GRH_BYTES;

/** The well-known Q_Key of general services QPs, which all have number 1. */
inline constexpr uint32_t gsi_qkey = 0x80010000, gsi_qpn = 1;

/** The GID of an IPv4 address. */
inline ibv_gid mapped_gid(const char *address)
{
	ibv_gid gid;

	require(inet_pton(AF_INET6, (std::string("::ffff:") + address).c_str(), gid.raw) == 1,
		"no IPv4 address");
	return gid;
}

class AddressHandle
{
public:
	static constexpr uint8_t hop_limit = 63, traffic_class = 0x20;
	static constexpr uint32_t flow_label = 0x12345;

	AddressHandle(const Pd &pd, const ibv_gid &dgid, uint8_t sgid_index = Device::gid_index())
	{
		ibv_ah_attr attr = {};

		attr.is_global = 1;
		attr.port_num = 1;
		attr.grh.dgid = dgid;
		attr.grh.sgid_index = sgid_index;
		attr.grh.hop_limit = hop_limit;
		attr.grh.flow_label = flow_label;
		attr.grh.traffic_class = traffic_class;
		ah_ = ibv_create_ah(pd.get(), &attr);
		require_errno(ah_, "ibv_create_ah");
	}

	~AddressHandle()
	{
		ibv_destroy_ah(ah_);
	}

	AddressHandle(const AddressHandle &) = delete;
	AddressHandle &operator=(const AddressHandle &) = delete;

	ibv_ah *get() const
	{
		return ah_;
	}

private:
	ibv_ah *ah_;
};

/** A UD QP that is open, with all that it needs; its own address is as good as any. */
struct Station {
	explicit Station(uint32_t qkey, bool extended = false,
			 const std::string &name = device_name())
	    : device(name), pd(device), send_cq(device, 512), recv_cq(device, 512),
	      qp(device, pd.get(), send_cq, recv_cq,
		 { .cap = { 256, 256, 4, 4, 128 }, .extended = extended, .type = IBV_QPT_UD }),
	      region(pd, 64 << 10), ah(pd, device.gid()), qkey(qkey)
	{
		require_errno(!(errno = qp.open(qkey)), "to RTS");
	}

	Device device;
	Pd pd;
	Cq send_cq;
	Cq recv_cq;
	Qp qp;
	Region region;
	AddressHandle ah;
	uint32_t qkey;
};

/** The route header of a datagram that @from has sent by its handle to @to; both have IPv6 GIDs. */
inline std::array<uint8_t, grh_bytes> route_header(const Device &from, const Device &to,
						   uint32_t payload, bool has_imm)
{
	/* What stands around the payload: UDP, BTH, DETH, ImmDt; padding and ICRC. */
	const uint32_t around = 8 + 12 + 8 + 4 * has_imm + (-payload & 3) + 4;
	std::array<uint8_t, grh_bytes> bytes;
	ip6_hdr header = {};

	header.ip6_flow =
		htonl(6u << 28 | AddressHandle::traffic_class << 20 | AddressHandle::flow_label);
	header.ip6_plen = htons(static_cast<uint16_t>(payload + around));
	header.ip6_nxt = IPPROTO_UDP;
	header.ip6_hlim = AddressHandle::hop_limit;
	std::memcpy(&header.ip6_src, from.gid().raw, sizeof(header.ip6_src));
	std::memcpy(&header.ip6_dst, to.gid().raw, sizeof(header.ip6_dst));
	std::memcpy(bytes.data(), &header, sizeof(header));
	return bytes;
}

/** Two stations with keys that nobody knows, where nothing but what they send each other arrives.
 */
class DatagramRig
{
public:
	explicit DatagramRig(std::mt19937 &random) : a(secret(random)), b(secret(random))
	{
		receive();
	}

	/** Sends one of some length to one of b's buffers, and expects all that it must do. */
	void run()
	{
		const bool has_imm = random_() % 2, is_inline = random_() % 4 == 0;
		const uint32_t length = random_() % (is_inline ? 129 : longest + 1);
		const uint32_t from = random_() % (a.region.memory.size() - longest);
		const Send send = { .opcode = has_imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
				    .sges = { a.region.sge(from, length) },
				    .imm = htonl(0xfeed0000 + next_),
				    .flags = IBV_SEND_SIGNALED |
					     (is_inline ? unsigned(IBV_SEND_INLINE) : 0),
				    .id = next_,
				    .ah = a.ah.get(),
				    .qpn = b.qp.get()->qp_num,
				    .qkey = b.qkey };

		/* One buffer is always there, for whoever else would send here. */
		receive();
		fill(a.region.memory.bytes(), 2 * next_);
		fill(b.region.memory.bytes(), 2 * next_ + 1);
		expected_.assign(b.region.memory.bytes().begin(), b.region.memory.bytes().end());
		std::ranges::copy(route_header(a.device, b.device, length, has_imm),
				  expected_.begin() + offset(next_));
		std::copy_n(a.region.memory.data() + from, length,
			    expected_.begin() + offset(next_) + grh_bytes);
		ASSERT_EQ(post(a.qp, send), 0);
		check(send, length);
		next_++;
	}

	Station a, b;

private:
	static constexpr uint32_t longest = 1024;

	/* The top bit would have another meaning. */
	static uint32_t secret(std::mt19937 &random)
	{
		return random() & 0x7fffffff;
	}

	/* Buffers of all alignments that do not touch each other. */
	static size_t offset(uint64_t id)
	{
		return id % 16 * 2048 + id % 61;
	}

	void receive()
	{
		const uint32_t room = grh_bytes + longest;

		ASSERT_EQ(post_recv(b.qp, { b.region.sge(offset(posted_), room) }, posted_), 0);
		posted_++;
	}

	void check(const Send &send, uint32_t length)
	{
		const bool has_imm = send.opcode == IBV_WR_SEND_WITH_IMM;

		EXPECT_EQ(expect(a.send_cq, a.qp, send.id).opcode, IBV_WC_SEND);
		const ibv_wc wc = expect(b.recv_cq, b.qp, send.id);
		EXPECT_EQ(wc.opcode, IBV_WC_RECV);
		EXPECT_EQ(wc.byte_len, grh_bytes + length);
		EXPECT_EQ(wc.src_qp, a.qp.get()->qp_num);
		EXPECT_EQ(wc.wc_flags,
			  static_cast<unsigned>(IBV_WC_GRH | (has_imm ? IBV_WC_WITH_IMM : 0)));
		if (has_imm)
			EXPECT_EQ(wc.imm_data, send.imm);
		EXPECT_FALSE(a.send_cq.poll() || a.recv_cq.poll() || b.send_cq.poll() ||
			     b.recv_cq.poll())
			<< "more completions than requests";
		EXPECT_TRUE(std::ranges::equal(expected_, b.region.memory.bytes()))
			<< "a wrong byte, of a datagram of " << length;
	}

	std::mt19937 random_{ 1 };
	uint32_t next_ = 0, posted_ = 0;
	std::vector<uint8_t> expected_;
};

} // namespace vm

#endif
