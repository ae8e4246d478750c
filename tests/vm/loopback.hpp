// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// loopback.hpp: a QP that can be its own peer, all that it needs, and traffic that shows whether
// all of it works.
#ifndef BELLHOP_VM_LOOPBACK_HPP
#define BELLHOP_VM_LOOPBACK_HPP

#include "request.hpp"

namespace vm
{

/** The QP is made and destroyed by hand, the rest is there. */
class Loopback
{
public:
	Device device;
	Pd pd{ device };
	Region region{ pd, 512 << 10 };
	Channel channel{ device };
	Cq cq{ device, 64, &channel };
	ibv_qp *qp = nullptr;

	/** Returns 0 or an errno. */
	int create_qp()
	{
		ibv_qp_init_attr attr = {};

		attr.send_cq = cq.get();
		attr.recv_cq = cq.get();
		attr.cap = { 16, 16, 4, 4, 64 };
		attr.qp_type = IBV_QPT_RC;
		qp = ibv_create_qp(pd.get(), &attr);
		return qp ? 0 : errno;
	}

	void destroy_qp()
	{
		EXPECT_EQ(ibv_destroy_qp(std::exchange(qp, nullptr)), 0);
	}

	/** Returns 0 or an errno. */
	int modify(Change change) const
	{
		return ibv_modify_qp(qp, &change.attr, change.mask);
	}

	ibv_qp_state state() const
	{
		ibv_qp_init_attr init;
		ibv_qp_attr attr = {};

		EXPECT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
		return attr.qp_state;
	}

	Address self() const
	{
		return { device.gid(), qp->qp_num };
	}

	/** RESET to RTS. */
	void connect() const
	{
		ASSERT_EQ(modify(to_init()), 0);
		ASSERT_EQ(modify(to_rtr(self())), 0);
		ASSERT_EQ(modify(to_rts()), 0);
	}

	/** Returns 0 or an errno. */
	int post_one(const Send &send) const
	{
		ibv_send_wr wr = to_wr(send), *bad;

		return ibv_post_send(qp, &wr, &bad);
	}

	/** Returns 0 or an errno. */
	int post_one_recv(ibv_sge sge, uint64_t id) const
	{
		ibv_recv_wr wr = {}, *bad;

		wr.wr_id = id;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		return ibv_post_recv(qp, &wr, &bad);
	}

	/** Expects one completion each of the requests 1 and 2, in any order. */
	void expect_both() const
	{
		uint64_t sum = 0;

		for (int i = 0; i < 2; i++) {
			const ibv_wc wc = cq.next();

			EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
			sum += wc.wr_id;
		}
		EXPECT_EQ(sum, 3u);
	}

	/** Sends @from's bytes to @to and looks at them. */
	void expect_moved(const ibv_sge &from, const ibv_sge &to) const
	{
		auto *source = reinterpret_cast<uint8_t *>(from.addr);
		auto *target = reinterpret_cast<uint8_t *>(to.addr);

		fill({ source, from.length }, 1);
		std::memset(target, 0, from.length);
		ASSERT_EQ(post_one_recv(to, 2), 0);
		ASSERT_EQ(post_one({ .sges = { from }, .id = 1 }), 0);
		expect_both();
		EXPECT_EQ(std::memcmp(source, target, from.length), 0);
	}

	void expect_works() const
	{
		expect_moved(region.sge(0, 5000), region.sge(16384, 5000));
	}
};

} // namespace vm

#endif
