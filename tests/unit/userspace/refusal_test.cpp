// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// refusal_test.cpp: what the provider refuses to create before it asks the kernel.
#include <cerrno>
#include <gtest/gtest.h>
#include "completion_queue.hpp"
#include "pd.hpp"
#include "queue_pair.hpp"
#include "shared_queue.hpp"
#include "thread_domain.hpp"

namespace
{

using bellhop::ProtectionDomain;

class QueuePairRefusal : public testing::Test
{
protected:
	QueuePairRefusal()
	{
		attr_.qp_type = IBV_QPT_RC;
		attr_.comp_mask = IBV_QP_INIT_ATTR_PD;
		attr_.pd = &pd_;
		attr_.send_cq = attr_.recv_cq = &cq_;
	}

	void refused(int error)
	{
		errno = 0;
		EXPECT_EQ(bellhop::create_qp_ex(nullptr, &attr_), nullptr);
		EXPECT_EQ(errno, error);
	}

	ProtectionDomain pd_{};
	ibv_cq cq_{};
	ibv_qp_init_attr_ex attr_{};
};

TEST_F(QueuePairRefusal, OtherTypesAreNotSupported)
{
	attr_.qp_type = IBV_QPT_DRIVER;
	refused(EOPNOTSUPP);
}

TEST_F(QueuePairRefusal, FramesAreOnlySent)
{
	attr_.qp_type = IBV_QPT_RAW_PACKET;
	attr_.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr_.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	refused(EOPNOTSUPP);
}

TEST_F(QueuePairRefusal, FramesAreSpreadAsTheHashHasIt)
{
	std::uint8_t key[BELLHOP_HASH_KEY_BYTES]{};
	ibv_rwq_ind_table table{};

	attr_.qp_type = IBV_QPT_RAW_PACKET;
	attr_.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
	attr_.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			       .rx_hash_key_len = sizeof(key),
			       .rx_hash_key = key,
			       .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 };
	attr_.rwq_ind_tbl = &table;
	refused(EOPNOTSUPP); /* There is a queue to send. */
	attr_.send_cq = attr_.recv_cq = nullptr;
	attr_.rx_hash_conf.rx_hash_fields_mask |= IBV_RX_HASH_INNER;
	refused(EOPNOTSUPP);
	attr_.rx_hash_conf.rx_hash_fields_mask = 0;
	attr_.rx_hash_conf.rx_hash_function = 0;
	refused(EOPNOTSUPP);
	attr_.rx_hash_conf.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
	attr_.rx_hash_conf.rx_hash_key_len--;
	refused(EINVAL);
	attr_.rx_hash_conf.rx_hash_key_len++;
	attr_.rwq_ind_tbl = nullptr;
	refused(EINVAL);
	attr_.rwq_ind_tbl = &table;
	attr_.comp_mask &= ~std::uint32_t{ IBV_QP_INIT_ATTR_RX_HASH };
	refused(EINVAL);
	attr_.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH;
	attr_.qp_type = IBV_QPT_UD;
	refused(EOPNOTSUPP);
}

TEST_F(QueuePairRefusal, DatagramsHaveNoRemoteMemory)
{
	attr_.qp_type = IBV_QPT_UD;
	attr_.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr_.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
	refused(EOPNOTSUPP);
}

TEST_F(QueuePairRefusal, UnreliableConnectionsOnlySend)
{
	attr_.qp_type = IBV_QPT_UC;
	attr_.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	for (std::uint64_t operation :
	     { IBV_QP_EX_WITH_RDMA_READ, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
	       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, IBV_QP_EX_WITH_SEND_WITH_INV,
	       IBV_QP_EX_WITH_ATOMIC_WRITE }) {
		attr_.send_ops_flags = IBV_QP_EX_WITH_SEND | operation;
		refused(EOPNOTSUPP);
	}
}

TEST_F(QueuePairRefusal, OtherAttributesAreNotSupported)
{
	attr_.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr_.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	refused(EINVAL); /* It sends no datagrams. */
	attr_.qp_type = IBV_QPT_UD;
	attr_.create_flags |= IBV_QP_CREATE_SCATTER_FCS;
	refused(EOPNOTSUPP);
	attr_.qp_type = IBV_QPT_RC;
	attr_.create_flags = 0;
	attr_.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	refused(EOPNOTSUPP);
}

TEST_F(QueuePairRefusal, OtherOperationsAreNotSupported)
{
	attr_.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr_.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO;
	refused(EOPNOTSUPP);
}

TEST_F(QueuePairRefusal, APdAndBothCqsAreNeeded)
{
	attr_.recv_cq = nullptr;
	refused(EINVAL);
	attr_.recv_cq = &cq_;
	attr_.send_cq = nullptr;
	refused(EINVAL);
	attr_.send_cq = &cq_;
	attr_.comp_mask = 0;
	refused(EINVAL);
}

TEST_F(QueuePairRefusal, AnInitiatorNeedsAPdAndACq)
{
	attr_.qp_type = IBV_QPT_XRC_SEND;
	attr_.send_cq = nullptr;
	refused(EINVAL);
	attr_.send_cq = &cq_;
	attr_.comp_mask = 0;
	refused(EINVAL);
	attr_.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD;
	refused(EOPNOTSUPP);
}

TEST_F(QueuePairRefusal, ATargetNeedsAnXrcDomain)
{
	attr_.qp_type = IBV_QPT_XRC_RECV;
	refused(EINVAL);
	attr_.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	refused(EINVAL);
	attr_.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	refused(EOPNOTSUPP);
}

class SharedQueueRefusal : public testing::Test
{
protected:
	SharedQueueRefusal()
	{
		attr_.srq_type = IBV_SRQT_XRC;
		attr_.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				  IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		attr_.pd = &pd_;
		attr_.xrcd = &xrcd_;
		attr_.cq = &cq_;
	}

	void refused(int error)
	{
		errno = 0;
		EXPECT_EQ(bellhop::create_srq_ex(nullptr, &attr_), nullptr);
		EXPECT_EQ(errno, error);
	}

	ProtectionDomain pd_{};
	ibv_xrcd xrcd_{};
	ibv_cq cq_{};
	ibv_srq_init_attr_ex attr_{};
};

TEST_F(SharedQueueRefusal, OtherTypesAreNotSupported)
{
	attr_.srq_type = static_cast<ibv_srq_type>(3);
	refused(EOPNOTSUPP);
	attr_.srq_type = IBV_SRQT_XRC;
	attr_.comp_mask |= IBV_SRQ_INIT_ATTR_TM;
	refused(EOPNOTSUPP);
	/* Tags and an XRC domain. */
	attr_.srq_type = IBV_SRQT_TM;
	refused(EOPNOTSUPP);
}

TEST_F(SharedQueueRefusal, TagsNeedAPdAndACq)
{
	const std::uint32_t all = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				  IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;

	attr_.srq_type = IBV_SRQT_TM;
	for (std::uint32_t without :
	     { IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_CQ, IBV_SRQ_INIT_ATTR_TM }) {
		attr_.comp_mask = all & ~without;
		refused(EINVAL);
	}
}

TEST_F(SharedQueueRefusal, XrcNeedsAPdAnXrcDomainAndACq)
{
	const std::uint32_t all = attr_.comp_mask;

	for (std::uint32_t without :
	     { IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_XRCD, IBV_SRQ_INIT_ATTR_CQ }) {
		attr_.comp_mask = all & ~without;
		refused(EINVAL);
	}
	attr_.comp_mask = all;
	attr_.cq = nullptr;
	refused(EINVAL);
}

class CompletionQueueRefusal : public testing::Test
{
protected:
	CompletionQueueRefusal()
	{
		attr_.cqe = 16;
	}

	void refused(int error)
	{
		errno = 0;
		EXPECT_EQ(bellhop::create_cq_ex(nullptr, &attr_), nullptr);
		EXPECT_EQ(errno, error);
	}

	ibv_cq_init_attr_ex attr_{};
};

TEST_F(CompletionQueueRefusal, OtherFieldsAreNotSupported)
{
	for (std::uint64_t field : { IBV_WC_EX_WITH_CVLAN, IBV_WC_EX_WITH_FLOW_TAG }) {
		attr_.wc_flags = IBV_WC_STANDARD_FLAGS | field;
		refused(EOPNOTSUPP);
	}
}

TEST_F(CompletionQueueRefusal, TagsAndTheTimeOfDayHaveOnePlace)
{
	attr_.wc_flags = std::uint64_t{ IBV_WC_EX_WITH_TM_INFO } |
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	refused(EOPNOTSUPP);
}

TEST_F(CompletionQueueRefusal, OtherFlagsAreNotSupported)
{
	attr_.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr_.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	refused(EOPNOTSUPP);
	attr_.comp_mask = 1U << 7;
	refused(EOPNOTSUPP);
}

TEST_F(CompletionQueueRefusal, APlainPdIsNotAParentDomain)
{
	ProtectionDomain pd{};

	attr_.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	attr_.parent_domain = &pd;
	refused(EINVAL);
}

TEST(ParentDomain, HoldsItsPartsUntilItIsFreed)
{
	ibv_td_init_attr td_attr{};
	ibv_td *td = bellhop::alloc_td(nullptr, &td_attr);
	ProtectionDomain pd{};
	ibv_parent_domain_init_attr attr{};

	ASSERT_NE(td, nullptr);
	pd.handle = 77;
	attr.pd = &pd;
	attr.td = td;
	ibv_pd *parent = bellhop::alloc_parent_domain(nullptr, &attr);

	ASSERT_NE(parent, nullptr);
	EXPECT_EQ(parent->handle, 77U) << "the kernel takes it for its PD";
	EXPECT_TRUE(ProtectionDomain::of(parent)->is_single_threaded());
	EXPECT_EQ(bellhop::dealloc_pd(&pd), EBUSY);
	EXPECT_EQ(bellhop::dealloc_td(td), EBUSY);
	EXPECT_EQ(bellhop::dealloc_pd(parent), 0);
	EXPECT_EQ(bellhop::dealloc_td(td), 0);
	EXPECT_EQ(pd.users, 0U);
}

TEST(ParentDomain, WithoutAThreadDomainKeepsTheLocks)
{
	ProtectionDomain pd{};
	ibv_parent_domain_init_attr attr{};

	attr.pd = &pd;
	ibv_pd *parent = bellhop::alloc_parent_domain(nullptr, &attr);

	ASSERT_NE(parent, nullptr);
	EXPECT_TRUE(ProtectionDomain::of(parent)->is_parent());
	EXPECT_FALSE(ProtectionDomain::of(parent)->is_single_threaded());
	EXPECT_EQ(bellhop::dealloc_pd(parent), 0);
}

TEST(ParentDomain, RefusesWhatItDoesNotKnow)
{
	ProtectionDomain pd{};
	ProtectionDomain parent{};
	ibv_parent_domain_init_attr attr{};
	ibv_td_init_attr td_attr{};

	EXPECT_EQ(bellhop::alloc_parent_domain(nullptr, &attr), nullptr);
	EXPECT_EQ(errno, EINVAL) << "no PD";
	parent.protects = &pd;
	attr.pd = &parent;
	EXPECT_EQ(bellhop::alloc_parent_domain(nullptr, &attr), nullptr);
	EXPECT_EQ(errno, EINVAL) << "a parent of a parent";
	attr.pd = &pd;
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	EXPECT_EQ(bellhop::alloc_parent_domain(nullptr, &attr), nullptr);
	EXPECT_EQ(errno, EINVAL) << "an allocator without functions";
	attr.comp_mask = 1U << 7;
	EXPECT_EQ(bellhop::alloc_parent_domain(nullptr, &attr), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
	td_attr.comp_mask = 1;
	EXPECT_EQ(bellhop::alloc_td(nullptr, &td_attr), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

} // namespace
