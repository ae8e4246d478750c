// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// work_request_test.cpp: sessions of ibv_wr_* calls, with and without locks.
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include "endpoint.hpp"
#include "work_request.hpp"

namespace
{

constexpr std::uint32_t QPN = 0x789;
constexpr std::uint32_t RKEY = 0x55667788;
constexpr std::uint64_t REMOTE = 0x1020304050607080;
constexpr __be32 IMM = 0x0d0c0b0a;

class WorkRequestTest : public testing::TestWithParam<bool>
{
protected:
	WorkRequestTest() : around_(GetParam()), end_(around_, QPN), calls_(&end_.qp.qp_ex)
	{
		bellhop::offer_work_requests(end_.qp,
					     bellhop::work_requests_of(bellhop::SERVICE_RC));
		calls_->wr_flags = IBV_SEND_SIGNALED;
	}

	// Ends the session and reads its only entry.
	bellhop_send_wqe complete_one()
	{
		EXPECT_EQ(ibv_wr_complete(calls_), 0);
		EXPECT_EQ(end_.sq.pending(), 1);
		bellhop_send_wqe wqe = end_.take_send();

		EXPECT_EQ(end_.sq.reason, BELLHOP_REASON_NONE);
		return wqe;
	}

	// A session that must fail, and leave nothing behind.
	void complete_with(int error)
	{
		EXPECT_EQ(ibv_wr_complete(calls_), error);
		EXPECT_EQ(end_.sq.pending(), 0);
		EXPECT_TRUE(kick_record().empty());
	}

	Surroundings around_;
	Endpoint end_;
	ibv_qp_ex *calls_;
};

INSTANTIATE_TEST_SUITE_P(Locked, WorkRequestTest, testing::Bool());

TEST_P(WorkRequestTest, EveryOperationArrives)
{
	struct {
		void (*build)(ibv_qp_ex *);
		int opcode;
		__u32 ex, rkey;
		std::uint64_t remote_addr;
	} const cases[] = {
		{ [](ibv_qp_ex *qp) { ibv_wr_send(qp); }, IBV_WR_SEND, 0, 0, 0 },
		{ [](ibv_qp_ex *qp) { ibv_wr_send_imm(qp, IMM); }, IBV_WR_SEND_WITH_IMM, IMM, 0,
		  0 },
		{ [](ibv_qp_ex *qp) { ibv_wr_rdma_write(qp, RKEY, REMOTE); }, IBV_WR_RDMA_WRITE, 0,
		  RKEY, REMOTE },
		{ [](ibv_qp_ex *qp) { ibv_wr_rdma_write_imm(qp, RKEY, REMOTE, IMM); },
		  IBV_WR_RDMA_WRITE_WITH_IMM, IMM, RKEY, REMOTE },
		{ [](ibv_qp_ex *qp) { ibv_wr_rdma_read(qp, RKEY, REMOTE); }, IBV_WR_RDMA_READ, 0,
		  RKEY, REMOTE },
	};

	for (const auto &c : cases) {
		ibv_wc wc;

		calls_->wr_id = 1000 + c.opcode;
		ibv_wr_start(calls_);
		c.build(calls_);
		ibv_wr_set_sge(calls_, 9, 0x2000, 33);
		bellhop_send_wqe wqe = complete_one();

		EXPECT_EQ(wqe.head.opcode, c.opcode);
		EXPECT_EQ(wqe.head.flags, BELLHOP_SQE_SIGNALED);
		EXPECT_EQ(wqe.head.ex, c.ex);
		EXPECT_EQ(wqe.head.rkey, c.rkey);
		EXPECT_EQ(wqe.head.remote_addr, c.remote_addr);
		ASSERT_EQ(wqe.head.num_sge, 1);
		EXPECT_EQ(wqe.sge[0].addr, 0x2000U);
		EXPECT_EQ(wqe.sge[0].length, 33U);
		EXPECT_EQ(wqe.sge[0].lkey, 9U);

		ASSERT_EQ(around_.cq_end.push_send(QPN, end_.sq.index), 0);
		ASSERT_EQ(bellhop::poll_cq(&around_.cq.cq, 1, &wc), 1);
		EXPECT_EQ(wc.wr_id, 1000U + c.opcode);
	}
}

TEST_P(WorkRequestTest, AtomicsArriveWithTheirOperands)
{
	std::uint64_t result;
	const auto addr = reinterpret_cast<std::uintptr_t>(&result);

	ibv_wr_start(calls_);
	ibv_wr_atomic_cmp_swp(calls_, RKEY, REMOTE, 3, 4);
	ibv_wr_set_sge(calls_, 9, addr, sizeof(result));
	bellhop_send_wqe wqe = complete_one();
	EXPECT_EQ(wqe.head.opcode, IBV_WR_ATOMIC_CMP_AND_SWP);
	EXPECT_EQ(wqe.head.rkey, RKEY);
	EXPECT_EQ(wqe.head.remote_addr, REMOTE);
	EXPECT_EQ(wqe.operands.compare_add, 3U);
	EXPECT_EQ(wqe.operands.swap, 4U);
	EXPECT_EQ(wqe.sge[0].addr, addr);

	ibv_wr_start(calls_);
	ibv_wr_atomic_fetch_add(calls_, RKEY, REMOTE, 5);
	ibv_wr_set_sge(calls_, 9, addr, sizeof(result));
	wqe = complete_one();
	EXPECT_EQ(wqe.head.opcode, IBV_WR_ATOMIC_FETCH_AND_ADD);
	EXPECT_EQ(wqe.operands.compare_add, 5U);
	EXPECT_EQ(wqe.operands.swap, 0U);
}

TEST_P(WorkRequestTest, AnAtomicWriteBringsItsWord)
{
	const std::uint8_t word[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	ibv_wr_start(calls_);
	ibv_wr_atomic_write(calls_, RKEY, REMOTE, word);
	const bellhop_send_wqe wqe = complete_one();
	EXPECT_EQ(wqe.head.opcode, IBV_WR_ATOMIC_WRITE);
	EXPECT_EQ(wqe.head.rkey, RKEY);
	EXPECT_EQ(wqe.head.remote_addr, REMOTE);
	EXPECT_EQ(wqe.length, sizeof(word));
	EXPECT_EQ(std::memcmp(&wqe.operands.compare_add, word, sizeof(word)), 0);
}

TEST_P(WorkRequestTest, WindowsAreBoundAndInvalidated)
{
	ibv_mr mr{};
	ibv_mw mw{};
	const ibv_mw_bind_info info = { &mr, REMOTE, 77, IBV_ACCESS_REMOTE_READ };

	mr.lkey = 9;
	mw.type = IBV_MW_TYPE_2;
	mw.rkey = RKEY;
	ibv_wr_start(calls_);
	ibv_wr_bind_mw(calls_, &mw, ibv_inc_rkey(RKEY), &info);
	bellhop_send_wqe wqe = complete_one();
	EXPECT_EQ(wqe.head.opcode, IBV_WR_BIND_MW);
	EXPECT_EQ(wqe.head.ex, ibv_inc_rkey(RKEY));
	EXPECT_EQ(wqe.bind.addr, REMOTE);
	EXPECT_EQ(wqe.bind.length, 77U);
	EXPECT_EQ(wqe.bind.lkey, 9U);

	ibv_wr_start(calls_);
	ibv_wr_local_inv(calls_, RKEY);
	wqe = complete_one();
	EXPECT_EQ(wqe.head.opcode, IBV_WR_LOCAL_INV);
	EXPECT_EQ(wqe.head.ex, RKEY);
	EXPECT_EQ(wqe.head.num_sge, 0);

	ibv_wr_start(calls_);
	ibv_wr_send_inv(calls_, RKEY);
	ibv_wr_set_sge(calls_, 9, REMOTE, 5);
	wqe = complete_one();
	EXPECT_EQ(wqe.head.opcode, IBV_WR_SEND_WITH_INV);
	EXPECT_EQ(wqe.head.ex, RKEY);
	EXPECT_EQ(wqe.head.rkey, 0U);
	EXPECT_EQ(wqe.length, 5U);

	// What cannot be bound is told by complete, and the queue is as it was.
	mw.type = IBV_MW_TYPE_1;
	ibv_wr_start(calls_);
	ibv_wr_bind_mw(calls_, &mw, RKEY, &info);
	EXPECT_EQ(ibv_wr_complete(calls_), EINVAL);
	EXPECT_EQ(end_.sq.pending(), 0);
}

TEST_P(WorkRequestTest, NothingIsSeenBeforeComplete)
{
	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_send(calls_);
	EXPECT_EQ(end_.sq.pending(), 0);
	EXPECT_TRUE(kick_record().empty());
	EXPECT_EQ(ibv_wr_complete(calls_), 0);
	EXPECT_EQ(end_.sq.pending(), 2);
	EXPECT_EQ(kick_record(), std::vector<std::uint32_t>{ QPN });
}

TEST_P(WorkRequestTest, AnEntryWithoutPayloadIsEmpty)
{
	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	EXPECT_EQ(complete_one().length, 0U);
}

TEST_P(WorkRequestTest, ListsOfElementsArriveInOrder)
{
	std::array<ibv_sge, 4> sges;

	for (std::uint32_t i = 0; i < sges.size(); i++)
		sges[i] = { .addr = 0x1000ULL * i, .length = 1U << i, .lkey = i };
	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_sge_list(calls_, sges.size(), sges.data());
	bellhop_send_wqe wqe = complete_one();

	EXPECT_EQ(wqe.length, 15U);
	EXPECT_EQ(std::memcmp(wqe.sge, sges.data(), sizeof(sges)), 0);
}

TEST_P(WorkRequestTest, InlineBytesAreTakenAtOnce)
{
	char text[] = "bags";

	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_inline_data(calls_, text, 4);
	std::memset(text, 'x', 4);
	bellhop_send_wqe wqe = complete_one();

	EXPECT_EQ(wqe.length, 4U);
	EXPECT_EQ(std::memcmp(wqe.data, "bags", 4), 0);
}

TEST_P(WorkRequestTest, InlineListsAreGathered)
{
	char text[] = "carries your bags";
	const std::array<ibv_data_buf, 3> bufs = { {
		{ .addr = text, .length = 8 },
		{ .addr = nullptr, .length = 0 },
		{ .addr = text + 12, .length = 5 },
	} };

	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_inline_data_list(calls_, bufs.size(), bufs.data());
	bellhop_send_wqe wqe = complete_one();

	EXPECT_EQ(wqe.length, 13U);
	EXPECT_EQ(std::memcmp(wqe.data, "carries  bags", 13), 0);
}

TEST_P(WorkRequestTest, TheLastPayloadCounts)
{
	char text[] = "bags";

	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_inline_data(calls_, text, 4);
	ibv_wr_set_sge(calls_, 9, 0x2000, 33);
	bellhop_send_wqe wqe = complete_one();

	EXPECT_EQ(wqe.head.flags, BELLHOP_SQE_SIGNALED);
	EXPECT_EQ(wqe.length, 33U);
}

TEST_P(WorkRequestTest, TheInlineFlagMeansNothingHere)
{
	calls_->wr_flags = IBV_SEND_INLINE | IBV_SEND_FENCE;
	ibv_wr_start(calls_);
	ibv_wr_rdma_read(calls_, RKEY, REMOTE);
	ibv_wr_set_sge(calls_, 9, 0x2000, 33);
	EXPECT_EQ(complete_one().head.flags, BELLHOP_SQE_FENCE);
}

TEST_P(WorkRequestTest, RefusesWhatDoesNotFit)
{
	std::array<ibv_sge, 5> sges{};
	std::array<char, 65> bytes{};
	// 16 + (2^64 - 8) is 8.
	const std::array<ibv_data_buf, 2> wrapping = { {
		{ .addr = bytes.data(), .length = 16 },
		{ .addr = bytes.data(), .length = ~std::size_t{ 7 } },
	} };

	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_sge_list(calls_, sges.size(), sges.data());
	complete_with(EINVAL);

	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_inline_data(calls_, bytes.data(), bytes.size());
	complete_with(EINVAL);

	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_inline_data_list(calls_, wrapping.size(), wrapping.data());
	complete_with(EINVAL);

	ibv_wr_start(calls_);
	ibv_wr_rdma_read(calls_, RKEY, REMOTE);
	ibv_wr_set_inline_data(calls_, bytes.data(), 1);
	complete_with(EINVAL);

	calls_->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	complete_with(EINVAL);
}

TEST_P(WorkRequestTest, RefusesAPayloadWithoutAnEntry)
{
	ibv_wr_start(calls_);
	ibv_wr_set_sge(calls_, 9, 0x2000, 33);
	complete_with(EINVAL);
}

TEST_P(WorkRequestTest, OneErrorUndoesTheSession)
{
	std::array<ibv_sge, 5> sges{};

	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_sge_list(calls_, sges.size(), sges.data());
	ibv_wr_send(calls_);
	complete_with(EINVAL);

	// And no slot is lost, nor an error kept.
	ibv_wr_start(calls_);
	for (std::uint32_t i = 0; i < Endpoint::SLOTS; i++)
		ibv_wr_send(calls_);
	EXPECT_EQ(ibv_wr_complete(calls_), 0);
	EXPECT_EQ(end_.sq.pending(), 4);
}

TEST_P(WorkRequestTest, AFullQueueRefusesTheSession)
{
	ibv_wr_start(calls_);
	for (std::uint32_t i = 0; i <= Endpoint::SLOTS; i++) {
		ibv_wr_send(calls_);
		ibv_wr_set_sge(calls_, 9, 0x2000, 33);
	}
	complete_with(ENOMEM);
}

TEST_P(WorkRequestTest, AbortPostsNothing)
{
	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_abort(calls_);
	EXPECT_EQ(end_.sq.pending(), 0);
	EXPECT_TRUE(kick_record().empty());

	ibv_wr_start(calls_);
	ibv_wr_rdma_write(calls_, RKEY, REMOTE);
	EXPECT_EQ(complete_one().head.opcode, IBV_WR_RDMA_WRITE);
	EXPECT_EQ(end_.sq.index, 0U);
}

TEST_P(WorkRequestTest, AnEmptySessionIsFine)
{
	ibv_wr_start(calls_);
	complete_with(0);
}

TEST_P(WorkRequestTest, TheStateIsChecked)
{
	end_.qp.enter(IBV_QPS_RTR);
	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	complete_with(EINVAL);
}

class XrcRequestTest : public testing::Test
{
protected:
	XrcRequestTest() : end_(around_, QPN, bellhop::SERVICE_XRC), calls_(&end_.qp.qp_ex)
	{
		end_.qp.qp.qp_type = IBV_QPT_XRC_SEND;
		bellhop::offer_work_requests(end_.qp,
					     bellhop::work_requests_of(bellhop::SERVICE_XRC));
	}

	static constexpr bellhop_wqe_limits LIMITS = { 4, 64, BELLHOP_SERVICE_XRC };

	Surroundings around_;
	Endpoint end_;
	ibv_qp_ex *calls_;
};

TEST_F(XrcRequestTest, EachEntryNamesAnSrq)
{
	ibv_wr_start(calls_);
	for (std::uint32_t srqn : { 1U, std::uint32_t{ BELLHOP_SRQN_MAX } }) {
		ibv_wr_rdma_write(calls_, RKEY, REMOTE);
		ibv_wr_set_xrc_srqn(calls_, srqn);
		ibv_wr_set_sge(calls_, 9, 0x2000, 33);
	}
	ibv_wr_local_inv(calls_, RKEY);
	ASSERT_EQ(ibv_wr_complete(calls_), 0);
	EXPECT_EQ(end_.sq.pending(), 3);
	for (std::uint32_t srqn : { 1U, std::uint32_t{ BELLHOP_SRQN_MAX }, 0U }) {
		EXPECT_EQ(end_.sq.take_send(LIMITS).head.srqn, srqn);
		EXPECT_EQ(end_.sq.reason, BELLHOP_REASON_NONE);
	}
}

TEST_F(XrcRequestTest, RefusesAnEntryWithoutOne)
{
	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	EXPECT_EQ(ibv_wr_complete(calls_), EINVAL);
	ibv_wr_start(calls_);
	ibv_wr_send(calls_);
	ibv_wr_set_xrc_srqn(calls_, BELLHOP_SRQN_MAX + 1);
	EXPECT_EQ(ibv_wr_complete(calls_), EINVAL);
	ibv_wr_start(calls_);
	ibv_wr_set_xrc_srqn(calls_, 1);
	EXPECT_EQ(ibv_wr_complete(calls_), EINVAL);
	EXPECT_EQ(end_.sq.pending(), 0);
}

TEST(WorkRequest, OffersWhatWasAskedFor)
{
	bellhop::QueuePair qp(true);

	bellhop::offer_work_requests(qp, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ);
	EXPECT_NE(qp.qp_ex.wr_send, nullptr);
	EXPECT_NE(qp.qp_ex.wr_rdma_read, nullptr);
	EXPECT_EQ(qp.qp_ex.wr_rdma_write, nullptr);
	EXPECT_EQ(qp.qp_ex.wr_send_imm, nullptr);
	EXPECT_NE(qp.qp_ex.wr_complete, nullptr);
}

} // namespace
