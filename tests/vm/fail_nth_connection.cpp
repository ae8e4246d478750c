// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth_connection.cpp: a connection of rdma_cm's, from its listener to its end, with each of
// the allocations of the program's calls failing: it carries its message, or nothing of it is left.
#include "cm.hpp"
#include "command.hpp"
#include "memory.hpp"
#include "sweep.hpp"

using namespace vm;

/** An event that is not the one expected: the other end's fault, and an answer to it. */
constexpr int wrong_event = ECONNABORTED;

/** Both ends of a connection, and who listens. */
class Meeting
{
public:
	/** @port: another each time, so that a request that is late finds nobody. */
	explicit Meeting(uint16_t port) : where_(ipv4_address("10.78.0.1", port)), memory_(4096) {}

	~Meeting()
	{
		end();
	}

	Meeting(const Meeting &) = delete;
	Meeting &operator=(const Meeting &) = delete;

	/** All of it, up to the end that each is told of. Returns 0 or an errno. */
	int hold()
	{
		int error = listen();

		error = error ? error : ask();
		error = error ? error : answer();
		error = error ? error : talk();
		return error ? error : part();
	}

	/** Whether both ends were told of the end. */
	bool have_parted() const
	{
		return have_parted_;
	}

	/** Destroys all, whatever it has come to; the listener's end is that of the requests it has
	 * not heard. */
	void end()
	{
		for (rdma_cm_id **id : { &asker_, &asked_, &listener_ }) {
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
	/** The next event must be @type. Returns 0 or an errno, and of 0 whose it is in @id. */
	static int expect(EventChannel &channel, rdma_cm_event_type type, rdma_cm_id **id = nullptr,
			  double seconds = patience)
	{
		CmEvent event = {};

		if (const int error = channel.take(event, seconds))
			return error;
		/* Whoever asks to be connected is ours from now on. */
		if (id && event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
			*id = event.id;
		return event.type == type ? 0 : wrong_event;
	}

	sockaddr *where()
	{
		return reinterpret_cast<sockaddr *>(&where_);
	}

	static int create_qp(rdma_cm_id *id)
	{
		ibv_qp_init_attr attr = {};

		attr.cap = { 4, 4, 1, 1, 16 };
		attr.qp_type = IBV_QPT_RC;
		return rdma_create_qp(id, nullptr, &attr) ? errno : 0;
	}

	int listen()
	{
		return rdma_create_id(heard_.get(), &listener_, nullptr, RDMA_PS_TCP) ||
				       rdma_bind_addr(listener_, where()) ||
				       rdma_listen(listener_, 4)
			       ? errno
			       : 0;
	}

	int ask()
	{
		rdma_conn_param param = {};
		int error;

		if (rdma_create_id(told_.get(), &asker_, nullptr, RDMA_PS_TCP) ||
		    rdma_resolve_addr(asker_, nullptr, where(), 2000))
			return errno;
		if ((error = expect(told_, RDMA_CM_EVENT_ADDR_RESOLVED)))
			return error;
		if (rdma_resolve_route(asker_, 2000))
			return errno;
		if ((error = expect(told_, RDMA_CM_EVENT_ROUTE_RESOLVED)) ||
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

		if ((error = expect(heard_, RDMA_CM_EVENT_CONNECT_REQUEST, &asked_)) ||
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
		if ((error = expect(told_, RDMA_CM_EVENT_ESTABLISHED)))
			return error;
		return expect(heard_, RDMA_CM_EVENT_ESTABLISHED);
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
		const int asker = expect(told_, RDMA_CM_EVENT_DISCONNECTED, nullptr, patience / 10);
		const int asked =
			expect(heard_, RDMA_CM_EVENT_DISCONNECTED, nullptr, patience / 10);

		have_parted_ = !asker && !asked;
		return asker ? asked : 0;
	}

	static inline uint64_t said_ = 0;

	sockaddr_in where_;
	EventChannel heard_, told_; /* the listener's side, the asker's side */
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
	uint16_t port = 7478;
	const auto renew = [&] {
		meeting.reset();
		meeting = std::make_unique<Meeting>(port++);
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
