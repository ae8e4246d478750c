// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_link.cpp: links, and what happens to their interfaces, with each of the allocations
// failing.
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include "presence.hpp"
#include "sweep.hpp"

using namespace vm;

/** A trial of a netlink request. */
class Request
{
public:
	/* @make: the request; @done: whether it was carried out */
	Request(int family, const std::function<Message()> &make, const std::function<bool()> &done)
	    : family_(family), make_(make), done_(done)
	{
	}

	Trial trial()
	{
		return { .prepare =
				 [this] {
					 netlink_ = std::make_unique<Netlink>(family_);
					 bytes_ = make_().bytes();
				 },
			 .call = [this] { return netlink_->send(bytes_); },
			 .settle =
				 [this](int error, bool) {
					 error = error ? error : netlink_->answer();
					 /* The answer alone may be lost. */
					 if (error == ENOBUFS && done_())
						 error = 0;
					 if (!error)
						 netlink_.reset();
					 return error;
				 },
			 /* They take long: all, and once. */
			 .most = 120 };
	}

private:
	int family_;
	std::function<Message()> make_;
	std::function<bool()> done_;
	std::unique_ptr<Netlink> netlink_;
	std::vector<uint8_t> bytes_;
};

/* A device of its own, bell7 on the interface fail7. */
class FailNthLink : public FaultTest
{
protected:
	const std::string device = "bell7", netdev = "fail7";

	void SetUp() override
	{
		FaultTest::SetUp();
		if (IsSkipped())
			return;
		run("ip link add " + netdev + " type dummy");
		run("ip link set " + netdev + " up");
		run("ip address add 10.77.0.1/24 dev " + netdev);
		index_ = if_nametoindex(netdev.c_str());
		require_errno(index_, netdev);
	}

	void TearDown() override
	{
		if (index_)
			run("ip link del " + netdev);
	}

	static void run(const std::string &command)
	{
		require(!std::system(command.c_str()), command);
	}

	void add() const
	{
		ASSERT_EQ(exchange(NETLINK_RDMA, rdma_link_add(device, netdev)), 0);
	}

	void del() const
	{
		ASSERT_EQ(exchange(NETLINK_RDMA, rdma_link_del(device)), 0);
	}

	bool is_up() const
	{
		return std::stoul(read_line("/sys/class/net/" + netdev + "/flags"), nullptr, 0) &
		       IFF_UP;
	}

	Message set_link(unsigned flags) const
	{
		ifinfomsg head = {};

		head.ifi_index = static_cast<int>(index_);
		head.ifi_flags = flags;
		head.ifi_change = IFF_UP;
		return Message(RTM_NEWLINK).head(head);
	}

	Message set_up(bool up) const
	{
		return set_link(up ? IFF_UP : 0);
	}

	Message set_mtu(uint32_t mtu) const
	{
		return set_link(IFF_UP).put(IFLA_MTU, mtu);
	}

	Message address(int type, int family, const char *text) const
	{
		ifaddrmsg head = {};
		uint8_t bytes[16];
		const size_t length = family == AF_INET ? 4 : 16;

		head.ifa_family = static_cast<uint8_t>(family);
		head.ifa_prefixlen = family == AF_INET ? 24 : 64;
		head.ifa_flags = IFA_F_NODAD;
		head.ifa_index = index_;
		inet_pton(family, text, bytes);
		Message message(type, type == RTM_NEWADDR ? NLM_F_ACK | NLM_F_CREATE : NLM_F_ACK);
		return message.head(head)
			.put(IFA_LOCAL, bytes, length)
			.put(IFA_ADDRESS, bytes, length);
	}

	bool has_address(const std::string &text) const
	{
		return !std::system(
			("ip address show dev " + netdev + " | grep -qwF " + text).c_str());
	}

	/* Twice, so that news of the interface that were lost do not matter. */
	void expect_recovers() const
	{
		ASSERT_EQ(exchange(NETLINK_ROUTE, set_up(false)), 0);
		ASSERT_EQ(exchange(NETLINK_ROUTE, set_up(true)), 0);
		const Deadline deadline(patience);
		while (!is_complete(device) && !deadline.passed())
			usleep(1000);
		expect_works(device);
	}

	unsigned index_ = 0;
};

TEST_F(FailNthLink, added)
{
	unsigned incomplete = 0;
	Request request(
		NETLINK_RDMA, [&] { return rdma_link_add(device, netdev); },
		[&] { return is_there(device); });
	Trial trial = request.trial();

	trial.check = [&] {
		if (is_complete(device))
			expect_works(device);
	};
	trial.undo = [&] {
		incomplete += !is_complete(device);
		del();
	};
	trial.also = nameless;
	trial.most = most;
	trial.every = every;
	sweep("rdma link add", trial);
	note("%u devices were added that miss something of the core's", incomplete);
}

TEST_F(FailNthLink, deleted)
{
	Request request(
		NETLINK_RDMA, [&] { return rdma_link_del(device); },
		[&] { return !is_there(device); });
	Trial trial = request.trial();
	const auto prepare = trial.prepare;

	trial.prepare = [&] {
		add();
		prepare();
	};
	trial.check = [&] { EXPECT_FALSE(is_there(device)); };
	sweep("rdma link del", trial);
}

TEST_F(FailNthLink, whose_interface_changes)
{
	bool up = false;
	Request set(
		NETLINK_ROUTE, [&] { return set_up(up); }, [&] { return is_up() == up; });
	Request mtu(
		NETLINK_ROUTE, [&] { return set_mtu(2000); },
		[&] { return read_line("/sys/class/net/" + netdev + "/mtu") == "2000"; });

	add();
	for (bool one : { false, true }) {
		Trial trial = set.trial();
		const auto prepare = trial.prepare;

		up = one;
		trial.prepare = [&] {
			ASSERT_EQ(exchange(NETLINK_ROUTE, set_up(!up)), 0);
			prepare();
		};
		trial.check = [&] { EXPECT_EQ(is_up(), up); };
		sweep(up ? "interface up" : "interface down", trial);
		expect_recovers();
	}
	Trial trial = mtu.trial();
	trial.undo = [&] { ASSERT_EQ(exchange(NETLINK_ROUTE, set_mtu(1500)), 0); };
	sweep("interface's mtu", trial);
	expect_recovers();
	del();
}

TEST_F(FailNthLink, whose_addresses_change)
{
	add();
	for (int family : { AF_INET, AF_INET6 }) {
		const char *text = family == AF_INET ? "10.77.0.9" : "fd77::9";
		const std::string kind = family == AF_INET ? "IPv4" : "IPv6";
		Request adding(
			NETLINK_ROUTE, [&] { return address(RTM_NEWADDR, family, text); },
			[&] { return has_address(text); });
		Request deleting(
			NETLINK_ROUTE, [&] { return address(RTM_DELADDR, family, text); },
			[&] { return !has_address(text); });
		Trial trial = adding.trial();

		trial.undo = [&] {
			ASSERT_EQ(exchange(NETLINK_ROUTE, address(RTM_DELADDR, family, text)), 0);
		};
		sweep(kind + " address added", trial);
		trial = deleting.trial();
		const auto prepare = trial.prepare;
		trial.prepare = [&] {
			ASSERT_EQ(exchange(NETLINK_ROUTE, address(RTM_NEWADDR, family, text)), 0);
			prepare();
		};
		sweep(kind + " address deleted", trial);
	}
	expect_recovers();
	del();
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
