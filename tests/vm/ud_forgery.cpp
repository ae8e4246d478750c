// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ud_forgery.cpp: a datagram carries no source and no key that its sender must not have, whatever
// is written into the ring.
#include <linux/capability.h>
#include <sys/syscall.h>
#include "command.hpp"
#include "datagram.hpp"
#include "ktap.hpp"
#include "raw.hpp"
#include "seed.hpp"

namespace
{

using namespace vm;

constexpr uint32_t qkey = 0x11111111;

/* Written by hand: the kernel makes no handle of such an address. */
class Forgery : public testing::Test
{
protected:
	void SetUp() override
	{
		if (!is_bellhop())
			GTEST_SKIP() << "the rings are bellhop's";
		expect_command("ip address add 10.9.0.1/24 dev " + device_name());
		ASSERT_TRUE(comes_true([&] { return ipv4_index() >= 0; }))
			<< "the address makes no GID";
		std::mt19937 random(seed());
		a.fill(region, random);
		ASSERT_EQ(a.cycle({}), 0);
	}

	void TearDown() override
	{
		expect_command("ip address delete 10.9.0.1/24 dev " + device_name());
	}

	/* Whether a datagram arrives. */
	bool arrives(uint8_t sgid_index, const ibv_gid &dgid)
	{
		bellhop_av &av = a.datagram(sent_).av;

		EXPECT_EQ(post_recv(b.qp, { b.region.sge(0, 4096) }), 0);
		av.qpn = b.qp.get()->qp_num;
		av.sgid_index = sgid_index;
		std::memcpy(av.dgid, dgid.raw, sizeof(av.dgid));
		a.send->index() = ++sent_;
		EXPECT_EQ(lseek(find_kicks().at(0), a.qpn, SEEK_SET), 0);
		const std::optional<ibv_wc> wc = b.recv_cq.wait(0.05);
		return wc && wc->status == IBV_WC_SUCCESS;
	}

	Device device;
	Pd pd{ device };
	RawCq cq{ device };
	RawQp a{ device, pd, cq, IBV_QPT_UD };
	Region region{ pd, 8192 };
	Station b{ RawQp::qkey };
	const ibv_gid ipv4 = mapped_gid("10.9.0.1");
	/* Negative, if the port has none. */
	int ipv4_index() const
	{
		return device.find_gid(ipv4);
	}

private:
	uint32_t sent_ = 0;
};

/* An IPv4 header would have but the end of an IPv6 address, which may be somebody else's whole. */
TEST_F(Forgery, of_a_source_of_another_kind_gets_nowhere)
{
	const uint8_t ipv6_index = Device::gid_index();

	EXPECT_TRUE(arrives(ipv4_index(), ipv4));
	EXPECT_FALSE(arrives(ipv6_index, ipv4));
	EXPECT_FALSE(arrives(ipv4_index(), device.gid()));
	EXPECT_FALSE(arrives(ipv4_index() + 64, ipv4));
	EXPECT_TRUE(arrives(ipv6_index, device.gid()));
	EXPECT_EQ(a.qp->state(), IBV_QPS_RTS);
}

/* Returns 0 or an errno. */
int drop_capabilities()
{
	__user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3, .pid = 0 };
	const __user_cap_data_struct none[2] = {};

	return syscall(SYS_capset, &head, none) ? errno : 0;
}

/* A process that may have no such key of its own has no other way to one. */
int try_privileged_key()
{
	Station privileged(gsi_qkey);
	Send send = { .sges = { privileged.region.sge(0, 10) },
		      .ah = privileged.ah.get(),
		      .qpn = privileged.qp.get()->qp_num,
		      .qkey = gsi_qkey };

	for (int i = 0; i < 2; i++)
		EXPECT_EQ(post_recv(privileged.qp, { privileged.region.sge(0, 4096) }), 0);
	EXPECT_EQ(post(privileged.qp, send), 0);
	expect(privileged.recv_cq, privileged.qp, 0);
	EXPECT_EQ(drop_capabilities(), 0);
	Station station(qkey);

	send.sges = { station.region.sge(0, 10) };
	send.ah = station.ah.get();

	EXPECT_EQ(post(station.qp, send), 0);
	expect(station.send_cq, station.qp, 0);
	expect_none(privileged.recv_cq);
	EXPECT_EQ(station.qp.modify(to_state(IBV_QPS_RESET)), 0);
	EXPECT_EQ(station.qp.open(gsi_qkey), EPERM);
	EXPECT_EQ(station.qp.open(qkey), 0);
	Change change = to_state(IBV_QPS_RTS);

	change.attr.qkey = gsi_qkey;
	change.mask |= IBV_QP_QKEY;
	EXPECT_EQ(station.qp.modify(change), EPERM);
	return testing::Test::HasFailure();
}

TEST(PrivilegedKey, is_for_the_privileged)
{
	Child child(try_privileged_key);

	EXPECT_EQ(child.wait(2 * patience), 0);
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
