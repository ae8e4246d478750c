// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_datagram.cpp: address handles, multicast groups and datagrams with each of the
// allocations on the way failing.
#include "datagrams.hpp"
#include "group.hpp"
#include "sweep.hpp"
#include "trials.hpp"

using namespace vm;

class FailNthDatagram : public FaultTest, protected Datagrams
{
protected:
	void sweep_modify(const std::string &verb, const std::function<void()> &before,
			  const Change &change)
	{
		sweep("modify_qp of datagrams, " + verb,
		      changing(*this, before, change, [this] { expect_arrives(); }));
	}

	/* A datagram whose completions are waited for after the fault. */
	Trial sending(ibv_wr_opcode opcode, uint32_t length, unsigned flags = 0)
	{
		return { .call =
				 [=, this] {
					 const int error = post_one_recv(inbox(length), 2);
					 return error ? error
						      : post_one(letter(opcode, length, flags));
				 },
			 .check = [this] { expect_both(); } };
	}
};

/* A handle that a failure left behind would keep its domain from being freed. */
TEST_F(FailNthDatagram, address_handle)
{
	ibv_pd *own = nullptr;
	const auto alloc = [&] { ASSERT_TRUE(own = ibv_alloc_pd(device.get())); };
	const auto dealloc = [&] { EXPECT_EQ(ibv_dealloc_pd(own), 0) << "it is in use"; };

	sweep("create_ah", { .prepare = alloc,
			     .call = [&] { return create_ah(own); },
			     .refused =
				     [&] {
					     dealloc();
					     alloc();
				     },
			     .undo =
				     [&] {
					     EXPECT_EQ(ibv_destroy_ah(ah), 0);
					     dealloc();
				     } });
	sweep("destroy_ah", { .prepare =
				      [&] {
					      alloc();
					      ASSERT_EQ(create_ah(own), 0);
				      },
			      .call = [&] { return ibv_destroy_ah(ah); },
			      .undo = dealloc });
}

TEST_F(FailNthDatagram, qp)
{
	ASSERT_EQ(create_ah(pd.get()), 0);
	sweep("create_qp of datagrams", { .call = [&] { return create_ud_qp(); },
					  .check =
						  [&] {
							  make_ready();
							  expect_arrives();
						  },
					  .undo = [&] { destroy_qp(); } });
	sweep("destroy_qp of datagrams", destroying(
						 "qp",
						 [&] {
							 ASSERT_EQ(create_ud_qp(), 0);
							 make_ready();
							 expect_arrives();
						 },
						 [&] { return ibv_destroy_qp(qp); }));
	EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(FailNthDatagram, qp_and_its_states)
{
	const auto init = [&] { ASSERT_EQ(modify(ud_to_init()), 0); };
	const auto rtr = [&] {
		init();
		ASSERT_EQ(modify(to_state(IBV_QPS_RTR)), 0);
	};
	const auto rts = [&] { make_ready(); };

	ASSERT_EQ(create_ah(pd.get()), 0);
	ASSERT_EQ(create_ud_qp(), 0);
	sweep_modify(
		"RESET to INIT", [] {}, ud_to_init());
	sweep_modify("INIT to RTR", init, to_state(IBV_QPS_RTR));
	sweep_modify("RTR to RTS", rtr, ud_to_rts());
	sweep_modify("RTS to SQD", rts, to_state(IBV_QPS_SQD));
	sweep_modify("RTS to ERR", rts, to_state(IBV_QPS_ERR));
	sweep_modify("RTS to RESET", rts, to_state(IBV_QPS_RESET));
	destroy_qp();
	EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(FailNthDatagram, on_its_way)
{
	ASSERT_EQ(create_ah(pd.get()), 0);
	ASSERT_EQ(create_ud_qp(), 0);
	make_ready();
	for (uint32_t length : { 0u, 100u, 1024u })
		sweep("post, a datagram of " + std::to_string(length),
		      sending(IBV_WR_SEND, length));
	sweep("post, a datagram with immediate data", sending(IBV_WR_SEND_WITH_IMM, 100));
	sweep("post, a datagram inline", sending(IBV_WR_SEND, 50, IBV_SEND_INLINE));
	/* It is sent, and nobody hears of it. */
	sweep("post, a datagram to nobody", { .call =
						      [&] {
							      Send send = letter(IBV_WR_SEND, 100);

							      send.qpn = 0;
							      return post_one(send);
						      },
					      .check =
						      [&] {
							      EXPECT_EQ(cq.next().status,
									IBV_WC_SUCCESS);
							      EXPECT_FALSE(cq.poll());
						      } });
	destroy_qp();
	EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

class FailNthGroup : public FailNthDatagram
{
protected:
	const ibv_gid group = group_gid(1);

	int attach(uint16_t lid = 0)
	{
		return ibv_attach_mcast(qp, &group, lid);
	}

	int detach(uint16_t lid = 0)
	{
		return ibv_detach_mcast(qp, &group, lid);
	}

	/* Whether what the group gets comes here; the send is the request 1. */
	bool is_member(const AddressHandle &to_group)
	{
		Send send = letter(IBV_WR_SEND, 100);
		bool received = false;

		send.ah = to_group.get();
		send.qpn = group_qpn;
		EXPECT_EQ(post_one(send), 0);
		for (bool sent = false; !sent;) {
			const ibv_wc wc = cq.next();

			EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
			(wc.wr_id == 1 ? sent : received) = true;
		}
		return received;
	}

	/* With the group as it is now. */
	void sweep_both(const std::string &where)
	{
		AddressHandle to_group(pd, group);
		const auto expect_alone = [&] { EXPECT_FALSE(is_member(to_group)); };

		ASSERT_EQ(post_one_recv(inbox(1000), 2), 0);
		sweep("attach_mcast, " + where, { .call = [&] { return attach(); },
						  .refused = expect_alone,
						  .check =
							  [&] {
								  EXPECT_TRUE(is_member(to_group));
								  post_one_recv(inbox(1000), 2);
							  },
						  .undo = [&] { EXPECT_EQ(detach(), 0); } });
		sweep("detach_mcast, " + where, { .prepare = [&] { ASSERT_EQ(attach(), 0); },
						  .call = [&] { return detach(); },
						  .check = expect_alone });
	}
};

TEST_F(FailNthGroup, of_nobody_or_of_others)
{
	ASSERT_EQ(create_ud_qp(), 0);
	make_ready();
	sweep_both("a group of nobody");
	{
		Station other(1);
		Attachment attachment(other.qp, group);

		sweep_both("a group of another");
	}
	destroy_qp();
}

TEST_F(FailNthGroup, once_more)
{
	ASSERT_EQ(create_ud_qp(), 0);
	ASSERT_EQ(attach(), 0);
	sweep("attach_mcast, once more", { .call = [&] { return attach(1); },
					   .refused = [&] { EXPECT_EQ(detach(1), EINVAL); },
					   .undo = [&] { EXPECT_EQ(detach(1), 0); } });
	EXPECT_EQ(detach(), 0);
	destroy_qp();
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
