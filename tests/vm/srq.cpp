// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// srq.cpp: a shared receive queue serves many QPs: each entry once, in order, and none is lost.
#include <thread>
#include "datagram.hpp"
#include "endpoint.hpp"
#include "ktap.hpp"
#include "srq.hpp"

using namespace vm;

/* One side receives all from an SRQ, the other sides send to it. */
class Shared : public testing::Test
{
protected:
	static constexpr uint32_t length = 256;

	/** A QP that receives from the SRQ, and one that sends to it. */
	struct Line {
		explicit Line(Shared &test,
			      const Path &path = { .min_rnr_timer = 12, .rnr_retry = 7 },
			      ibv_qp_type type = IBV_QPT_RC)
		    : receiver(test.device, test.pd.get(), test.cq, test.cq,
			       { .type = type, .srq = test.srq.get() }),
		      sender({ .type = type })
		{
			receiver.connect(sender.qp.address(), path);
			sender.qp.connect(receiver.address(), path);
		}

		Qp receiver;
		Endpoint sender;
		Region region{ sender.pd, 4096 };
	};

	ibv_sge room(uint64_t id, uint32_t bytes = length) const
	{
		return region.sge(id * length, bytes);
	}

	void post(uint64_t first, uint64_t end)
	{
		for (uint64_t id = first; id < end; id++)
			ASSERT_EQ(srq.post({ room(id) }, id), 0);
	}

	/** A message that says @word; the sender hears that it arrived. */
	static void send(const Line &line, uint64_t word, uint32_t bytes = length)
	{
		std::memcpy(line.region.memory.data(), &word, sizeof(word));
		ASSERT_EQ(vm::post(line.sender.qp, { .opcode = IBV_WR_SEND,
						     .sges = { line.region.sge(0, bytes) },
						     .id = word }),
			  0);
		expect(line.sender.send_cq, line.sender.qp, word);
	}

	/** It came to @qp in entry @id. */
	void expect_in(const Qp &qp, uint64_t id, uint64_t word)
	{
		uint64_t got;

		EXPECT_EQ(expect(cq, qp, id).byte_len, length);
		std::memcpy(&got, region.memory.data() + id * length, sizeof(got));
		EXPECT_EQ(got, word);
	}

	static std::string describe(int error, const std::optional<ibv_wc> &wc)
	{
		if (error)
			return std::strerror(error);
		return wc ? ibv_wc_status_str(wc->status) : "no completion";
	}

	void expect_srq_event(ibv_event_type type)
	{
		const std::optional<ibv_async_event> event = device.next_event();

		ASSERT_TRUE(event) << "no " << ibv_event_type_str(type);
		EXPECT_EQ(event->event_type, type) << ibv_event_type_str(event->event_type);
		EXPECT_EQ(event->element.srq, srq.get());
	}

	/*
	 * An SRQ gives a slot back when its entry is taken, so that senders need not wait for
	 * whoever polls: nothing but its size keeps the CQ from overrunning, and here it holds all
	 * that a test receives.
	 */
	static constexpr int most_received = 2048;

	Device device;
	Pd pd{ device };
	Cq cq{ device, most_received };
	Region region{ pd, 64 << 10 };
	Srq srq{ pd };
};

TEST_F(Shared, serves_many_qps_in_order)
{
	Line a(*this), b(*this), c(*this);
	Line *lines[] = { &a, &b, &c };

	for (uint64_t round = 0; round < 20; round++) {
		post(0, 60);
		for (uint64_t id = 0; id < 60; id++) {
			Line &line = *lines[(id * 7 + round) % 3];

			send(line, round * 100 + id);
			expect_in(line.receiver, id, round * 100 + id);
		}
		if (HasFailure())
			return;
	}
}

TEST_F(Shared, holds_what_it_was_created_for)
{
	Line line(*this);
	ibv_sge sges[3] = { room(0), room(1), room(2) };

	EXPECT_GE(srq.max_wr(), 64u);
	EXPECT_EQ(srq.query().max_wr, srq.max_wr());
	EXPECT_EQ(srq.query().max_sge, 2u);
	EXPECT_EQ(srq.post({ sges, sges + 3 }, 0), EINVAL);
	for (uint64_t id = 0; id < srq.max_wr(); id++)
		ASSERT_EQ(srq.post({ room(id % 64) }, id), 0);
	EXPECT_EQ(srq.post({ room(0) }, 99), ENOMEM);
	/* The place of what was taken is free, even before its completion is polled. */
	send(line, 1);
	EXPECT_EQ(srq.post({ room(0) }, 100), 0);
	EXPECT_EQ(srq.post({ room(0) }, 101), ENOMEM);
}

TEST_F(Shared, leaves_a_qp_no_receives_of_its_own)
{
	Line line(*this);
	ibv_qp_init_attr init;

	EXPECT_NE(post_recv(line.receiver, { room(0) }), 0);
	line.receiver.query(&init);
	EXPECT_EQ(init.srq, srq.get());
	EXPECT_EQ(init.cap.max_recv_wr, 0u);
}

TEST_F(Shared, lets_senders_wait_for_an_entry)
{
	Line patient(*this), hasty(*this, { .min_rnr_timer = 1, .rnr_retry = 1 });

	ASSERT_EQ(vm::post(hasty.sender.qp, { .opcode = IBV_WR_SEND, .id = 1 }), 0);
	expect(hasty.sender.send_cq, hasty.sender.qp, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	ASSERT_EQ(vm::post(patient.sender.qp, { .opcode = IBV_WR_SEND, .id = 2 }), 0);
	expect_none(patient.sender.send_cq);
	post(5, 6);
	expect(patient.sender.send_cq, patient.sender.qp, 2);
	expect(cq, patient.receiver, 5);
}

TEST_F(Shared, tells_once_that_it_runs_low)
{
	Line line(*this);

	EXPECT_EQ(srq.set_limit(srq.max_wr() + 1), EINVAL);
	post(0, 5);
	ASSERT_EQ(srq.set_limit(3), 0);
	EXPECT_EQ(srq.query().srq_limit, 3u);
	send(line, 1);
	send(line, 2);
	expect_no_event(device);
	send(line, 3);
	expect_srq_event(IBV_EVENT_SRQ_LIMIT_REACHED);
	EXPECT_EQ(srq.query().srq_limit, 0u);
	send(line, 4);
	expect_no_event(device);
	/* It is low already. */
	ASSERT_EQ(srq.set_limit(2), 0);
	expect_srq_event(IBV_EVENT_SRQ_LIMIT_REACHED);
}

TEST_F(Shared, outlives_a_qp_that_fails)
{
	Line failing(*this), other(*this);

	post(0, 2);
	ASSERT_EQ(failing.receiver.modify(to_state(IBV_QPS_ERR)), 0);
	expect_event(device, IBV_EVENT_QP_LAST_WQE_REACHED, failing.receiver);
	expect_no_event(device);
	expect_none(cq);
	send(other, 7);
	expect_in(other.receiver, 0, 7);
	/* Too long for the entry. */
	ASSERT_EQ(vm::post(other.sender.qp, { .opcode = IBV_WR_SEND,
					      .sges = { other.region.sge(0, length + 1) },
					      .id = 1 }),
		  0);
	expect(other.sender.send_cq, other.sender.qp, 1, IBV_WC_REM_INV_REQ_ERR);
	expect(cq, other.receiver, 1, IBV_WC_LOC_LEN_ERR);
	expect_event(device, IBV_EVENT_QP_LAST_WQE_REACHED, other.receiver);
}

/* What a message has taken and not used is the next one's, on whichever QP. */
TEST_F(Shared, gets_back_what_was_not_used)
{
	Line other(*this);

	post(3, 4);
	{
		Line line(*this);
		ibv_sge wrong = line.region.sge(0, length);

		wrong.lkey ^= 0x100;
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(vm::post(line.sender.qp,
					   { .opcode = IBV_WR_SEND, .sges = { wrong }, .id = 1 }),
				  0);
			expect(line.sender.send_cq, line.sender.qp, 1, IBV_WC_LOC_PROT_ERR);
			line.sender.qp.modify(to_state(IBV_QPS_RESET));
			line.sender.qp.connect(line.receiver.address());
		}
		expect_none(cq);
	}
	send(other, 8);
	expect_in(other.receiver, 3, 8);
}

/* A message that breaks off holds an entry until its QP ends. */
TEST_F(Shared, gets_back_what_a_qp_ends_with)
{
	const uint32_t part = 1 << 20;
	Region large(pd, 2 * part);
	Line other(*this);

	for (bool is_destroyed : { false, true }) {
		ASSERT_EQ(srq.post({ large.sge(0, 2 * part) }, 9), 0);
		Line line(*this);
		Region from(line.sender.pd, part);
		ibv_sge wrong = from.sge(0, part);

		wrong.lkey ^= 0x100;
		ASSERT_EQ(vm::post(line.sender.qp, { .opcode = IBV_WR_SEND,
						     .sges = { from.sge(0, part), wrong },
						     .id = 1 }),
			  0);
		expect(line.sender.send_cq, line.sender.qp, 1, IBV_WC_LOC_PROT_ERR);
		expect_none(cq);
		if (is_destroyed)
			ASSERT_EQ(line.receiver.destroy(), 0);
		else
			ASSERT_EQ(line.receiver.modify(to_state(IBV_QPS_RESET)), 0);
		ASSERT_EQ(vm::post(other.sender.qp, { .opcode = IBV_WR_SEND, .id = 2 }), 0);
		expect(other.sender.send_cq, other.sender.qp, 2);
		expect(cq, other.receiver, 9);
	}
}

TEST_F(Shared, is_of_a_pd_of_its_own)
{
	Pd theirs(device);
	Srq foreign(theirs);
	Region inside(theirs, 4096);
	Endpoint sender;
	Qp qp(device, pd.get(), cq, cq, { .srq = foreign.get() });

	qp.connect(sender.qp.address());
	sender.qp.connect(qp.address());
	ASSERT_EQ(foreign.post({ inside.sge(0, 64) }, 1), 0);
	ASSERT_EQ(foreign.post({ region.sge(0, 64) }, 2), 0);
	Region from(sender.pd, 4096);
	const Send send = { .opcode = IBV_WR_SEND, .sges = { from.sge(0, 64) }, .id = 1 };
	ASSERT_EQ(vm::post(sender.qp, send), 0);
	expect(sender.send_cq, sender.qp, 1);
	expect(cq, qp, 1);
	ASSERT_EQ(vm::post(sender.qp, send), 0);
	expect(sender.send_cq, sender.qp, 1, IBV_WC_REM_OP_ERR);
	expect_reason(expect(cq, qp, 2, IBV_WC_LOC_PROT_ERR), BELLHOP_REASON_LKEY_PD);
}

TEST_F(Shared, serves_the_other_services_too)
{
	Line unreliable(*this, {}, IBV_QPT_UC);
	Station station(0x11111111);
	Qp datagrams(device, pd.get(), cq, cq, { .type = IBV_QPT_UD, .srq = srq.get() });

	ASSERT_EQ(datagrams.open(station.qkey), 0);
	post(0, 2);
	send(unreliable, 5);
	expect_in(unreliable.receiver, 0, 5);
	ASSERT_EQ(vm::post(station.qp, { .opcode = IBV_WR_SEND,
					 .sges = { station.region.sge(0, 100) },
					 .id = 1,
					 .ah = station.ah.get(),
					 .qpn = datagrams.get()->qp_num,
					 .qkey = station.qkey }),
		  0);
	expect(station.send_cq, station.qp, 1);
	EXPECT_EQ(expect(cq, datagrams, 1).byte_len, grh_bytes + 100);
}

TEST_F(Shared, is_not_destroyed_while_it_is_used)
{
	Line line(*this);

	EXPECT_EQ(srq.destroy(), EBUSY);
	ASSERT_EQ(line.receiver.destroy(), 0);
	EXPECT_EQ(srq.destroy(), 0);
}

/* Several threads post, several send: whatever was posted comes once. */
TEST_F(Shared, is_posted_to_by_many_threads)
{
	static constexpr uint64_t posters = 2, each = 1000, all = posters * each;
	static_assert(all <= most_received);
	Line a(*this), b(*this);
	std::vector<std::thread> threads;
	std::atomic<bool> failed = false;
	const auto fail = [&](const std::string &how) {
		failed = true;
		ADD_FAILURE() << how;
	};

	for (uint64_t p = 0; p < posters; p++)
		threads.emplace_back([&, p] {
			for (uint64_t i = 0; i < each && !failed;) {
				const int error = srq.post({ room(p) }, p * each + i);

				i += !error;
				if (error == ENOMEM)
					usleep(100);
				else if (error)
					fail("post: " + std::to_string(error));
			}
		});
	for (Line *line : { &a, &b })
		threads.emplace_back([&, line] {
			for (uint64_t i = 0; i < all / 2 && !failed; i++) {
				const int error = vm::post(line->sender.qp,
							   { .opcode = IBV_WR_SEND, .id = i });
				const std::optional<ibv_wc> wc = line->sender.send_cq.wait();

				if (error || !wc || wc->status != IBV_WC_SUCCESS)
					fail("send " + std::to_string(i) + ": " +
					     describe(error, wc));
			}
		});
	std::vector<unsigned> seen(all);
	for (uint64_t i = 0; i < all && !failed; i++) {
		const std::optional<ibv_wc> wc = cq.wait();

		if (!wc || wc->status != IBV_WC_SUCCESS || wc->wr_id >= all)
			fail("receive " + std::to_string(i) + ": " + describe(0, wc));
		else
			seen[wc->wr_id]++;
	}
	for (std::thread &thread : threads)
		thread.join();
	for (uint64_t id = 0; id < all && !failed; id++)
		ASSERT_EQ(seen[id], 1u) << id;
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
