// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// cq_ex.cpp: completions read field by field through ibv_cq_ex.
#include <arpa/inet.h>
#include "ktap.hpp"
#include "transfer.hpp"

using namespace vm;

static constexpr uint64_t fields = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |
				   IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP;

/* A session of polling, from the first completion to the end. */
class Poll
{
public:
	explicit Poll(ibv_cq_ex *cq) : cq_(cq) {}

	~Poll()
	{
		if (begun_)
			ibv_end_poll(cq_);
	}

	/** The next completion within @seconds. Returns 0 or ENOENT. */
	int next(double seconds = patience)
	{
		const Deadline deadline(seconds);
		int error;

		do {
			ibv_poll_cq_attr attr = {};

			error = begun_ ? ibv_next_poll(cq_) : ibv_start_poll(cq_, &attr);
		} while (error == ENOENT && !deadline.passed());
		begun_ |= !error;
		return error;
	}

private:
	ibv_cq_ex *cq_;
	bool begun_ = false;
};

class CqEx : public testing::Test
{
protected:
	explicit CqEx(uint64_t flags = fields)
	{
		ibv_cq_init_attr_ex attr = {};

		attr.cqe = 64;
		attr.wc_flags = flags;
		cq = ibv_create_cq_ex(device.get(), &attr);
		require_errno(cq, "ibv_create_cq_ex");
		ibv_qp_init_attr init = {};
		init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
		init.cap = cap_default;
		init.qp_type = IBV_QPT_RC;
		qp = ibv_create_qp(pd.get(), &init);
		require_errno(qp, "ibv_create_qp");
		peer.qp.connect({ device.gid(), qp->qp_num });
		for (Change change : { to_init(), to_rtr(peer.qp.address()), to_rts() })
			require(!ibv_modify_qp(qp, &change.attr, change.mask), "ibv_modify_qp");
	}

	~CqEx() override
	{
		ibv_destroy_qp(qp);
		ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	}

	void receive(uint64_t id)
	{
		ibv_sge sge = region.sge(0, 4096);
		ibv_recv_wr wr = {}, *bad;

		wr.wr_id = id;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		ASSERT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
	}

	Device device;
	Pd pd{ device };
	Endpoint peer;
	Region region{ pd, 4096 };
	Region peer_region{ peer.pd, 4096 };
	ibv_cq_ex *cq = nullptr;
	ibv_qp *qp = nullptr;
};

TEST_F(CqEx, is_empty_at_first)
{
	ibv_poll_cq_attr attr = {};

	EXPECT_EQ(ibv_start_poll(cq, &attr), ENOENT);
	/* A session that was not begun needs no end. */
	EXPECT_EQ(ibv_start_poll(cq, &attr), ENOENT);
}

TEST_F(CqEx, gives_the_fields_of_receives)
{
	for (uint64_t id = 0; id < 3; id++)
		receive(id);
	for (uint32_t i = 0; i < 3; i++)
		ASSERT_EQ(post(peer.qp, { .opcode = i == 2 ? IBV_WR_RDMA_WRITE_WITH_IMM
							   : IBV_WR_SEND_WITH_IMM,
					  .sges = { peer_region.sge(0, 100 + i) },
					  .remote = region.address(),
					  .rkey = region.mr.rkey(),
					  .imm = htonl(0xabc0 + i),
					  .id = i }),
			  0);
	Poll poll(cq);
	for (uint32_t i = 0; i < 3; i++) {
		ASSERT_EQ(poll.next(), 0);
		EXPECT_EQ(cq->wr_id, i);
		EXPECT_EQ(cq->status, IBV_WC_SUCCESS);
		EXPECT_EQ(ibv_wc_read_opcode(cq), i == 2 ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
		EXPECT_EQ(ibv_wc_read_byte_len(cq), 100 + i);
		EXPECT_EQ(ibv_wc_read_imm_data(cq), htonl(0xabc0 + i));
		EXPECT_EQ(ibv_wc_read_wc_flags(cq), unsigned(IBV_WC_WITH_IMM));
		EXPECT_EQ(ibv_wc_read_qp_num(cq), qp->qp_num);
		if (is_bellhop())
			EXPECT_EQ(ibv_wc_read_src_qp(cq), peer.qp.get()->qp_num);
	}
	EXPECT_EQ(poll.next(0), ENOENT);
}

TEST_F(CqEx, gives_the_fields_of_sends)
{
	for (uint64_t id = 0; id < 20; id++) {
		const ibv_wr_opcode opcode = all_opcodes[id % std::size(all_opcodes)];
		Send send = { .opcode = opcode,
			      .sges = { region.sge(0, 64) },
			      .remote = peer_region.address(),
			      .rkey = peer_region.mr.rkey(),
			      .id = id };
		ibv_send_wr wr = to_wr(send), *bad;

		if (takes_receive(opcode))
			ASSERT_EQ(post_recv(peer.qp, { peer_region.sge(0, 64) }, id), 0);
		ASSERT_EQ(ibv_post_send(qp, &wr, &bad), 0);
		/* One session for each, so that ends and beginnings are met too. */
		Poll poll(cq);
		ASSERT_EQ(poll.next(), 0);
		EXPECT_EQ(cq->wr_id, id);
		EXPECT_EQ(cq->status, IBV_WC_SUCCESS);
		EXPECT_EQ(ibv_wc_read_opcode(cq), send_wc_opcode(opcode));
		EXPECT_EQ(ibv_wc_read_qp_num(cq), qp->qp_num);
	}
}

TEST_F(CqEx, gives_the_reason_of_a_failure)
{
	Send send = { .sges = { { region.address(), 64, region.mr.lkey() ^ 0x00ffff00 } },
		      .id = 7 };
	ibv_send_wr wr = to_wr(send), *bad;

	ASSERT_EQ(post_recv(peer.qp, { peer_region.sge(0, 64) }, 1), 0);
	ASSERT_EQ(ibv_post_send(qp, &wr, &bad), 0);
	Poll poll(cq);
	ASSERT_EQ(poll.next(), 0);
	EXPECT_EQ(cq->wr_id, 7u);
	EXPECT_EQ(cq->status, IBV_WC_LOC_PROT_ERR);
	if (is_bellhop())
		EXPECT_EQ(ibv_wc_read_vendor_err(cq), uint32_t(BELLHOP_REASON_LKEY_UNKNOWN));
}

/* The same queue through ibv_poll_cq(). */
TEST_F(CqEx, is_an_ordinary_cq_as_well)
{
	ibv_wc wc;

	receive(1);
	ASSERT_EQ(post(peer.qp, { .sges = { peer_region.sge(0, 10) }, .id = 2 }), 0);
	expect(peer.send_cq, peer.qp, 2);
	ASSERT_EQ(ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 1u);
	EXPECT_EQ(wc.byte_len, 10u);
	EXPECT_EQ(ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc), 0);
}

/* As perftest creates it. */
class CqExPlain : public CqEx
{
protected:
	CqExPlain() : CqEx(0) {}
};

TEST_F(CqExPlain, without_any_field)
{
	receive(1);
	ASSERT_EQ(post(peer.qp, { .sges = { peer_region.sge(0, 10) }, .id = 2 }), 0);
	Poll poll(cq);
	ASSERT_EQ(poll.next(), 0);
	EXPECT_EQ(cq->wr_id, 1u);
	EXPECT_EQ(cq->status, IBV_WC_SUCCESS);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
