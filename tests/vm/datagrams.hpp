// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// datagrams.hpp: a QP that sends datagrams to itself, and their address.
#ifndef BELLHOP_VM_DATAGRAMS_HPP
#define BELLHOP_VM_DATAGRAMS_HPP

#include "loopback.hpp"

namespace vm
{

/** The QP and the address handle are made and destroyed by hand. */
class Datagrams : public Loopback
{
public:
	ibv_ah *ah = nullptr;

	/** Returns 0 or an errno. */
	int create_ah(ibv_pd *of)
	{
		ibv_ah_attr attr = {};

		attr.is_global = 1;
		attr.port_num = 1;
		attr.grh.dgid = device.gid();
		attr.grh.sgid_index = Device::gid_index();
		attr.grh.hop_limit = 64;
		ah = ibv_create_ah(of, &attr);
		return ah ? 0 : errno;
	}

	/** Returns 0 or an errno. */
	int create_ud_qp()
	{
		ibv_qp_init_attr attr = {};

		attr.send_cq = cq.get();
		attr.recv_cq = cq.get();
		attr.cap = { 16, 16, 4, 4, 64 };
		attr.qp_type = IBV_QPT_UD;
		qp = ibv_create_qp(pd.get(), &attr);
		return qp ? 0 : errno;
	}

	static Change ud_to_init()
	{
		Change change = to_state(IBV_QPS_INIT);

		change.attr.port_num = 1;
		change.attr.qkey = qkey;
		change.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
		return change;
	}

	static Change ud_to_rts()
	{
		Change change = to_state(IBV_QPS_RTS);

		change.attr.sq_psn = first_psn;
		change.mask |= IBV_QP_SQ_PSN;
		return change;
	}

	/** RESET to RTS. */
	void make_ready() const
	{
		ASSERT_EQ(modify(ud_to_init()), 0);
		ASSERT_EQ(modify(to_state(IBV_QPS_RTR)), 0);
		ASSERT_EQ(modify(ud_to_rts()), 0);
	}

	/** The request 1, to the QP itself. */
	Send letter(ibv_wr_opcode opcode, uint32_t length, unsigned flags = 0) const
	{
		return { .opcode = opcode,
			 .sges = { region.sge(0, length) },
			 .flags = IBV_SEND_SIGNALED | flags,
			 .id = 1,
			 .ah = ah,
			 .qpn = qp->qp_num,
			 .qkey = qkey };
	}

	/** Where it arrives, behind its header. */
	ibv_sge inbox(uint32_t length) const
	{
		return region.sge(at, BELLHOP_GRH_BYTES + length);
	}

	void expect_arrives() const
	{
		const uint8_t *got = region.memory.data() + at + BELLHOP_GRH_BYTES;

		fill({ region.memory.data(), 1000 }, 1);
		std::memset(region.memory.data() + at, 0, 2000);
		ASSERT_EQ(post_one_recv(inbox(1000), 2), 0);
		ASSERT_EQ(post_one(letter(IBV_WR_SEND, 1000)), 0);
		expect_both();
		EXPECT_EQ(std::memcmp(region.memory.data(), got, 1000), 0);
	}

private:
	static constexpr uint32_t qkey = 0x11111111;
	static constexpr size_t at = 16384;
};

} // namespace vm

#endif
