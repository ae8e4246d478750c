// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// requesting_peer.hpp: a requester with messages to send. When one is complete it looks at the
// other end whether it is.
#pragma once

#include "responding_peer.hpp"

extern "C" {
#include "psn.h"
#include "requester.h"
#include "segment.h"
}

namespace wire
{

class RequestingPeer
{
public:
	RequestingPeer(const Setup &setup, u32 psn, u64 seed)
	    : setup_(setup), random_(seed), fetched_(setup.max_length)
	{
		requester_.requests = requests_.data();
		requester_.depth = kDepth;
		requester_.service = setup.service;
		requester_.mtu = setup.mtu;
		requester_.window = setup.window;
		requester_.max_rd_atomic = setup.max_rd_atomic;
		requester_.retry.timeout = setup.timeout;
		requester_.retry.retry_cnt = setup.retry_cnt;
		requester_.retry.rnr_retry = BELLHOP_RETRY_RNR_FOREVER;
		bellhop_requester_begin(&requester_, psn);
	}

	void join(const RespondingPeer &other)
	{
		other_ = &other;
	}

	bool has_room() const
	{
		return bellhop_requester_has_room(&requester_);
	}

	/** Posts a message at random. */
	void post()
	{
		static constexpr u8 all[] = {
			BELLHOP_WR_SEND,
			BELLHOP_WR_SEND_WITH_IMM,
			BELLHOP_WR_RDMA_WRITE,
			BELLHOP_WR_RDMA_WRITE_WITH_IMM,
			BELLHOP_WR_RDMA_READ,
			BELLHOP_WR_ATOMIC_CMP_AND_SWP,
			BELLHOP_WR_ATOMIC_FETCH_AND_ADD,
			BELLHOP_WR_ATOMIC_WRITE,
		};

		post(all[random_() % (setup_.is_reliable() ? std::size(all) : 4)], random_length(),
		     random_() % 8 ? 0 : BELLHOP_SQE_FENCE);
	}

	void post(u8 wr, u32 length, u8 flags = 0)
	{
		const u16 traits = bellhop_opcode_row(wr)->traits;
		Work work = { .wr = wr, .length = length, .seed = random_(), .number = posted_++ };

		if (traits & (BELLHOP_OP_ATOMIC | BELLHOP_OP_WORD))
			work.length = BELLHOP_ATOMIC_BYTES;
		if (wr == BELLHOP_WR_ATOMIC_FETCH_AND_ADD)
			work.word = added_++;
		if (wr == BELLHOP_WR_ATOMIC_CMP_AND_SWP)
			work.word = swapped_++;
		if (wr == BELLHOP_WR_ATOMIC_WRITE)
			work.word = ++stored_;
		if (traits & BELLHOP_OP_RECV)
			announced_.push_back(work);
		work_[bellhop_requester_post(&requester_, wr, work.length, flags)] = work;
	}

	/** The next packet that may be sent now. */
	std::optional<Bytes> next(u32 from, u32 to, u64 now)
	{
		bellhop_request_packet packet;

		if (failed_ || !bellhop_requester_next(&requester_, now, &packet))
			return std::nullopt;
		repeated_ += packet.again;
		return build_packet(packet, from, to);
	}

	void hear(const Opened &opened, u64 now)
	{
		if (failed_)
			return;
		const bellhop_requester_plan plan =
			bellhop_requester_receive(&requester_, &opened.transport, now);

		collect();
		if (plan.verdict == BELLHOP_REQUESTER_FAIL)
			failed_ = plan.reason;
		if (plan.verdict != BELLHOP_REQUESTER_PLACE)
			return;
		place(plan, opened);
		bellhop_requester_placed(&requester_, &plan, now);
		collect();
	}

	void expire(u64 now)
	{
		const bellhop_requester_plan plan = bellhop_requester_expire(&requester_, now);

		ASSERT_NE(plan.verdict, BELLHOP_REQUESTER_PLACE);
		if (!failed_ && plan.verdict == BELLHOP_REQUESTER_FAIL)
			failed_ = plan.reason;
	}

	u64 wake_ns() const
	{
		return failed_ ? 0 : bellhop_requester_wake_ns(&requester_);
	}

	/** Takes complete requests off. */
	void collect()
	{
		u32 request;

		while (bellhop_requester_done(&requester_, &request)) {
			ASSERT_EQ(work_[request].number, completed_) << "out of order, or twice";
			completed_++;
			if (setup_.is_reliable())
				expect_done(request);
		}
	}

	void check() const
	{
		const bellhop_requester &r = requester_;

		ASSERT_LE(r.una, r.sent);
		ASSERT_LE(r.sent, r.high);
		ASSERT_LE(r.high, r.end);
		ASSERT_LT(r.sent - r.una, setup_.window + BELLHOP_SEGMENT_READ_PACKETS)
			<< "the window is overrun";
		ASSERT_LE(r.reads, setup_.max_rd_atomic);
		ASSERT_LE(r.newest - r.oldest, kDepth);
	}

	void expect_guards() const
	{
		EXPECT_TRUE(fetched_.has_its_guards());
	}

	std::deque<Work> &announced()
	{
		return announced_;
	}

	u64 posted() const
	{
		return posted_;
	}

	u64 completed() const
	{
		return completed_;
	}

	u64 repeated() const
	{
		return repeated_;
	}

	/** Why it has given up, if it has. */
	bellhop_reason failed() const
	{
		return failed_;
	}

private:
	u32 random_length()
	{
		switch (random_() % 8) {
		case 0:
			return 0;
		case 1:
			return random_() % setup_.max_length;
		case 2:
			return setup_.mtu * (1 + random_() % 4);
		default:
			return random_() % (3 * setup_.mtu);
		}
	}

	Bytes build_packet(const bellhop_request_packet &packet, u32 from, u32 to) const
	{
		const Work &work = work_[packet.request];
		const bellhop_bth *row = bellhop_bth_row(packet.opcode);
		bellhop_transport transport{};
		Bytes payload;

		transport.opcode = packet.opcode;
		transport.psn = packet.psn;
		transport.pkey = 0xffff;
		transport.ack_request = packet.ack_request;
		transport.solicited = packet.solicited;
		transport.repairs = setup_.repairs;
		if (row->headers & BELLHOP_HAS_RETH) {
			transport.address = fetched_.address(packet.request);
			transport.length = work.length;
		}
		if (work.wr == BELLHOP_WR_RDMA_READ) {
			transport.address = packet.offset;
			transport.length = packet.bytes;
		} else if (row->headers & BELLHOP_HAS_ATOMICETH) {
			transport.compare = work.word;
			transport.swap_add =
				work.wr == BELLHOP_WR_ATOMIC_FETCH_AND_ADD ? 1 : work.word + 1;
		} else {
			payload.resize(packet.bytes);
			for (u32 i = 0; i < packet.bytes; i++)
				payload[i] = noise(work.seed, packet.offset + i);
		}
		if (work.wr == BELLHOP_WR_ATOMIC_WRITE)
			std::memcpy(payload.data(), &work.word, payload.size());
		if (row->headers & BELLHOP_HAS_IMMDT)
			transport.imm = u32(work.seed);
		transport.payload = u32(payload.size());
		return build(transport, payload, from, to);
	}

	void place(const bellhop_requester_plan &plan, const Opened &opened)
	{
		const Work &work = work_[plan.request];

		ASSERT_LE(plan.offset + plan.bytes, work.length);
		if (bellhop_opcode_row(work.wr)->traits & BELLHOP_OP_ATOMIC)
			ASSERT_EQ(opened.transport.original, work.word)
				<< "not once, or out of order";
		else
			fetched_.put(fetched_.address(plan.request) + plan.offset, opened.payload);
	}

	void expect_done(u32 request)
	{
		const Work &work = work_[request];

		switch (work.wr) {
		case BELLHOP_WR_RDMA_WRITE:
		case BELLHOP_WR_RDMA_WRITE_WITH_IMM:
			ASSERT_TRUE(other_->written().holds(request, work)) << work.number;
			break;
		case BELLHOP_WR_RDMA_READ:
			for (u32 i = 0; i < work.length; i++)
				ASSERT_EQ(fetched_[fetched_.address(request) + i],
					  other_->source()[i])
					<< "byte " << i << " of number " << work.number;
			break;
		case BELLHOP_WR_ATOMIC_WRITE:
			ASSERT_GE(other_->stored_word(), work.word);
			break;
		default:
			break;
		}
	}

	const Setup setup_;
	std::mt19937_64 random_;
	const RespondingPeer *other_ = nullptr;
	Area fetched_;
	std::array<bellhop_request, kDepth> requests_{};
	std::array<Work, kDepth> work_{};
	bellhop_requester requester_{};
	std::deque<Work> announced_;
	u64 posted_ = 0, completed_ = 0, repeated_ = 0;
	u64 added_ = 0, swapped_ = 0, stored_ = 0;
	bellhop_reason failed_ = BELLHOP_REASON_NONE;
};

} // namespace wire
