// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// half_open.cpp: a network namespace, its interface or its device goes while a listener of rdma_cm
// there has 50 connections that it has neither accepted nor rejected.
#include <sched.h>
#include "cm.hpp"
#include "command.hpp"
#include "holdings.hpp"
#include "line.hpp"

namespace
{

using namespace vm;

constexpr int connections = 50;
constexpr const char *device = "bell9";

/** Lives in a namespace of its own, with its device, until it is told to go. */
int dwell(const Line &line)
{
	require_errno(!unshare(CLONE_NEWNET), "unshare");
	require(run_command("ip link set lo up && ip link add net9 type dummy && "
			    "ip address add 10.9.0.1/24 dev net9 && ip link set net9 up && "
			    "rdma link add bell9 type bellhop netdev net9") == 0,
		"the namespace is not furnished");

	const sockaddr_in where = ipv4_address("10.9.0.1", 7471);
	EventChannel of_listener, of_askers;
	Identifier listener(of_listener);
	std::vector<Identifier> askers, asked;

	listener.listen(where, 2 * connections);
	for (int i = 0; i < connections; i++) {
		askers.emplace_back(of_askers).ask(of_askers, where);
		asked.emplace_back(of_listener.expect(RDMA_CM_EVENT_CONNECT_REQUEST).id);
	}
	line.tell(connections);
	/* The other end says when, or is gone. */
	line.hear<uint8_t>();
	return 0;
}

bool exists()
{
	return std::filesystem::exists("/sys/class/infiniband/bell9");
}

class HalfOpen : public testing::Test
{
protected:
	HalfOpen()
	{
		line_.take(0);
		const std::optional<int> count = line_.hear<int>();

		require(count == connections, "the connections are not there");
		require(exists(), "nor is the device");
	}

	/** In the namespace of the child. */
	int within(const std::string &command) const
	{
		return run_command("nsenter --net=/proc/" + std::to_string(child_.pid()) +
				   "/ns/net " + command);
	}

	void expect_end()
	{
		EXPECT_TRUE(comes_true([] { return !exists(); })) << "the device does not go";
		EXPECT_TRUE(before_.are_back()) << "before: " << before_.describe()
						<< "\nafter:  " << Holdings().describe();
	}

	void expect_to_leave()
	{
		line_.tell(uint8_t(0));
		const std::optional<int> status = child_.wait(2 * patience);

		ASSERT_TRUE(status) << "the program hangs";
		EXPECT_EQ(*status, 0);
	}

	Holdings before_;
	Line line_;
	Child child_{ [this] {
		line_.take(1);
		return dwell(line_);
	} };
};

TEST_F(HalfOpen, the_namespace_dies_with_its_last_process)
{
	child_.kill();
	ASSERT_TRUE(child_.wait()) << "the program cannot be killed";
	expect_end();
}

TEST_F(HalfOpen, the_interface_goes_first)
{
	EXPECT_EQ(within("ip link delete net9"), 0);
	EXPECT_TRUE(comes_true([] { return !exists(); })) << "the device does not go";
	expect_to_leave();
	expect_end();
}

TEST_F(HalfOpen, the_device_goes_first)
{
	EXPECT_EQ(run_command(std::string("rdma link delete ") + device), 0);
	EXPECT_TRUE(comes_true([] { return !exists(); })) << "the device does not go";
	expect_to_leave();
	expect_end();
}

TEST_F(HalfOpen, the_program_leaves_first)
{
	expect_to_leave();
	expect_end();
}

} // namespace

int main(int argc, char **argv)
{
	return vm::run_ktap(argc, argv);
}
