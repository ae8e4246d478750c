// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_tag.cpp: queues that match tags, with each of their allocations failing, one at a time.
#include "sweep.hpp"
#include "tag.hpp"
#include "trials.hpp"

using namespace vm;

class FailNthTag : public FaultTest
{
protected:
	FailNthTag() : line(end), region(end.pd, 8192) {}

	int add() const
	{
		return end.srq.post({ .recv_id = 1, .sges = { region.sge(0, 4096) }, .tag = 5 });
	}

	void expect_added() const
	{
		end.cq.expect(0, IBV_WC_TM_ADD, 0);
	}

	/* By a message. */
	void take_out()
	{
		line.send_eager(5, 10);
		end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
		expect(line.from.send_cq, line.from.qp, 1);
	}

	TagEnd end;
	TagLine line;
	Region region;
};

TEST_F(FailNthTag, queue)
{
	ibv_srq *one = nullptr;
	const auto create = [&] {
		ibv_srq_init_attr_ex attr = {};

		attr.attr = { 64, 2, 0 };
		attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				 IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
		attr.srq_type = IBV_SRQT_TM;
		attr.pd = end.pd.get();
		attr.cq = end.cq.get();
		attr.tm_cap = { 1024, 16 };
		return (one = ibv_create_srq_ex(end.device.get(), &attr)) ? 0 : errno;
	};
	const auto destroy = [&] { return ibv_destroy_srq(one); };

	sweep("create_srq with tags", { .call = create, .undo = [&] { EXPECT_EQ(destroy(), 0); } });
	sweep("destroy_srq with tags", destroying(
					       "srq", [&] { ASSERT_EQ(create(), 0); }, destroy));
}

TEST_F(FailNthTag, buffer)
{
	sweep("post_srq_ops", { .call = [&] { return add(); },
				.check = [&] { expect_added(); },
				.undo = [&] { take_out(); } });
}

/* Messages need no memory, or do without. */
TEST_F(FailNthTag, traffic)
{
	const auto prepare = [&] {
		ASSERT_EQ(add(), 0);
		expect_added();
	};

	sweep("post_send to a tagged buffer",
	      { .prepare = prepare,
		.call =
			[&] {
				line.send_eager(5, 10);
				return 0;
			},
		.check =
			[&] {
				end.cq.expect(1, IBV_WC_TM_RECV,
					      IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
				expect(line.from.send_cq, line.from.qp, 1);
			} });
	sweep("post_send of a rendezvous",
	      { .prepare =
			[&] {
				prepare();
				ASSERT_EQ(post_recv(line.from.qp, { line.region.sge(4096, 32) }, 9),
					  0);
			},
		.call =
			[&] {
				line.send(rendezvous_header(5, line.region.address(8192),
							    line.region.mr.rkey(), 100),
					  sizeof(TagHeader));
				return 0;
			},
		.check =
			[&] {
				end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
				end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
				expect(line.from.send_cq, line.from.qp, 1);
				expect(line.from.recv_cq, line.from.qp, 9);
			} });
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
