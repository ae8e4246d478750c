// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// counters.cpp: the port counts what goes through it, and the device what goes wrong, each once.
#include <functional>
#include "counted.hpp"
#include "group.hpp"
#include "ktap.hpp"
#include "transfer.hpp"

using namespace vm;

class Counters : public testing::Test
{
protected:
	Send request(ibv_wr_opcode opcode, uint32_t length) const
	{
		return { .opcode = opcode,
			 .sges = { a.sge(0, length) },
			 .remote = b.address(),
			 .rkey = b.mr.rkey(),
			 .id = 1 };
	}

	void run(const Send &send, ibv_wc_status status = IBV_WC_SUCCESS)
	{
		ASSERT_EQ(post(pair->a.qp, send), 0);
		expect(pair->a.send_cq, pair->a.qp, send.id, status);
	}

	/** A failure of @send counts as "@name", and as what every failure does. */
	void expect_counted(const Send &send, ibv_wc_status status, const std::string &name,
			    const std::string &others)
	{
		const Counted counted;

		run(send, status);
		EXPECT_EQ(counted.grown("hw_counters/" + name), 1) << name;
		EXPECT_EQ(counted.all_grown(), others);
		pair->reconnect();
	}

	Counted counted;
	std::unique_ptr<Pair> pair = std::make_unique<Pair>();
	Region a{ pair->a.pd, 1 << 20 };
	Region b{ pair->b.pd, 1 << 20 };
};

TEST_F(Counters, all_of_a_port_are_there)
{
	for (const char *name :
	     { "port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets",
	       "unicast_xmit_packets", "unicast_rcv_packets", "multicast_xmit_packets",
	       "multicast_rcv_packets", "port_rcv_errors", "port_xmit_discards", "symbol_error",
	       "link_downed", "port_xmit_wait" })
		EXPECT_TRUE(counted.has(std::string("counters/") + name)) << name;
	EXPECT_TRUE(counted.has("hw_counters/rnr_waits"));
}

/* Both ends are on one port: what is sent there comes there. */
TEST_F(Counters, words_and_messages)
{
	for (ibv_wr_opcode opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND }) {
		const Counted since;

		for (int i = 0; i < 50; i++) {
			if (opcode == IBV_WR_SEND)
				ASSERT_EQ(post_recv(pair->b.qp, { b.sge(0, 4096) }), 0);
			run(request(opcode, 1001));
		}
		for (const char *name : { "counters/port_xmit_data", "counters/port_rcv_data" })
			EXPECT_EQ(since.grown(name), 50 * 251) << name;
		for (const char *name :
		     { "counters/port_xmit_packets", "counters/port_rcv_packets",
		       "counters/unicast_xmit_packets", "counters/unicast_rcv_packets" })
			EXPECT_EQ(since.grown(name), 50) << name;
		EXPECT_EQ(since.grown("counters/multicast_xmit_packets"), 0);
		EXPECT_GE(since.grown("hw_counters/kicks"), 50);
		EXPECT_EQ(since.all_grown(), "");
	}
}

TEST_F(Counters, long_and_empty_messages)
{
	run(request(IBV_WR_RDMA_WRITE, 1 << 20));
	EXPECT_EQ(counted.grown("counters/port_xmit_data"), 1 << 18);
	EXPECT_EQ(counted.grown("counters/port_rcv_data"), 1 << 18);
	EXPECT_EQ(counted.grown("counters/port_xmit_packets"), 16) << "pieces of 64 KiB";
	run(request(IBV_WR_RDMA_WRITE, 0));
	EXPECT_EQ(counted.grown("counters/port_xmit_data"), 1 << 18);
	EXPECT_EQ(counted.grown("counters/port_xmit_packets"), 17);
}

TEST_F(Counters, outlive_their_qps)
{
	for (int i = 1; i <= 5; i++) {
		{
			Pair gone;
			Region from(gone.a.pd, 4096), to(gone.b.pd, 4096);

			ASSERT_EQ(post(gone.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
						    .sges = { from.sge(0, 4000) },
						    .remote = to.address(),
						    .rkey = to.mr.rkey(),
						    .id = 1 }),
				  0);
			expect(gone.a.send_cq, gone.a.qp, 1);
		}
		EXPECT_EQ(counted.grown("counters/port_xmit_data"), 1000 * i);
		EXPECT_EQ(counted.grown("counters/port_rcv_data"), 1000 * i);
		EXPECT_GE(counted.grown("hw_counters/kicks"), i);
	}
}

TEST_F(Counters, faults_of_this_side)
{
	const std::string common = "qps_failed send_errors ";
	Pd other(pair->a.device);
	Region foreign(other, 4096);
	Region read_only(pair->a.pd, 4096, IBV_ACCESS_REMOTE_READ);
	Send send = request(IBV_WR_RDMA_WRITE, 64);

	send.sges[0].lkey ^= 0x00ffff00;
	expect_counted(send, IBV_WC_LOC_PROT_ERR, "lkey_unknown", "lkey_unknown " + common);
	send.sges[0] = foreign.sge(0, 64);
	expect_counted(send, IBV_WC_LOC_PROT_ERR, "lkey_of_other_pd", "lkey_of_other_pd " + common);
	send.sges[0] = a.sge((1 << 20) - 10, 64);
	expect_counted(send, IBV_WC_LOC_PROT_ERR, "lkey_out_of_range",
		       "lkey_out_of_range " + common);
	send = request(IBV_WR_RDMA_READ, 64);
	send.sges[0] = read_only.sge(0, 64);
	expect_counted(send, IBV_WC_LOC_PROT_ERR, "lkey_without_access",
		       "lkey_without_access " + common);
}

TEST_F(Counters, faults_of_what_is_asked_for)
{
	/* Both QPs fail; nothing was posted behind. */
	const std::string common = "send_errors ";
	Pd other(pair->b.device);
	Region foreign(other, 4096);
	Region silent(pair->b.pd, 4096, IBV_ACCESS_LOCAL_WRITE);
	Send send = request(IBV_WR_RDMA_WRITE, 64);

	send.rkey ^= 0x00ffff00;
	expect_counted(send, IBV_WC_REM_ACCESS_ERR, "rkey_unknown",
		       "qps_failed rkey_unknown " + common);
	send.rkey = foreign.mr.rkey();
	send.remote = foreign.address();
	expect_counted(send, IBV_WC_REM_ACCESS_ERR, "rkey_of_other_pd",
		       "qps_failed rkey_of_other_pd " + common);
	send.rkey = silent.mr.rkey();
	send.remote = silent.address();
	expect_counted(send, IBV_WC_REM_ACCESS_ERR, "rkey_without_access",
		       "qps_failed rkey_without_access " + common);
	send.rkey = b.mr.rkey();
	send.remote = b.address() + (1 << 20);
	expect_counted(send, IBV_WC_REM_ACCESS_ERR, "rkey_out_of_range",
		       "qps_failed rkey_out_of_range " + common);
}

TEST_F(Counters, receives_that_are_too_short)
{
	ASSERT_EQ(post_recv(pair->b.qp, { b.sge(0, 10) }), 0);
	run(request(IBV_WR_SEND, 64), IBV_WC_REM_INV_REQ_ERR);
	EXPECT_EQ(counted.all_grown(), "qps_failed receive_errors receives_too_short send_errors ");
	EXPECT_EQ(counted.grown("hw_counters/qps_failed"), 2);
}

TEST_F(Counters, what_is_flushed)
{
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(post_recv(pair->a.qp, { a.sge(0, 10) }), 0);
	ASSERT_EQ(pair->a.qp.modify(to_state(IBV_QPS_ERR)), 0);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(post(pair->a.qp, request(IBV_WR_RDMA_WRITE, 10)), 0);
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(pair->a.recv_cq.next().status, IBV_WC_WR_FLUSH_ERR);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(pair->a.send_cq.next().status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(counted.grown("hw_counters/flushed"), 8);
	EXPECT_EQ(counted.all_grown(), "flushed ");
}

TEST_F(Counters, waits_for_a_receive)
{
	Pair hasty({}, { .min_rnr_timer = 1, .rnr_retry = 3 });

	ASSERT_EQ(post(hasty.a.qp, { .opcode = IBV_WR_SEND, .id = 1 }), 0);
	expect(hasty.a.send_cq, hasty.a.qp, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	EXPECT_EQ(counted.grown("hw_counters/rnr_waits"), 3);
	EXPECT_EQ(counted.grown("hw_counters/rnr_retries_exceeded"), 1);
	EXPECT_EQ(counted.all_grown(), "qps_failed rnr_retries_exceeded rnr_waits send_errors ");
}

TEST_F(Counters, waits_for_an_answer)
{
	Pair hasty({}, { .timeout = 8, .retry_cnt = 2 });

	ASSERT_EQ(hasty.b.qp.modify(to_state(IBV_QPS_RESET)), 0);
	ASSERT_EQ(post(hasty.a.qp, { .opcode = IBV_WR_SEND, .id = 1 }), 0);
	expect(hasty.a.send_cq, hasty.a.qp, 1, IBV_WC_RETRY_EXC_ERR);
	EXPECT_EQ(counted.grown("hw_counters/unanswered_waits"), 3);
	EXPECT_EQ(counted.grown("hw_counters/retries_exceeded"), 1);
	EXPECT_EQ(counted.all_grown(), "qps_failed retries_exceeded send_errors unanswered_waits ");
}

TEST_F(Counters, overruns)
{
	Cq small(pair->a.device, 4);
	Qp qp(pair->a.device, pair->a.pd.get(), small, small);

	qp.connect(qp.address());
	for (int i = 0; i < small.get()->cqe + 1; i++)
		ASSERT_EQ(post(qp, { .opcode = IBV_WR_RDMA_WRITE,
				     .sges = { a.sge(0, 8) },
				     .remote = a.address(8),
				     .rkey = a.mr.rkey() }),
			  0);
	EXPECT_TRUE(qp.reaches(IBV_QPS_ERR));
	EXPECT_EQ(counted.grown("hw_counters/cq_overruns"), 1);
}

/* What is left of a long list of requests is the worker's. */
TEST_F(Counters, shares_left_to_the_worker)
{
	for (int i = 0; i < 20; i++)
		ASSERT_EQ(post(pair->a.qp, request(IBV_WR_RDMA_WRITE, 1 << 20)), 0);
	for (int i = 0; i < 20; i++)
		expect(pair->a.send_cq, pair->a.qp, 1);
	EXPECT_GE(counted.grown("hw_counters/shares_left_to_worker"), 1);
}

class Datagrams : public testing::Test
{
protected:
	static constexpr uint32_t qkey = group_qkey;

	/** A datagram of @length bytes with @key to QP @qpn; sending succeeds. */
	void send(uint32_t qpn, uint32_t key, uint32_t length = 100)
	{
		ASSERT_EQ(post(from.qp, { .opcode = IBV_WR_SEND,
					  .sges = { from.region.sge(0, length) },
					  .id = 1,
					  .ah = from.ah.get(),
					  .qpn = qpn,
					  .qkey = key }),
			  0);
		expect(from.send_cq, from.qp, 1);
	}

	uint32_t number() const
	{
		return to.qp.get()->qp_num;
	}

	Station from{ qkey }, to{ qkey };
	Counted counted;
};

TEST_F(Datagrams, that_arrive)
{
	receive(to);
	send(number(), qkey);
	expect(to.recv_cq, to.qp, 1);
	EXPECT_EQ(counted.grown("counters/port_xmit_data"), 25);
	EXPECT_EQ(counted.grown("counters/port_rcv_data"), 25);
	EXPECT_EQ(counted.grown("counters/unicast_rcv_packets"), 1);
	EXPECT_EQ(counted.all_grown(), "");
}

TEST_F(Datagrams, that_are_dropped)
{
	ibv_port_attr before, after;

	ASSERT_EQ(ibv_query_port(from.device.get(), 1, &before), 0);
	send(number(), qkey);
	EXPECT_EQ(counted.all_grown(), "dropped_no_receive ");
	send(number(), qkey + 1);
	EXPECT_EQ(counted.all_grown(), "dropped_no_receive dropped_qkey_mismatch ");
	ASSERT_EQ(ibv_query_port(from.device.get(), 1, &after), 0);
	EXPECT_EQ(after.qkey_viol_cntr, before.qkey_viol_cntr + 1);
	EXPECT_EQ(counted.grown("counters/port_xmit_discards"), 0);
	send(number() ^ 0x800000, qkey);
	EXPECT_EQ(counted.grown("hw_counters/dropped_nobody_there"), 1);
	EXPECT_EQ(counted.grown("counters/port_xmit_discards"), 1);
	receive(to);
	ASSERT_EQ(to.qp.modify(to_state(IBV_QPS_ERR)), 0);
	expect(to.recv_cq, to.qp, 1, IBV_WC_WR_FLUSH_ERR);
	send(number(), qkey);
	EXPECT_EQ(counted.grown("hw_counters/dropped_not_ready"), 1);
	EXPECT_EQ(counted.grown("counters/port_xmit_packets"), 4) << "they were sent";
	EXPECT_EQ(counted.grown("counters/port_rcv_packets"), 0);
}

TEST_F(Datagrams, to_an_address_that_is_nobody_s)
{
	ibv_gid elsewhere = from.device.gid();

	elsewhere.raw[15] ^= 0x55;
	elsewhere.raw[14] ^= 0x55;
	AddressHandle ah(from.pd, elsewhere);

	receive(to);
	ASSERT_EQ(post(from.qp, { .opcode = IBV_WR_SEND,
				  .sges = { from.region.sge(0, 10) },
				  .id = 1,
				  .ah = ah.get(),
				  .qpn = number(),
				  .qkey = qkey }),
		  0);
	expect(from.send_cq, from.qp, 1);
	EXPECT_EQ(counted.all_grown(), "dropped_wrong_address ");
}

TEST_F(Datagrams, to_a_group)
{
	const ibv_gid group = group_gid(7);
	AddressHandle ah(from.pd, group);
	Station other(qkey);
	Attachment first(to.qp, group), second(other.qp, group);
	const Counted since;

	receive(to);
	receive(other);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(post(from.qp, to_group(from, ah)), 0);
		expect(from.send_cq, from.qp, 1);
	}
	EXPECT_EQ(since.grown("hw_counters/multicast_sent"), 2);
	EXPECT_EQ(since.grown("hw_counters/multicast_copies"), 2);
	EXPECT_EQ(since.grown("hw_counters/dropped_no_receive"), 2);
	EXPECT_EQ(since.grown("counters/multicast_xmit_packets"), 2);
	EXPECT_EQ(since.grown("counters/multicast_rcv_packets"), 2);
	EXPECT_EQ(since.grown("counters/unicast_xmit_packets"), 0);
	EXPECT_EQ(since.grown("counters/port_xmit_packets"), 2);
	EXPECT_EQ(since.grown("counters/port_rcv_data"), 2 * letter_bytes / 4);
}

/* As perfquery asks: by a datagram to QP 1. */
class Agent : public testing::Test
{
protected:
	static constexpr size_t mad_bytes = 256, data = 64;

	/** What @method of @attribute is answered; of port @port. */
	std::vector<uint8_t> ask(uint16_t attribute, uint8_t method = 1, uint8_t port = 1)
	{
		uint8_t *mad = station.region.memory.data();

		std::memset(mad, 0, mad_bytes);
		mad[0] = mad[2] = 1;
		mad[1] = 4;
		mad[3] = method;
		mad[8] = ++transaction;
		mad[16] = static_cast<uint8_t>(attribute >> 8);
		mad[17] = static_cast<uint8_t>(attribute);
		mad[data + 1] = port;
		require(!post_recv(station.qp, { station.region.sge(4096, 512) }), "receive");
		require(!post(station.qp, { .opcode = IBV_WR_SEND,
					    .sges = { station.region.sge(0, mad_bytes) },
					    .id = 1,
					    .ah = station.ah.get(),
					    .qpn = gsi_qpn,
					    .qkey = gsi_qkey }),
			"send");
		expect(station.send_cq, station.qp, 1);
		const ibv_wc wc = station.recv_cq.next();
		EXPECT_EQ(wc.src_qp, gsi_qpn);
		EXPECT_EQ(wc.byte_len, grh_bytes + mad_bytes);
		const uint8_t *answer = station.region.memory.data() + 4096 + grh_bytes;
		EXPECT_EQ(answer[3], 0x81);
		EXPECT_EQ(answer[8], transaction);
		return { answer, answer + mad_bytes };
	}

	static unsigned status(const std::vector<uint8_t> &mad)
	{
		return mad[4] << 8 | mad[5];
	}

	static uint64_t at(const std::vector<uint8_t> &mad, size_t offset, size_t bytes)
	{
		uint64_t value = 0;

		for (size_t i = 0; i < bytes; i++)
			value = value << 8 | mad[data + offset + i];
		return value;
	}

	Station station{ gsi_qkey };
	uint8_t transaction = 0;
};

TEST_F(Agent, answers_whoever_asks)
{
	EXPECT_EQ(status(ask(0x01)), 0u);
	EXPECT_EQ(status(ask(0x12)), 0u);
	EXPECT_EQ(status(ask(0x1d, 1, 0xff)), 0u);
	EXPECT_EQ(at(ask(0x01), 2, 2), 0x0300u);
}

TEST_F(Agent, counts_what_it_says_itself)
{
	const std::vector<uint8_t> before = ask(0x1d), after = ask(0x1d);

	/* The last answer, and the request, if that was counted before it was answered. */
	EXPECT_GE(at(after, 8, 8) - at(before, 8, 8), mad_bytes / 4) << "words sent";
	EXPECT_LE(at(after, 8, 8) - at(before, 8, 8), 2 * mad_bytes / 4) << "words sent";
	EXPECT_GE(at(after, 24, 8) - at(before, 24, 8), 1u);
	EXPECT_LE(at(after, 24, 8) - at(before, 24, 8), 2u);
}

TEST_F(Agent, changes_nothing)
{
	EXPECT_EQ(status(ask(0x12, 2)), 0x08u);
	EXPECT_EQ(status(ask(0x12, 1, 2)), 0x1cu);
	EXPECT_EQ(status(ask(0x12, 1, 0)), 0x1cu);
	EXPECT_EQ(status(ask(0x10)), 0x0cu);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
