// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mcast_self.cpp: a QP that does not want to hear itself gets no copy of what it sends to its
// groups, and all else as ever.
#include "group.hpp"
#include "ktap.hpp"

using namespace vm;

/* Two QPs of one program in one group, each of which can be deaf to itself, and one elsewhere. */
class OwnCopy : public testing::TestWithParam<bool>
{
protected:
	OwnCopy()
	{
		require(!speaker.open(group_qkey) && !neighbour.open(group_qkey), "to RTS");
	}

	void receive_one(const Qp &qp, uint64_t id)
	{
		ASSERT_EQ(
			post_recv(qp, { home.region.sge(letter_at, grh_bytes + letter_bytes) }, id),
			0);
	}

	void send(const Qp &qp)
	{
		ASSERT_EQ(post(qp, to_group(home, ah)), 0);
		expect(home.send_cq, qp, 1);
	}

	QpShape shape() const
	{
		return { .type = IBV_QPT_UD,
			 .flags = GetParam() ? unsigned(IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) : 0 };
	}

	const ibv_gid group = group_gid(3);
	Station home{ group_qkey }, far{ group_qkey };
	AddressHandle ah{ home.pd, group };
	Cq heard{ home.device, 64 };
	Qp speaker{ home.device, home.pd.get(), home.send_cq, heard, shape() };
	Qp neighbour{ home.device, home.pd.get(), home.send_cq, heard, shape() };
};

INSTANTIATE_TEST_SUITE_P(Deaf, OwnCopy, testing::Bool());

TEST_P(OwnCopy, comes_unless_it_is_not_wanted)
{
	Attachment at_speaker(speaker, group), at_neighbour(neighbour, group),
		at_far(far.qp, group);

	for (const Qp *qp : { &speaker, &neighbour }) {
		const Qp *other = qp == &speaker ? &neighbour : &speaker;

		receive_one(speaker, 10);
		receive_one(neighbour, 10);
		receive(far);
		send(*qp);
		expect(far.recv_cq, far.qp, 1);
		if (GetParam()) {
			expect(heard, *other, 10);
			EXPECT_FALSE(heard.wait(0.1)) << "its own copy";
			/* Its receive is still there, for the other's. */
			receive_one(*other, 11);
			receive(far);
			send(*other);
			expect(heard, *qp, 10);
			expect(far.recv_cq, far.qp, 1);
			/* Both begin anew. */
			send(*qp);
			expect(heard, *other, 11);
		} else {
			uint32_t numbers = 0;

			for (int i = 0; i < 2; i++)
				numbers ^= heard.next().qp_num;
			EXPECT_EQ(numbers, speaker.get()->qp_num ^ neighbour.get()->qp_num);
		}
	}
	EXPECT_FALSE(heard.wait(0.1));
}

TEST_P(OwnCopy, where_it_is_alone)
{
	Attachment alone(speaker, group);

	receive_one(speaker, 10);
	send(speaker);
	if (GetParam())
		EXPECT_FALSE(heard.wait(0.1));
	else
		expect(heard, speaker, 10);
}

/* That is no copy for a group. */
TEST_P(OwnCopy, a_datagram_to_itself_comes)
{
	Attachment member(speaker, group);

	receive_one(speaker, 10);
	ASSERT_EQ(post(speaker, { .opcode = IBV_WR_SEND,
				  .sges = { home.region.sge(0, 100) },
				  .id = 1,
				  .ah = home.ah.get(),
				  .qpn = speaker.get()->qp_num,
				  .qkey = group_qkey }),
		  0);
	expect(home.send_cq, speaker, 1);
	expect(heard, speaker, 10);
}

TEST(OwnCopyFlag, is_for_datagrams_alone)
{
	Device device;
	Pd pd(device);
	Cq cq(device, 16);
	const auto create = [&](ibv_qp_type type, uint32_t flags) {
		ibv_qp_init_attr_ex attr = {};

		attr.send_cq = attr.recv_cq = cq.get();
		attr.cap = cap_default;
		attr.qp_type = type;
		attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
		attr.pd = pd.get();
		attr.create_flags = flags;
		errno = 0;
		ibv_qp *qp = ibv_create_qp_ex(device.get(), &attr);
		const int error = errno;
		if (qp)
			ibv_destroy_qp(qp);
		return qp ? 0 : error;
	};

	EXPECT_EQ(create(IBV_QPT_UD, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB), 0);
	EXPECT_EQ(create(IBV_QPT_UD, 0), 0);
	EXPECT_EQ(create(IBV_QPT_RC, 0), 0);
	EXPECT_EQ(create(IBV_QPT_RC, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB), EINVAL);
	EXPECT_EQ(create(IBV_QPT_UC, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB), EINVAL);
	for (uint32_t flag : { IBV_QP_CREATE_SCATTER_FCS, IBV_QP_CREATE_CVLAN_STRIPPING,
			       IBV_QP_CREATE_SOURCE_QPN, IBV_QP_CREATE_PCI_WRITE_END_PADDING })
		EXPECT_EQ(create(IBV_QPT_UD, flag), EOPNOTSUPP) << flag;
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
