// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// half_open.cpp: a network namespace, its interface or its device goes while a listener of rdma_cm
// there has 50 connections that it has neither accepted nor rejected.
#include <rdma/rdma_cma.h>
#include <sched.h>
#include "command.hpp"
#include "holdings.hpp"
#include "line.hpp"

namespace
{

using namespace vm;

constexpr int connections = 50;
constexpr const char *device = "bell9";

/** An event channel whose events are waited for with a limit. */
class EventChannel
{
public:
	EventChannel() : channel_(rdma_create_event_channel())
	{
		require_errno(channel_, "rdma_create_event_channel");
		fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
	}

	~EventChannel()
	{
		rdma_destroy_event_channel(channel_);
	}

	EventChannel(const EventChannel &) = delete;
	EventChannel &operator=(const EventChannel &) = delete;

	rdma_event_channel *get() const
	{
		return channel_;
	}

	/** The next event, acknowledged: its type and whose it is. */
	std::optional<std::pair<rdma_cm_event_type, rdma_cm_id *>> next(double seconds = patience)
	{
		pollfd waiter = { channel_->fd, POLLIN, 0 };
		rdma_cm_event *event;

		if (poll(&waiter, 1, int(seconds * 1000)) <= 0 ||
		    rdma_get_cm_event(channel_, &event))
			return std::nullopt;
		const auto result = std::pair(event->event, event->id);
		rdma_ack_cm_event(event);
		return result;
	}

	rdma_cm_id *expect(rdma_cm_event_type type)
	{
		const auto event = next();

		require(event && event->first == type,
			std::string("no ") + rdma_event_str(type) + " but " +
				(event ? rdma_event_str(event->first) : "nothing"));
		return event->second;
	}

private:
	rdma_event_channel *channel_;
};

/** An identifier; destroyed with its QP, which must not take for ever. */
class Identifier
{
public:
	explicit Identifier(const EventChannel &channel)
	{
		require_errno(!rdma_create_id(channel.get(), &id_, nullptr, RDMA_PS_TCP),
			      "rdma_create_id");
	}

	explicit Identifier(rdma_cm_id *id) : id_(id) {}

	Identifier(Identifier &&other) : id_(std::exchange(other.id_, nullptr)) {}

	~Identifier()
	{
		if (!id_)
			return;
		if (id_->qp)
			rdma_destroy_qp(id_);
		rdma_destroy_id(id_);
	}

	rdma_cm_id *get() const
	{
		return id_;
	}

private:
	rdma_cm_id *id_;
};

sockaddr_in address()
{
	sockaddr_in in = {};

	in.sin_family = AF_INET;
	in.sin_port = htons(7471);
	in.sin_addr.s_addr = htonl(0x0a090001); /* 10.9.0.1 */
	return in;
}

Identifier ask(EventChannel &channel)
{
	Identifier id(channel);
	sockaddr_in where = address();
	ibv_qp_init_attr attr = {};
	rdma_conn_param param = {};

	require_errno(
		!rdma_resolve_addr(id.get(), nullptr, reinterpret_cast<sockaddr *>(&where), 2000),
		"rdma_resolve_addr");
	channel.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	require_errno(!rdma_resolve_route(id.get(), 2000), "rdma_resolve_route");
	channel.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	attr.cap = { 4, 4, 1, 1, 0 };
	attr.qp_type = IBV_QPT_RC;
	require_errno(!rdma_create_qp(id.get(), nullptr, &attr), "rdma_create_qp");
	param.retry_count = 7;
	require_errno(!rdma_connect(id.get(), &param), "rdma_connect");
	return id;
}

/** Lives in a namespace of its own, with its device, until it is told to go. */
int dwell(const Line &line)
{
	require_errno(!unshare(CLONE_NEWNET), "unshare");
	require(run_command("ip link set lo up && ip link add net9 type dummy && "
			    "ip address add 10.9.0.1/24 dev net9 && ip link set net9 up && "
			    "rdma link add bell9 type bellhop netdev net9") == 0,
		"the namespace is not furnished");

	EventChannel of_listener, of_askers;
	Identifier listener(of_listener);
	sockaddr_in where = address();
	std::vector<Identifier> askers, asked;

	require_errno(!rdma_bind_addr(listener.get(), reinterpret_cast<sockaddr *>(&where)),
		      "rdma_bind_addr");
	require_errno(!rdma_listen(listener.get(), 2 * connections), "rdma_listen");
	for (int i = 0; i < connections; i++) {
		askers.push_back(ask(of_askers));
		asked.emplace_back(of_listener.expect(RDMA_CM_EVENT_CONNECT_REQUEST));
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
