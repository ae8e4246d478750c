// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// link_race.cpp: an interface that goes down or up, or away, while a device is made over it.
#include "device.hpp"
#include "seed.hpp"
#include "site.hpp"

using namespace vm;

static constexpr int rounds = 20;

/** The interface changes to @state while the link is made, and back when there is a device to tell.
 */
struct Turn {
	const char *state, *back;
	ibv_port_state port;
	ibv_event_type event_of_back;
};

class LinkRace : public testing::TestWithParam<Turn>
{
protected:
	void SetUp() override
	{
		if (!is_bellhop())
			GTEST_SKIP() << "links are of bellhop's type";
		site_.emplace();
		expect_command("ip link add dummy1 type dummy");
	}

	/** "rdma link add" while @change happens to the interface. Returns whether it was made. */
	bool add_during(const std::string &change)
	{
		Child adder([] {
			return run_command("rdma link add bell2 type bellhop netdev dummy1", false);
		});

		usleep(random_() % 60000);
		expect_command("ip link set dummy1 " + change);
		const std::optional<int> status = adder.wait(2 * patience);
		EXPECT_TRUE(status) << "rdma link add does not end";
		return status == 0;
	}

	std::optional<Site> site_;
	std::mt19937 random_{ seed() };
};

/* Whatever the device was told before it was there: from now on it knows better. */
static void expect_port_event(const Device &device, ibv_event_type type)
{
	const Deadline deadline(patience);
	pollfd waiter = { device.get()->async_fd, POLLIN, 0 };
	ibv_async_event event = {};

	while (event.event_type != type && poll(&waiter, 1, deadline.left_ms()) > 0 &&
	       !ibv_get_async_event(device.get(), &event))
		ibv_ack_async_event(&event);
	EXPECT_EQ(event.event_type, type) << "no " << ibv_event_type_str(type);
}

static ibv_port_state port_state(const Device &device)
{
	ibv_port_attr attr = {};

	EXPECT_EQ(ibv_query_port(device.get(), 1, &attr), 0);
	return attr.state;
}

TEST_P(LinkRace, loses_no_event)
{
	const Turn &turn = GetParam();
	const std::string back = std::string("ip link set dummy1 ") + turn.back;

	for (int round = 0; round < rounds && !HasFailure(); round++) {
		expect_command(back);
		ASSERT_TRUE(add_during(turn.state));
		{
			Device device(Site::guest);

			EXPECT_EQ(port_state(device), turn.port);
			expect_command(back);
			expect_port_event(device, turn.event_of_back);
		}
		expect_command("rdma link delete bell2");
	}
}

INSTANTIATE_TEST_SUITE_P(of, LinkRace,
			 testing::Values(Turn{ "down", "up", IBV_PORT_DOWN, IBV_EVENT_PORT_ACTIVE },
					 Turn{ "up", "down", IBV_PORT_ACTIVE, IBV_EVENT_PORT_ERR }),
			 [](const auto &info) { return std::string(info.param.state); });

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
