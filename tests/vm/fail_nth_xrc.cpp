// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_xrc.cpp: verbs of XRC with each of their allocations failing, one at a time.
#include "sweep.hpp"
#include "trials.hpp"
#include "xrc.hpp"

using namespace vm;

class FailNthXrc : public FaultTest
{
protected:
	Device device;
	SharedFile file;
	Xrcd xrcd{ device };
	Receiver b{ device, xrcd };
	Qp target{ device, xrcd.get() };
	Initiator a;
};

TEST_F(FailNthXrc, domain)
{
	for (int fd : { -1, file.fd() }) {
		const std::string kind = fd < 0 ? "" : " of a file";
		ibv_xrcd *one = nullptr;
		const auto open = [&] {
			return (one = Xrcd::open(device, fd, O_CREAT)) ? 0 : errno;
		};
		const auto close = [&] { return ibv_close_xrcd(one); };

		sweep("open_xrcd" + kind, { .call = open, .undo = [&] { EXPECT_EQ(close(), 0); } });
		sweep("close_xrcd" + kind,
		      { .prepare = [&] { ASSERT_EQ(open(), 0); }, .call = close });
	}
}

TEST_F(FailNthXrc, srq)
{
	ibv_srq *one = nullptr;
	const auto create = [&] {
		ibv_srq_init_attr_ex attr = {};

		attr.attr = { 300, 4, 0 };
		attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				 IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		attr.srq_type = IBV_SRQT_XRC;
		attr.pd = b.pd.get();
		attr.xrcd = xrcd.get();
		attr.cq = b.cq.get();
		return (one = ibv_create_srq_ex(device.get(), &attr)) ? 0 : errno;
	};
	const auto destroy = [&] { return ibv_destroy_srq(one); };

	sweep("create_srq_ex", { .call = create,
				 .check =
					 [&] {
						 uint32_t number = 0;

						 EXPECT_EQ(ibv_get_srq_num(one, &number), 0);
						 EXPECT_GT(number, 0u);
					 },
				 .undo = [&] { EXPECT_EQ(destroy(), 0); } });
	sweep("destroy_srq of XRC", destroying(
					    "srq", [&] { ASSERT_EQ(create(), 0); }, destroy));
}

/* Not that it is made: where that fails, the core counts it as a user of its domain for ever. */
TEST_F(FailNthXrc, target)
{
	ibv_qp *one = nullptr;
	const auto open = [&] {
		ibv_qp_open_attr attr = {};

		attr.comp_mask =
			IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
		attr.qp_num = target.get()->qp_num;
		attr.xrcd = xrcd.get();
		attr.qp_type = IBV_QPT_XRC_RECV;
		return (one = ibv_open_qp(device.get(), &attr)) ? 0 : errno;
	};

	sweep("open_qp", { .call = open, .undo = [&] { EXPECT_EQ(ibv_destroy_qp(one), 0); } });
}

TEST_F(FailNthXrc, initiator)
{
	ibv_qp *one = nullptr;
	const auto create = [&] {
		ibv_qp_init_attr_ex attr = {};

		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		attr.pd = a.pd.get();
		attr.send_cq = a.cq.get();
		attr.cap = { 16, 0, 4, 0, 64 };
		attr.qp_type = IBV_QPT_XRC_SEND;
		return (one = ibv_create_qp_ex(a.device.get(), &attr)) ? 0 : errno;
	};
	const auto destroy = [&] { return ibv_destroy_qp(one); };

	sweep("create_qp of an initiator",
	      { .call = create, .undo = [&] { EXPECT_EQ(destroy(), 0); } });
	sweep("destroy_qp of an initiator",
	      destroying(
		      "qp", [&] { ASSERT_EQ(create(), 0); }, destroy));
}

/* Messages need no memory, or do without. */
TEST_F(FailNthXrc, traffic)
{
	a.connect(target);
	sweep("post_send to an SRQ of XRC",
	      { .prepare = [&] { b.receive(1); },
		.call =
			[&] {
				return post(a.qp, { .sges = { a.region.sge(0, 4096) },
						    .id = 1,
						    .srqn = b.srq.number() });
			},
		.check =
			[&] {
				expect(a.cq, a.qp, 1);
				expect(b.cq, target, 1);
			} });
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
