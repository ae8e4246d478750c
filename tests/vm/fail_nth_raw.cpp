// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_raw.cpp: raw packet QPs, flows, receive work queues and their tables, with each of their
// allocations failing, one at a time.
#include "sweep.hpp"
#include "trials.hpp"
#include "wq.hpp"

using namespace vm;

class FailNthRaw : public FaultTest
{
protected:
	RawStation a, b;
};

TEST_F(FailNthRaw, qp)
{
	ibv_qp *one = nullptr;
	const auto create = [&] {
		ibv_qp_init_attr attr = {};

		attr.send_cq = a.send_cq.get();
		attr.recv_cq = a.recv_cq.get();
		attr.cap = { 16, 16, 4, 4, 64 };
		attr.qp_type = IBV_QPT_RAW_PACKET;
		return (one = ibv_create_qp(a.pd.get(), &attr)) ? 0 : errno;
	};
	const auto destroy = [&] { return ibv_destroy_qp(one); };

	sweep("create_qp of raw packets",
	      { .call = create, .undo = [&] { EXPECT_EQ(destroy(), 0); } });
	sweep("destroy_qp of raw packets", destroying(
						   "qp", [&] { ASSERT_EQ(create(), 0); }, destroy));
}

TEST_F(FailNthRaw, flow)
{
	for (ibv_flow_attr_type type : { IBV_FLOW_ATTR_NORMAL, IBV_FLOW_ATTR_ALL_DEFAULT,
					 IBV_FLOW_ATTR_MC_DEFAULT, IBV_FLOW_ATTR_SNIFFER }) {
		const std::string kind = " of type " + std::to_string(type);
		ibv_flow *one = nullptr;
		/* Without headers, for which the core allocates two things and forgets one of
		 * them when the other cannot be had. */
		const auto create = [&] {
			return (one = create_flow(a.qp.get(), {}, { .type = type })) ? 0 : errno;
		};
		const auto destroy = [&] { return ibv_destroy_flow(one); };

		sweep("create_flow" + kind,
		      { .call = create, .undo = [&] { EXPECT_EQ(destroy(), 0); } });
		sweep("destroy_flow" + kind,
		      { .prepare = [&] { ASSERT_EQ(create(), 0); }, .call = destroy });
	}
}

TEST_F(FailNthRaw, work_queue)
{
	ibv_wq *one = nullptr;
	const auto create = [&] {
		ibv_wq_init_attr attr = {};

		attr.wq_type = IBV_WQT_RQ;
		attr.max_wr = 300;
		attr.max_sge = 2;
		attr.pd = a.pd.get();
		attr.cq = a.recv_cq.get();
		return (one = ibv_create_wq(a.device.get(), &attr)) ? 0 : errno;
	};
	const auto destroy = [&] { return ibv_destroy_wq(one); };
	std::vector<Mapping> maps;

	sweep("create_wq", { .call = create, .undo = [&] { EXPECT_EQ(destroy(), 0); } });
	/* As destroying() has it; but nobody tells how many there are. */
	sweep("destroy_wq",
	      { .prepare = [&] { maps = new_mappings([&] { ASSERT_EQ(create(), 0); }); },
		.call = destroy,
		.settle =
			[&](int error, bool) {
				if (error != EFAULT || !destroy())
					return error == EFAULT ? 0 : error;
				for (const Mapping &map : maps)
					EXPECT_EQ(munmap(map.start, map.length), 0);
				return 0;
			} });
}

TEST_F(FailNthRaw, table)
{
	std::vector<Wq> queues;

	queues.emplace_back(a.pd, a.recv_cq);
	queues.emplace_back(a.pd, a.recv_cq);
	ibv_wq *entries[] = { queues[0].get(), queues[1].get() };
	ibv_rwq_ind_table *one = nullptr;
	const auto create = [&] {
		ibv_rwq_ind_table_init_attr attr = {};

		attr.log_ind_tbl_size = 1;
		attr.ind_tbl = entries;
		return (one = ibv_create_rwq_ind_table(a.device.get(), &attr)) ? 0 : errno;
	};
	const auto destroy = [&] { return ibv_destroy_rwq_ind_table(one); };

	sweep("create_rwq_ind_table", { .call = create, .undo = [&] { EXPECT_EQ(destroy(), 0); } });
	sweep("destroy_rwq_ind_table",
	      { .prepare = [&] { ASSERT_EQ(create(), 0); }, .call = destroy });

	const Table table(a.device, queues, 1);
	ibv_qp *qp = nullptr;
	sweep("create_qp with a table", { .call =
						  [&] {
							  qp = SpreadQp::create(a.pd, table, 0xff);
							  return qp ? 0 : errno;
						  },
					  .undo = [&] { EXPECT_EQ(ibv_destroy_qp(qp), 0); } });
}

/* A frame without memory is lost, and nobody is told. */
TEST_F(FailNthRaw, traffic)
{
	const Packet packet = Packet(0x88b5).pad(100);
	Flow flow(b.qp, {}), sniffer(b.qp, {}, { .type = IBV_FLOW_ATTR_SNIFFER });

	sweep("post_send of a frame",
	      { .prepare = [&] { b.receive(2); },
		.call = [&] { return post(a.qp, a.request(packet.bytes())); },
		.check = [&] { expect(a.send_cq, a.qp, 1); },
		.undo =
			[&] {
				/* What is sniffed comes a little later. */
				while (b.next(0.02))
					;
			} });
	b.receive();
	a.send(packet);
	b.expect_frame(packet);
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
