// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_connection.cpp: a connection of rdma_cm's, from its address to its end, with each of the
// allocations of the program's calls failing: it carries its message, or nothing of it is left.
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include "command.hpp"
#include "memory.hpp"
#include "sweep.hpp"

using namespace vm;

/** An event that is not the one expected: the other end's fault, and an answer to it. */
constexpr int wrong_event = ECONNABORTED;

/** Events, waited for with a limit. */
class Events
{
public:
	Events() : channel_(rdma_create_event_channel())
	{
		require_errno(channel_, "rdma_create_event_channel");
		fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
	}

	~Events()
	{
		rdma_destroy_event_channel(channel_);
	}

	Events(const Events &) = delete;
	Events &operator=(const Events &) = delete;

	rdma_event_channel *get() const
	{
		return channel_;
	}

	/** The next one must be @type. Returns 0 or an errno, and of 0 whose it is in @id. */
	int expect(rdma_cm_event_type type, rdma_cm_id **id = nullptr,
		   double seconds = patience) const
	{
		pollfd waiter = { channel_->fd, POLLIN, 0 };
		rdma_cm_event *event;

		const int ready = poll(&waiter, 1, int(seconds * 1000));

		if (ready <= 0)
			return ready ? errno : ETIMEDOUT;
		if (rdma_get_cm_event(channel_, &event))
			return errno;
		const bool right = event->event == type;
		/* Whoever asks to be connected is ours from now on. */
		if (id && event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			*id = event->id;
		rdma_ack_cm_event(event);
		return right ? 0 : wrong_event;
	}

private:
	rdma_event_channel *channel_;
};

/** Both ends of a connection, and who listens. */
class Meeting
{
public:
	Meeting() : memory_(4096)
	{
		sockaddr_in in = where();

		require_errno(!rdma_create_id(heard_.get(), &listener_, nullptr, RDMA_PS_TCP),
			      "rdma_create_id");
		require_errno(!rdma_bind_addr(listener_, reinterpret_cast<sockaddr *>(&in)),
			      "rdma_bind_addr");
		require_errno(!rdma_listen(listener_, 4), "rdma_listen");
	}

	~Meeting()
	{
		end();
		rdma_destroy_id(listener_);
	}

	Meeting(const Meeting &) = delete;
	Meeting &operator=(const Meeting &) = delete;

	/** All of it, up to the end that each is told of. Returns 0 or an errno. */
	int hold()
	{
		int error = ask();

		error = error ? error : answer();
		error = error ? error : talk();
		return error ? error : part();
	}

	/** Whether both ends were told of the end. */
	bool have_parted() const
	{
		return have_parted_;
	}

	/** Destroys both ends, whatever they have come to. */
	void end()
	{
		for (rdma_cm_id **id : { &asker_, &asked_ }) {
			if (!*id)
				continue;
			if ((*id)->qp)
				rdma_destroy_qp(*id);
			if (id == &asked_ && mr_)
				EXPECT_EQ(ibv_dereg_mr(std::exchange(mr_, nullptr)), 0);
			EXPECT_EQ(rdma_destroy_id(std::exchange(*id, nullptr)), 0);
		}
	}

private:
	static sockaddr_in where()
	{
		sockaddr_in in = {};

		in.sin_family = AF_INET;
		in.sin_port = htons(7478);
		in.sin_addr.s_addr = htonl(0x0a4e0001); /* 10.78.0.1 */
		return in;
	}

	static int create_qp(rdma_cm_id *id)
	{
		ibv_qp_init_attr attr = {};

		attr.cap = { 4, 4, 1, 1, 16 };
		attr.qp_type = IBV_QPT_RC;
		return rdma_create_qp(id, nullptr, &attr) ? errno : 0;
	}

	int ask()
	{
		sockaddr_in in = where();
		rdma_conn_param param = {};
		int error;

		if (rdma_create_id(told_.get(), &asker_, nullptr, RDMA_PS_TCP) ||
		    rdma_resolve_addr(asker_, nullptr, reinterpret_cast<sockaddr *>(&in), 2000))
			return errno;
		if ((error = told_.expect(RDMA_CM_EVENT_ADDR_RESOLVED)))
			return error;
		if (rdma_resolve_route(asker_, 2000))
			return errno;
		if ((error = told_.expect(RDMA_CM_EVENT_ROUTE_RESOLVED)) ||
		    (error = create_qp(asker_)))
			return error;
		param.retry_count = 7;
		return rdma_connect(asker_, &param) ? errno : 0;
	}

	int answer()
	{
		ibv_recv_wr wr = {}, *bad;
		ibv_sge sge = {};
		int error;

		if ((error = heard_.expect(RDMA_CM_EVENT_CONNECT_REQUEST, &asked_)) ||
		    (error = create_qp(asked_)))
			return error;
		mr_ = ibv_reg_mr(asked_->pd, memory_.data(), 4096, access_all);
		if (!mr_)
			return errno;
		sge = { reinterpret_cast<uintptr_t>(memory_.data()), 4096, mr_->lkey };
		wr.sg_list = &sge;
		wr.num_sge = 1;
		if ((error = ibv_post_recv(asked_->qp, &wr, &bad)))
			return error;
		if (rdma_accept(asked_, nullptr))
			return errno;
		if ((error = told_.expect(RDMA_CM_EVENT_ESTABLISHED)))
			return error;
		return heard_.expect(RDMA_CM_EVENT_ESTABLISHED);
	}

	/* A number, which is another each time. */
	int talk()
	{
		uint64_t number = ++said_, got = 0;
		ibv_sge sge = { reinterpret_cast<uintptr_t>(&number), sizeof(number), 0 };
		ibv_send_wr wr = {}, *bad;
		ibv_wc wc = {};
		const Deadline deadline(patience);

		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_SEND;
		wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
		const int error = ibv_post_send(asker_->qp, &wr, &bad);
		if (error)
			return error;
		while (!ibv_poll_cq(asked_->recv_cq, 1, &wc))
			if (deadline.passed())
				return ETIMEDOUT;
		std::memcpy(&got, memory_.data(), sizeof(got));
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_EQ(got, number);
		return 0;
	}

	/*
	 * The core does not say when it could not tell the other end; that asks as well, and hears
	 * of the end then.
	 */
	int part()
	{
		if (rdma_disconnect(asker_) || rdma_disconnect(asked_))
			return errno;
		const int asker = told_.expect(RDMA_CM_EVENT_DISCONNECTED, nullptr, patience / 10);
		const int asked = heard_.expect(RDMA_CM_EVENT_DISCONNECTED, nullptr, patience / 10);

		have_parted_ = !asker && !asked;
		return asker ? asked : 0;
	}

	static inline uint64_t said_ = 0;

	Events heard_, told_; /* the listener's side, the asker's side */
	rdma_cm_id *listener_ = nullptr, *asker_ = nullptr, *asked_ = nullptr;
	bool have_parted_ = false;
	Memory memory_;
	ibv_mr *mr_ = nullptr;
};

/* The library does not look whether what it destroys is gone, so that is done without a fault. */
TEST_F(FaultTest, connection)
{
	const std::string address = "10.78.0.1/24 dev " + device_name();
	std::unique_ptr<Meeting> meeting;
	const auto renew = [&] {
		meeting.reset();
		meeting = std::make_unique<Meeting>();
	};

	ASSERT_EQ(run_command("ip address add " + address), 0);
	renew();
	/* What the library keeps for ever is made by the first. */
	ASSERT_EQ(meeting->hold(), 0);
	meeting->end();
	sweep("a connection of rdma_cm",
	      { .prepare = renew,
		.call = [&] { return meeting->hold(); },
		.settle =
			[&](int error, bool hit) {
				EXPECT_TRUE(error || hit || meeting->have_parted());
				meeting->end();
				return error;
			},
		.refused = renew,
		.also = wrong_event,
		.most = 150,
		.every = 16 });
	meeting.reset();
	EXPECT_EQ(run_command("ip address del " + address), 0);
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
