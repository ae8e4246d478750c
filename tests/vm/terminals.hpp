// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// terminals.hpp: connected QPs on two hosts, and messages between them of which every byte is
// looked at.
#ifndef BELLHOP_VM_TERMINALS_HPP
#define BELLHOP_VM_TERMINALS_HPP

#include "hosts.hpp"
#include "request.hpp"

namespace vm
{

/** One end: a QP on a host, and all that it needs. */
struct Terminal {
	Terminal(const Host &host, Family family, ibv_qp_type type, size_t room)
	    : host(host), family(family), device(host.device), pd(device), send_cq(device, 512),
	      recv_cq(device, 512), qp(device, pd.get(), send_cq, recv_cq,
				       { .cap = { 128, 128, 4, 4, 128 }, .type = type }),
	      region(pd, room)
	{
	}

	/** RESET to RTS. */
	void connect(const Terminal &peer, const Path &path) const
	{
		Change rtr = to_rtr({ peer.host.gid(family), peer.qp.get()->qp_num }, path);

		rtr.attr.ah_attr.grh.sgid_index =
			static_cast<uint8_t>(device.find_gid(host.gid(family)));
		require(!qp.modify(to_init(path)), "to INIT");
		require(!qp.modify(rtr), "to RTR");
		require(!qp.modify(to_rts(path)), "to RTS");
	}

	const Host host;
	const Family family;
	Device device;
	Pd pd;
	Cq send_cq;
	Cq recv_cq;
	Qp qp;
	Region region;
};

/** Two of them, connected. */
class Terminals
{
public:
	Terminals(const Host &from, const Host &to, Family family, const Path &path = {},
		  ibv_qp_type type = IBV_QPT_RC, size_t room = 256 << 10)
	    : from(from, family, type, room), to(to, family, type, room)
	{
		this->from.connect(this->to, path);
		this->to.connect(this->from, path);
	}

	/** A message of @length bytes from @offset on, to the same place there, or from there. */
	Send message(ibv_wr_opcode opcode, uint32_t length, size_t offset = 0,
		     uint64_t id = 0) const
	{
		Send send = { .opcode = opcode,
			      .sges = { from.region.sge(offset, length) },
			      .remote = to.region.address(offset),
			      .rkey = to.region.mr.rkey(),
			      .imm = htonl(0xfeed0000 + length),
			      .id = id };

		if (!length)
			send.sges.clear();
		return send;
	}

	/** Sends it, and expects every byte of both regions. */
	void carry(ibv_wr_opcode opcode, uint32_t length, size_t offset)
	{
		const bool reads = opcode == IBV_WR_RDMA_READ;
		const bool receives = opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
				      opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
		const bool has_imm =
			opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

		fill(from.region.memory.bytes(), 2 * ++messages_);
		fill(to.region.memory.bytes(), 2 * messages_ + 1);
		const std::span<uint8_t> here = from.region.memory.bytes(),
					 there = to.region.memory.bytes();
		std::vector<uint8_t> expected_here(here.begin(), here.end());
		std::vector<uint8_t> expected_there(there.begin(), there.end());
		if (reads)
			std::memcpy(&expected_here[offset], &there[offset], length);
		else
			std::memcpy(&expected_there[offset], &here[offset], length);
		if (receives)
			ASSERT_EQ(post_recv(to.qp, { to.region.sge(offset, length ? length : 1) },
					    messages_),
				  0);
		ASSERT_EQ(post(from.qp, message(opcode, length, offset, messages_)), 0);
		expect(from.send_cq, from.qp, messages_);
		if (receives) {
			const ibv_wc wc = expect(to.recv_cq, to.qp, messages_);

			EXPECT_EQ(wc.byte_len, length);
			EXPECT_EQ(!!(wc.wc_flags & IBV_WC_WITH_IMM), has_imm);
			if (has_imm)
				EXPECT_EQ(wc.imm_data, htonl(0xfeed0000 + length));
		}
		ASSERT_TRUE(std::ranges::equal(here, expected_here))
			<< "opcode " << opcode << ", " << length << " bytes";
		ASSERT_TRUE(std::ranges::equal(there, expected_there))
			<< "opcode " << opcode << ", " << length << " bytes";
	}

	Terminal from;
	Terminal to;

private:
	uint64_t messages_ = 0;
};

} // namespace vm

#endif
