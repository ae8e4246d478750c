// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// cm.hpp: rdma_cm's channels, identifiers, and how one asks for a connection.
#ifndef BELLHOP_VM_CM_HPP
#define BELLHOP_VM_CM_HPP

#include <arpa/inet.h>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <utility>
#include "ktap.hpp"
#include "require.hpp"

namespace vm
{

/** What has happened, whose it is, and the first byte that the asker sent with it. */
struct CmEvent {
	rdma_cm_event_type type;
	rdma_cm_id *id;
	uint8_t tag;
};

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

	/** Takes the next event into @event, acknowledged. Returns 0 or an errno. */
	int take(CmEvent &event, double seconds = patience)
	{
		pollfd waiter = { channel_->fd, POLLIN, 0 };
		rdma_cm_event *taken;

		const int ready = poll(&waiter, 1, static_cast<int>(seconds * 1000));

		if (ready <= 0)
			return ready ? errno : ETIMEDOUT;
		if (rdma_get_cm_event(channel_, &taken))
			return errno;
		const auto *data = static_cast<const uint8_t *>(taken->param.conn.private_data);
		const bool tagged = taken->event == RDMA_CM_EVENT_CONNECT_REQUEST && data &&
				    taken->param.conn.private_data_len;

		event = { taken->event, taken->id, tagged ? *data : uint8_t(0) };
		removed_ |= event.type == RDMA_CM_EVENT_DEVICE_REMOVAL;
		rdma_ack_cm_event(taken);
		return 0;
	}

	/** The next event, if there is one. */
	std::optional<CmEvent> next(double seconds = patience)
	{
		CmEvent event = {};

		if (take(event, seconds))
			return std::nullopt;
		return event;
	}

	/** The next event, which must be of this @type. Throws. */
	CmEvent expect(rdma_cm_event_type type)
	{
		const std::optional<CmEvent> event = next();

		require(event && event->type == type,
			std::string("no ") + rdma_event_str(type) + " but " +
				(event ? rdma_event_str(event->type) : "nothing"));
		return *event;
	}

	/** Whether an event has said that a device is gone. */
	bool has_seen_removal() const
	{
		return removed_;
	}

private:
	rdma_event_channel *channel_;
	bool removed_ = false;
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

	/** A QP of type RC with queues of its own. Throws. */
	void create_qp()
	{
		ibv_qp_init_attr attr = {};

		attr.cap = { 4, 4, 1, 1, 0 };
		attr.qp_type = IBV_QPT_RC;
		require_errno(!rdma_create_qp(id_, nullptr, &attr), "rdma_create_qp");
	}

	/** Listens for @backlog who ask. Throws. */
	void listen(sockaddr_in where, int backlog)
	{
		require_errno(!rdma_bind_addr(id_, reinterpret_cast<sockaddr *>(&where)),
			      "rdma_bind_addr");
		require_errno(!rdma_listen(id_, backlog), "rdma_listen");
	}

	/** Asks for a connection, with a byte to be known by; the answer comes as an event of
	 * @channel, which is this identifier's alone. Throws. */
	void ask(EventChannel &channel, sockaddr_in where, uint8_t tag = 0)
	{
		rdma_conn_param param = {};

		require_errno(!rdma_resolve_addr(id_, nullptr, reinterpret_cast<sockaddr *>(&where),
						 2000),
			      "rdma_resolve_addr");
		channel.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
		require_errno(!rdma_resolve_route(id_, 2000), "rdma_resolve_route");
		channel.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
		create_qp();
		param.retry_count = 7;
		param.private_data = &tag;
		param.private_data_len = sizeof(tag);
		require_errno(!rdma_connect(id_, &param), "rdma_connect");
	}

private:
	rdma_cm_id *id_;
};

inline sockaddr_in ipv4_address(const char *text, uint16_t port)
{
	sockaddr_in in = {};

	in.sin_family = AF_INET;
	in.sin_port = htons(port);
	require(inet_pton(AF_INET, text, &in.sin_addr) == 1, text);
	return in;
}

} // namespace vm

#endif
