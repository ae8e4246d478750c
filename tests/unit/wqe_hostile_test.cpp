// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe_hostile_test.cpp: wqe.c while another thread keeps rewriting the entry: what was checked
// must be what was copied. Not for TSan: the race is the attack.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

extern "C" {
#include "wqe.h"
}
#include "ring_memory.hpp"

namespace
{

constexpr bellhop_wqe_limits kLimits = { BELLHOP_MAX_SGE, 0, BELLHOP_SERVICE_RC };
constexpr u32 kDecodes = 1000000;
constexpr u32 kPatience = 200 * kDecodes; // until the attacker must have had a processor

// Rewrites memory until it goes out of scope.
template <typename Strike>
class Attacker
{
public:
	explicit Attacker(Strike strike)
	    : thread_{ [this, strike] {
		      while (!stop_.load(std::memory_order_relaxed))
			      strike();
	      } }
	{
	}
	~Attacker()
	{
		stop_ = true;
		thread_.join();
	}

private:
	std::atomic<bool> stop_ = false;
	std::thread thread_;
};

void store(u32 &word, u32 value)
{
	std::atomic_ref{ word }.store(value, std::memory_order_relaxed);
}

// Decodes often, and longer if one of the two outcomes was not seen: then nobody attacked.
template <typename Decode>
void expect_both_outcomes(Decode decode)
{
	u32 outcomes[2] = {};

	for (u32 i = 0; i < kDecodes || (!(outcomes[0] && outcomes[1]) && i < kPatience); i++) {
		outcomes[decode()]++;
		if (::testing::Test::HasFailure())
			return;
	}
	EXPECT_GT(outcomes[0], 0u);
	EXPECT_GT(outcomes[1], 0u);
}

class WqeHostile : public ::testing::Test
{
protected:
	bellhop_sqe *sqe()
	{
		return reinterpret_cast<bellhop_sqe *>(memory_.slot(0));
	}
	bellhop_rqe *rqe()
	{
		return reinterpret_cast<bellhop_rqe *>(memory_.slot(0));
	}

private:
	RingMemory<bellhop_wq_hdr> memory_{ 1, 576 };
};

} // namespace

TEST_F(WqeHostile, decode_send__num_sge_is_read_once)
{
	constexpr u32 kPosted = BELLHOP_WR_SEND;
	/* the word that holds opcode, flags and num_sge */
	u32 &word = *reinterpret_cast<u32 *>(sqe());
	Attacker attacker{ [&word] {
		store(word, kPosted | 1u << 16);
		store(word, kPosted | 0xffffu << 16);
	} };

	store(word, kPosted);
	expect_both_outcomes([this] {
		bellhop_send_wqe wqe;
		bellhop_reason reason = bellhop_wqe_decode_send(&wqe, sqe(), &kLimits);

		if (reason == BELLHOP_REASON_NONE)
			EXPECT_LE(wqe.head.num_sge, kLimits.max_sge);
		else
			EXPECT_EQ(wqe.head.num_sge, 0xffff);
		return reason == BELLHOP_REASON_NONE;
	});
}

TEST_F(WqeHostile, decode_send__length_is_that_of_the_copied_elements)
{
	auto *sge = reinterpret_cast<bellhop_sge *>(sqe() + 1);

	sqe()->opcode = BELLHOP_WR_SEND;
	sqe()->num_sge = BELLHOP_MAX_SGE;
	Attacker attacker{ [sge] {
		for (u32 length : { 1, 1000 })
			for (u32 i = 0; i < BELLHOP_MAX_SGE; i++)
				store(sge[i].length, length);
	} };

	expect_both_outcomes([this] {
		bellhop_send_wqe wqe;
		u32 sum = 0;

		EXPECT_EQ(bellhop_wqe_decode_send(&wqe, sqe(), &kLimits), BELLHOP_REASON_NONE);
		for (const bellhop_sge &element : wqe.sge)
			sum += element.length;
		EXPECT_EQ(wqe.length, sum);
		return wqe.length > BELLHOP_MAX_SGE * 500;
	});
}

TEST_F(WqeHostile, decode_recv__num_sge_is_read_once)
{
	u32 &word = rqe()->num_sge;
	Attacker attacker{ [&word] {
		store(word, 1);
		store(word, ~0u);
	} };

	expect_both_outcomes([this] {
		bellhop_recv_wqe wqe;
		bellhop_reason reason = bellhop_wqe_decode_recv(&wqe, rqe(), &kLimits);

		EXPECT_LE(wqe.num_sge, kLimits.max_sge);
		return reason == BELLHOP_REASON_NONE;
	});
}
