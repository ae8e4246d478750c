// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ring_race_test.cpp: both ends of a send ring and a completion ring, a thread each, for TSan.
//
// TSan knows nothing of fences, so the handshakes that need one are in handshake_test.cpp.
#include <array>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "ring.hpp"
#include "wqe.hpp"
extern "C" {
#include "ring.h"
#include "wqe.h"
}
#include "ring_memory.hpp"

namespace
{

constexpr u32 kSlots = 16;
constexpr u32 kEntries = 200000;
constexpr bellhop_wqe_limits kLimits = { 3, 48, BELLHOP_SERVICE_RC };

// Everything of entry number i is derived from i, so that a torn or stale one shows.
u32 mix(u32 i)
{
	return i * 2654435761u;
}

struct Request {
	explicit Request(u32 i)
	{
		for (u32 k = 0; k < inline_bytes.size(); k++)
			inline_bytes[k] = u8(i + k);
		bool is_inline = i % 3 == 0;

		for (u32 k = 0; k < sges.size(); k++)
			sges[k] = { u64{ mix(i) } + k, mix(i + k) % 1000, i ^ k };
		if (is_inline)
			sges[0] = { reinterpret_cast<u64>(inline_bytes.data()),
				    u32(inline_bytes.size()), 0 };
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.send_flags = is_inline ? IBV_SEND_INLINE : IBV_SEND_SIGNALED;
		wr.sg_list = sges.data();
		wr.num_sge = is_inline ? 1 : int(i % 4);
		wr.imm_data = i;
		wr.wr.rdma.rkey = ~i;
		wr.wr.rdma.remote_addr = u64{ i } << 32 | mix(i);
	}
	Request(const Request &) = delete;

	bool is_in(const bellhop_send_wqe &wqe) const
	{
		if (wqe.head.ex != wr.imm_data || wqe.head.rkey != wr.wr.rdma.rkey ||
		    wqe.head.remote_addr != wr.wr.rdma.remote_addr ||
		    wqe.head.flags != wr.send_flags)
			return false;
		if (wr.send_flags & IBV_SEND_INLINE)
			return wqe.length == inline_bytes.size() &&
			       !std::memcmp(wqe.data, inline_bytes.data(), wqe.length);
		return wqe.head.num_sge == wr.num_sge &&
		       !std::memcmp(wqe.sge, sges.data(), wqe.head.num_sge * sizeof(sges[0]));
	}

	std::array<u8, 48> inline_bytes;
	std::array<ibv_sge, 3> sges{};
	ibv_send_wr wr{};
};

bellhop_completion completion_of(u32 i)
{
	bellhop_completion completion{};

	completion.qpn = ~i;
	completion.wqe_index = i;
	completion.byte_len = mix(i);
	completion.ex = mix(~i);
	completion.src_qp = i / 2;
	completion.vendor_err = i + 1;
	completion.status = u8(i);
	return completion;
}

bool is_completion(const bellhop_cqe &cqe, u32 i)
{
	bellhop_completion expected = completion_of(i);

	return cqe.qpn == expected.qpn && cqe.wqe_index == expected.wqe_index &&
	       cqe.byte_len == expected.byte_len && cqe.ex == expected.ex &&
	       cqe.src_qp == expected.src_qp && cqe.vendor_err == expected.vendor_err &&
	       cqe.status == expected.status;
}

class RingRace : public ::testing::Test
{
protected:
	RingRace()
	{
		u32 stride = bellhop_wqe_send_stride(&kLimits);
		bellhop_ring_map map{};

		work_memory_ = std::make_unique<RingMemory<bellhop_wq_hdr>>(kSlots, stride);
		map.slots = kSlots;
		map.stride = stride;
		work_.attach(work_memory_->hdr(), map);
		kernel_work_ = { work_memory_->hdr(), kSlots - 1, stride, 0, 0 };

		map.stride = sizeof(bellhop_cqe);
		completions_.attach(completion_memory_.hdr(), map);
		kernel_completions_ = { completion_memory_.hdr(), kSlots - 1, 0, 0, 0 };
	}

	// The test goes on, and both threads end.
	void fail(const char *what, u32 i)
	{
		failed_ = true;
		ADD_FAILURE() << what << ", entry " << i;
	}

	void run_library()
	{
		u32 posted = 0, polled = 0;

		while (polled < kEntries && !failed_) {
			u32 before = posted + polled;

			while (posted < kEntries && posted - polled < kSlots) {
				Request request{ posted };

				if (bellhop::encode_send(work_.slot(posted), request.wr,
							 { kLimits.max_sge, kLimits.max_inline }))
					return fail("not encoded", posted);
				work_.publish(++posted);
			}
			while (const bellhop_cqe *cqe = completions_.front()) {
				if (!is_completion(*cqe, polled))
					return fail("wrong completion", polled);
				completions_.pop();
				polled++;
			}
			completions_.publish();
			if (before == posted + polled)
				std::this_thread::yield();
		}
	}

	// Has entry after entry taken, each by take(number), until all are or the test fails.
	template <class Take>
	void take_all(Take take)
	{
		for (u32 i = 0; i < kEntries && !failed_;) {
			int pending = bellhop_ring_pending(&kernel_work_);

			if (pending < 0)
				return fail("impossible producer", i);
			if (!pending)
				std::this_thread::yield();
			for (; pending && !failed_; pending--, i++)
				take(i);
		}
	}

	void execute(u32 i)
	{
		bellhop_send_wqe wqe;
		bellhop_completion completion = completion_of(i);

		if (bellhop_wqe_decode_send(&wqe, bellhop_ring_front(&kernel_work_), &kLimits))
			return fail("entry refused", i);
		if (bellhop_ring_take(&kernel_work_) != i || !Request{ i }.is_in(wqe))
			return fail("wrong entry", i);
		if (bellhop_ring_push(&kernel_completions_, &completion))
			return fail("completion ring full", i);
	}

	// Polls only: nothing but the consumer index tells the kernel which slots are free.
	void poll_all()
	{
		for (u32 i = 0; i < kEntries && !failed_;) {
			const bellhop_cqe *cqe = completions_.front();

			if (!cqe) {
				std::this_thread::yield();
				continue;
			}
			if (!is_completion(*cqe, i))
				return fail("wrong completion", i);
			completions_.pop();
			/* The index moves by ones and by more. */
			if (++i % 3 || i == kEntries)
				completions_.publish();
		}
	}

	void push_all()
	{
		for (u32 i = 0; i < kEntries && !failed_;) {
			bellhop_completion completion = completion_of(i);

			if (bellhop_ring_push(&kernel_completions_, &completion))
				std::this_thread::yield();
			else
				i++;
		}
	}

	/* To an SRQ, whose slots are free as soon as they are taken. */
	void post_receives()
	{
		for (u32 i = 0; i < kEntries && !failed_;) {
			ibv_sge sge = { mix(i), i, ~i };
			ibv_recv_wr wr{};

			if (i - work_.taken() >= kSlots) {
				std::this_thread::yield();
				continue;
			}
			wr.sg_list = &sge;
			wr.num_sge = 1;
			bellhop::encode_recv(work_.slot(i), wr, { kLimits.max_sge, 0 });
			bellhop::write_wr_id(work_.slot(i), u64{ i } << 32 | mix(i));
			work_.publish(++i);
		}
	}

	void take_receive(u32 i)
	{
		bellhop_recv_wqe wqe;

		if (bellhop_wqe_decode_recv(&wqe, bellhop_ring_front(&kernel_work_), &kLimits))
			return fail("entry refused", i);
		bellhop_ring_take(&kernel_work_);
		bellhop_ring_free(&kernel_work_);
		if (wqe.wr_id != (u64{ i } << 32 | mix(i)) || wqe.num_sge != 1 ||
		    wqe.sge[0].addr != mix(i) || wqe.sge[0].length != i || wqe.sge[0].lkey != ~i)
			fail("wrong entry", i);
	}

private:
	std::unique_ptr<RingMemory<bellhop_wq_hdr>> work_memory_;
	RingMemory<bellhop_cq_hdr> completion_memory_{ kSlots, sizeof(bellhop_cqe) };
	bellhop::WorkRing work_;
	bellhop::CompletionRing completions_;
	bellhop_work_ring kernel_work_{};
	bellhop_completion_ring kernel_completions_{};
	std::atomic<bool> failed_ = false;
};

} // namespace

TEST_F(RingRace, entries_and_completions_arrive_whole_and_in_order)
{
	std::thread kernel{ [this] { take_all([this](u32 i) { execute(i); }); } };

	run_library();
	kernel.join();
}

TEST_F(RingRace, a_completion_is_overwritten_only_after_it_was_taken)
{
	std::thread kernel{ [this] { push_all(); } };

	poll_all();
	kernel.join();
}

TEST_F(RingRace, a_shared_receive_is_overwritten_only_after_it_was_copied)
{
	std::thread kernel{ [this] { take_all([this](u32 i) { take_receive(i); }); } };

	post_receives();
	kernel.join();
}
