// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mcast_members.cpp: QPs are attached to multicast groups and detached, up to the limits, under
// traffic, by dying, and on two links.
#include <atomic>
#include <deque>
#include <thread>
#include "endpoint.hpp"
#include "group.hpp"
#include "site.hpp"

namespace
{

using namespace vm;

constexpr uint32_t qkey = group_qkey, length = letter_bytes;

TEST(Attaching, refuses_what_makes_no_sense)
{
	Station station(qkey);
	Endpoint connected;
	const ibv_gid group = group_gid(1), other = group_gid(2);
	ibv_gid broadcast = mapped_gid("255.255.255.255");

	EXPECT_EQ(ibv_attach_mcast(connected.qp.get(), &group, 0), EINVAL);
	EXPECT_EQ(ibv_detach_mcast(connected.qp.get(), &group, 0), EINVAL);
	EXPECT_EQ(ibv_attach_mcast(station.qp.get(), &station.device.gid(), 0), EINVAL);
	EXPECT_EQ(ibv_attach_mcast(station.qp.get(), &broadcast, 0), EINVAL);
	EXPECT_EQ(ibv_detach_mcast(station.qp.get(), &group, 0), EINVAL);
	Attachment attachment(station.qp, group);
	EXPECT_EQ(ibv_detach_mcast(station.qp.get(), &other, 0), EINVAL);
	EXPECT_EQ(attachment.end(), 0);
	EXPECT_EQ(ibv_detach_mcast(station.qp.get(), &group, 0), EINVAL);
}

/* RoCE has no LIDs. The core takes those that it is told all the same to be of different groups. */
TEST(Attaching, twice_is_once)
{
	Station station(qkey);
	const ibv_gid group = group_gid(1);
	AddressHandle ah(station.pd, group);
	const auto expect_copies = [&](int copies) {
		ASSERT_EQ(post(station.qp, to_group(station, ah)), 0);
		expect(station.send_cq, station.qp, 1);
		for (int i = 0; i < copies; i++)
			expect(station.recv_cq, station.qp, 1);
		expect_none(station.recv_cq);
	};

	for (int i = 0; i < 4; i++)
		receive(station);
	EXPECT_EQ(ibv_attach_mcast(station.qp.get(), &group, 0), 0);
	EXPECT_EQ(ibv_attach_mcast(station.qp.get(), &group, 0), 0);
	EXPECT_EQ(ibv_attach_mcast(station.qp.get(), &group, 0xc001), 0);
	expect_copies(1);
	EXPECT_EQ(ibv_detach_mcast(station.qp.get(), &group, 0), 0);
	EXPECT_EQ(ibv_detach_mcast(station.qp.get(), &group, 0), EINVAL);
	expect_copies(1);
	EXPECT_EQ(ibv_destroy_qp(station.qp.get()), EBUSY);
	EXPECT_EQ(ibv_detach_mcast(station.qp.get(), &group, 0xc001), 0);
	expect_copies(0);
	EXPECT_EQ(station.qp.destroy(), 0);
}

/* Attaches QPs to so many groups each, of all that there are, until there is no room. */
int fill_table(uint32_t groups_each, uint32_t groups, uint32_t expected)
{
	Device device;
	Pd pd(device);
	Cq cq(device, 16);
	std::deque<Qp> qps;

	for (uint32_t number = 0;; number++) {
		const ibv_gid gid = group_gid(number % groups);

		/* The core goes through all groups of a QP at each call. */
		if (number % groups_each == 0)
			qps.emplace_back(device, pd.get(), cq, cq,
					 QpShape{ .cap = { 1, 1, 1, 1, 0 }, .type = IBV_QPT_UD });
		const int error = ibv_attach_mcast(qps.back().get(), &gid, 0);
		if (!error)
			continue;
		note("%u attachments, then: %s", number, std::strerror(error));
		return error == ENOMEM && number == expected ? 0 : 1;
	}
}

/* They are of processes that leave them behind. */
TEST(Attaching, keeps_to_the_limits)
{
	if (!is_bellhop())
		GTEST_SKIP() << "others count otherwise";
	ibv_device_attr limits;
	{
		Device device;
		ASSERT_EQ(ibv_query_device(device.get(), &limits), 0);
	}
	const uint32_t all_groups = limits.max_mcast_grp;
	const uint32_t members = limits.max_mcast_qp_attach;
	const uint32_t attachments = limits.max_total_mcast_qp_attach;
	ASSERT_LT(all_groups, attachments);
	ASSERT_LT(attachments, all_groups * members);
	const auto fill = [](uint32_t groups_each, uint32_t groups, uint32_t expected) {
		Child child([=] { return fill_table(groups_each, groups, expected); });

		EXPECT_EQ(child.wait(4 * patience), 0) << "of " << groups << " groups";
	};
	fill(128, UINT32_MAX, all_groups);
	fill(attachments / members, attachments / members, attachments);
	fill(128, UINT32_MAX, all_groups);
}

/* Threads that send to a group all the time, while its members come and go. */
class Traffic
{
public:
	explicit Traffic(const ibv_gid &group, const std::string &device = device_name())
	{
		for (int i = 0; i < 2; i++)
			threads_.emplace_back([this, group, device] { run(group, device); });
		EXPECT_TRUE(comes_true([this] { return sent_ > 100; }));
	}

	~Traffic()
	{
		stop_ = true;
		for (std::thread &thread : threads_)
			thread.join();
	}

	unsigned sent() const
	{
		return sent_;
	}

private:
	void run(const ibv_gid &group, const std::string &device)
	{
		try {
			Station station(qkey, false, device);
			AddressHandle ah(station.pd, group);

			while (!stop_) {
				for (uint64_t id = 0; id < 8; id++)
					ASSERT_EQ(post(station.qp, to_group(station, ah, id)), 0);
				for (uint64_t id = 0; id < 8; id++)
					expect(station.send_cq, station.qp, id);
				sent_ += 8;
			}
		} catch (const std::exception &error) {
			ADD_FAILURE() << error.what();
		}
	}

	std::atomic<bool> stop_ = false;
	std::atomic<unsigned> sent_ = 0;
	std::vector<std::thread> threads_;
};

TEST(Members, come_and_go_under_traffic)
{
	const ibv_gid group = group_gid(1);
	Traffic traffic(group);
	Device device;
	Pd pd(device);
	Region region(pd, 8192);
	unsigned got = 0;

	for (int round = 0; round < 150 && !testing::Test::HasFailure(); round++) {
		Cq cq(device, 64);
		Qp qp(device, pd.get(), cq, cq, { .type = IBV_QPT_UD });
		Attachment early(qp, group_gid(2));

		ASSERT_EQ(qp.open(qkey), 0);
		for (uint64_t id = 0; id < 64; id++)
			ASSERT_EQ(post_recv(qp, { region.sge(0, grh_bytes + length) }, id), 0);
		Attachment attachment(qp, group);
		if (round % 2)
			usleep(200);
		ASSERT_EQ(attachment.end(), 0);
		/* What is here now is all that comes. */
		unsigned before = 0;
		while (cq.poll())
			before++;
		got += before;
		usleep(round % 4 * 500);
		EXPECT_FALSE(cq.poll()) << "a copy for a QP that was detached";
		ASSERT_EQ(early.end(), 0);
		ASSERT_EQ(qp.destroy(), 0);
	}
	note("%u copies of %u datagrams", got, traffic.sent());
	EXPECT_GT(got, 0u);
}

TEST(Members, die_under_traffic)
{
	const ibv_gid group = group_gid(1);
	/* Forked while nothing of verbs is open. */
	std::deque<Child> children;
	for (int i = 0; i < 6; i++)
		children.emplace_back([&] {
			std::deque<Station> stations;
			std::deque<Attachment> attachments;

			for (int j = 0; j < 4; j++) {
				stations.emplace_back(qkey);
				attachments.emplace_back(stations.back().qp, group);
				attachments.emplace_back(stations.back().qp, group, j);
			}
			for (;;)
				for (const Station &station : stations) {
					receive(station);
					while (station.recv_cq.poll())
						;
				}
			return 0;
		});
	Traffic traffic(group);

	for (Child &child : children) {
		const unsigned before = traffic.sent();

		usleep(100000);
		child.kill();
		EXPECT_TRUE(child.wait()) << "a member does not die";
		EXPECT_TRUE(comes_true([&] { return traffic.sent() > before + 8; }))
			<< "the senders do not get on";
	}
}

/* The hosts' devices are in one network. */
TEST(Links, are_joined_by_groups)
{
	if (!is_bellhop())
		GTEST_SKIP() << "links are of bellhop's type";
	const Site site;
	const ibv_gid group = group_gid(1);
	Station sender(qkey, false, Site::own), near(qkey, false, Site::own);
	AddressHandle ah(sender.pd, group);
	Attachment at_near(near.qp, group);
	const auto send = [&] {
		ASSERT_EQ(post(sender.qp, to_group(sender, ah)), 0);
		expect(sender.send_cq, sender.qp, 1);
		expect(near.recv_cq, near.qp, 1);
		receive(near);
	};

	receive(near);
	{
		Station far(qkey, false, Site::link);
		Attachment at_far(far.qp, group);
		AddressHandle back(far.pd, group);

		receive(far);
		send();
		expect(far.recv_cq, far.qp, 1);
		receive(far);
		ASSERT_EQ(post(far.qp, to_group(far, back)), 0);
		expect(far.send_cq, far.qp, 1);
		expect(near.recv_cq, near.qp, 1);
		expect(far.recv_cq, far.qp, 1);
		receive(near);
		/* Not where there is no link. */
		receive(far);
		expect_command("ip link set dummy0 down");
		send();
		expect_none(far.recv_cq);
		expect_command("ip link set dummy0 up");
		ASSERT_TRUE(comes_true([] { return Site::is_usable(Site::link); }));
		send();
		expect(far.recv_cq, far.qp, 1);
		/* A member's device goes, and its senders do not mind. */
		receive(far);
		expect_command("rdma link delete bell1");
		send();
	}
	send();
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
