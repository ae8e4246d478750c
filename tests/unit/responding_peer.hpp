// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// responding_peer.hpp: an acceptor with memory and receives. It checks what it is sent against what
// the other end has announced.
#pragma once

#include <array>
#include <deque>
#include <random>

#include <gtest/gtest.h>
#include "peer_setup.hpp"

extern "C" {
#include "acceptor.h"
#include "opcode.h"
}

namespace wire
{

class RespondingPeer
{
public:
	/** @announced: messages that will take a receive, in their order; those that have come go.
	 */
	RespondingPeer(const Setup &setup, u32 psn, std::deque<Work> &announced, u64 seed)
	    : setup_(setup), announced_(announced), random_(seed), written_(setup.max_length),
	      received_(setup.max_length), source_(setup.max_length)
	{
		acceptor_.service = setup.service;
		acceptor_.mtu = setup.mtu;
		acceptor_.replies.queue = queue_.data();
		acceptor_.replies.depth = kDepth;
		acceptor_.replies.kept = kept_.data();
		acceptor_.replies.keep = setup.max_rd_atomic;
		bellhop_acceptor_begin(&acceptor_, psn);
		for (u32 i = 0; i < setup.max_length; i++)
			source_[i] = noise(seed, i);
	}

	void post_receive()
	{
		receives_ += receives_ < kDepth;
	}

	void accept(const Opened &opened)
	{
		u32 place;

		receive(opened);
		while (bellhop_acceptor_resume(&acceptor_, &place))
			receive({ stash_[place].transport, Bytes(stash_[place].payload) });
	}

	/** The next packet to be sent, if there is one. */
	std::optional<Bytes> next(u32 from, u32 to)
	{
		bellhop_reply_packet packet;
		bellhop_transport transport{};
		std::span<const u8> payload;

		if (!bellhop_replies_next(&acceptor_.replies, &packet))
			return std::nullopt;
		transport.opcode = packet.opcode;
		transport.psn = packet.psn;
		transport.pkey = 0xffff;
		transport.syndrome = packet.syndrome;
		transport.msn = acceptor_.msn;
		transport.original = packet.original;
		transport.payload = packet.bytes;
		if (packet.bytes)
			payload = std::span(source_).subspan(packet.address, packet.bytes);
		return build(transport, payload, from, to);
	}

	/** From now on no key is good any more. */
	void revoke()
	{
		revoked_ = true;
	}

	const Area &written() const
	{
		return written_;
	}

	/** What is read from it. */
	const Bytes &source() const
	{
		return source_;
	}

	u64 stored_word() const
	{
		return stored_word_;
	}

	u64 delivered() const
	{
		return taken_;
	}

	void check() const
	{
		ASSERT_LE(acceptor_.replies.tail - acceptor_.replies.head, kDepth);
	}

	void expect_guards() const
	{
		EXPECT_TRUE(written_.has_its_guards());
		EXPECT_TRUE(received_.has_its_guards());
	}

private:
	void receive(const Opened &opened)
	{
		const bellhop_acceptor_plan plan =
			bellhop_acceptor_receive(&acceptor_, &opened.transport);

		if (plan.abandons)
			give_back();
		if (plan.verdict == BELLHOP_ACCEPTOR_EXECUTE)
			execute(plan, opened);
		if (plan.verdict == BELLHOP_ACCEPTOR_KEEP)
			keep(plan.place, opened);
		refused_ |= plan.verdict == BELLHOP_ACCEPTOR_REFUSE;
	}

	/* Now and then there is no memory. */
	void keep(u32 place, const Opened &opened)
	{
		if (random_() % 64)
			stash_[place] = { opened.transport,
					  { opened.payload.begin(), opened.payload.end() } };
		else
			bellhop_acceptor_lose(&acceptor_, place);
	}

	void refuse(bellhop_reason reason)
	{
		refused_ = reason != BELLHOP_REASON_RNR;
		bellhop_acceptor_refuse(&acceptor_, reason, 1);
	}

	void execute(const bellhop_acceptor_plan &plan, const Opened &opened)
	{
		u64 original = 0;

		ASSERT_FALSE(refused_);
		if (revoked_ && plan.operation != BELLHOP_OPERATION_SEND)
			return refuse(BELLHOP_REASON_RKEY_UNKNOWN);
		if (plan.takes_receive && !take_receive())
			return refuse(BELLHOP_REASON_RNR);
		switch (plan.operation) {
		case BELLHOP_OPERATION_SEND:
			place(received_, received_.address(taken_) + plan.offset, opened.payload);
			break;
		case BELLHOP_OPERATION_WRITE:
			place(written_, plan.address + plan.offset, opened.payload);
			break;
		case BELLHOP_OPERATION_READ:
			ASSERT_LE(plan.address + plan.length, source_.size());
			break;
		case BELLHOP_OPERATION_ATOMIC:
			original = execute_atomic(opened.transport);
			break;
		case BELLHOP_OPERATION_ATOMIC_WRITE:
			std::memcpy(&stored_word_, opened.payload.data(), sizeof(stored_word_));
			break;
		default:
			FAIL() << "not an operation of these";
		}
		if (plan.last && is_taken_)
			deliver(plan, opened.transport);
		bellhop_acceptor_commit(&acceptor_, &plan, &opened.transport, original);
	}

	static void place(Area &area, u64 address, std::span<const u8> payload)
	{
		ASSERT_TRUE(area.has(address, u32(payload.size())));
		area.put(address, payload);
	}

	u64 execute_atomic(const bellhop_transport &transport)
	{
		const bool add = transport.opcode % 32 == BELLHOP_BTH_FETCH_ADD;
		u64 &word = add ? added_word_ : swapped_word_;
		const u64 original = word;

		if (add)
			word += transport.swap_add;
		else if (word == transport.compare)
			word = transport.swap_add;
		return original;
	}

	bool take_receive()
	{
		if (!receives_ || (setup_.is_reliable() && random_() % 65536 < setup_.not_ready))
			return false;
		receives_--;
		is_taken_ = true;
		return true;
	}

	void give_back()
	{
		receives_ += is_taken_;
		is_taken_ = false;
	}

	void deliver(const bellhop_acceptor_plan &plan, const bellhop_transport &transport)
	{
		is_taken_ = false;
		/* Of what is not reliable some do not come; those that do are whole, and in order.
		 */
		while (!setup_.is_reliable() && !announced_.empty() &&
		       !is(announced_.front(), plan, transport))
			announced_.pop_front();
		ASSERT_FALSE(announced_.empty()) << "nobody has sent it";
		ASSERT_TRUE(is(announced_.front(), plan, transport)) << "it is not what was sent";
		announced_.pop_front();
		taken_++;
	}

	bool is(const Work &work, const bellhop_acceptor_plan &plan,
		const bellhop_transport &transport) const
	{
		const u16 traits = bellhop_opcode_row(work.wr)->traits;
		const bool send = plan.operation == BELLHOP_OPERATION_SEND;
		const bool imm = bellhop_bth_row(transport.opcode)->headers & BELLHOP_HAS_IMMDT;

		return bool(traits & BELLHOP_OP_SCATTER) == send &&
		       work.length == plan.offset + plan.bytes &&
		       bool(traits & BELLHOP_OP_IMM) == imm &&
		       (!imm || transport.imm == u32(work.seed)) &&
		       (!send || received_.holds(u32(taken_), work));
	}

	/* A packet that has come too early. */
	struct Kept {
		bellhop_transport transport;
		Bytes payload;
	};

	const Setup setup_;
	std::deque<Work> &announced_;
	std::mt19937_64 random_;
	Area written_, received_;
	Bytes source_;
	std::array<bellhop_reply, kDepth> queue_{};
	std::array<bellhop_reply, kKeep> kept_{};
	std::array<Kept, BELLHOP_STASH_PLACES> stash_{};
	bellhop_acceptor acceptor_{};
	u64 added_word_ = 0, swapped_word_ = 0, stored_word_ = 0;
	u32 receives_ = 0;
	u64 taken_ = 0;
	bool is_taken_ = false, refused_ = false, revoked_ = false;
};

} // namespace wire
