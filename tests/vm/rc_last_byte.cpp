// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rc_last_byte.cpp: whoever sees the last byte of an RDMA WRITE sees all of it, as programs rely
// on.
#include <atomic>
#include <future>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

/*
 * Each round writes one byte value all over the range. The watcher spins on the last byte alone, as
 * ib_write_lat does, and then looks at every other; the writer waits for it before the next round.
 */
class Watcher
{
public:
	Watcher(volatile uint8_t *start, uint32_t length) : start_(start), length_(length) {}

	/** Runs until stop(). Returns an empty text, or what was wrong. */
	std::string watch()
	{
		for (uint32_t round = 1;; round++) {
			const uint8_t value = value_of(round);

			if (!await(value))
				return "";
			std::atomic_thread_fence(std::memory_order_acquire);
			for (uint32_t i = 0; i < length_; i++)
				if (start_[i] != value) {
					seen_ = failed;
					return "round " + std::to_string(round) + ": byte " +
					       std::to_string(i) + " of " +
					       std::to_string(length_) + " came after the last";
				}
			seen_ = round;
		}
	}

	/** Waits until @round was checked. False when it was found wrong, or not found. */
	bool checked(uint32_t round) const
	{
		const Deadline deadline(patience);

		for (uint32_t spin = 0; seen_ != round; spin++)
			if (seen_ == failed || (spin % 1024 == 0 && deadline.passed()))
				return false;
		return true;
	}

	void stop()
	{
		stopped_ = true;
	}

	static uint8_t value_of(uint32_t round)
	{
		return static_cast<uint8_t>(round % 255 + 1);
	}

private:
	bool await(uint8_t value) const
	{
		while (start_[length_ - 1] != value)
			if (stopped_)
				return false;
		return true;
	}

	static constexpr uint32_t failed = ~0u;
	volatile uint8_t *start_;
	uint32_t length_;
	std::atomic<uint32_t> seen_ = 0;
	std::atomic<bool> stopped_ = false;
};

class LastByte : public testing::TestWithParam<uint32_t>
{
};

TEST_P(LastByte, lands_last)
{
	const uint32_t length = GetParam();
	const size_t offset = 4096 - 5; /* unaligned, over a page boundary */
	Pair pair;
	Region a(pair.a.pd, length + 64), b(pair.b.pd, length + 4096);
	Watcher watcher(b.memory.data() + offset, length);
	std::future<std::string> verdict =
		std::async(std::launch::async, &Watcher::watch, &watcher);
	const Deadline end(2.5);
	uint32_t rounds = 0;
	bool fine = true;

	while (fine && rounds < 20000 && !end.passed()) {
		rounds++;
		std::memset(a.memory.data() + 3, Watcher::value_of(rounds), length);
		fine = !post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
					  .sges = { a.sge(3, length) },
					  .remote = b.address(offset),
					  .rkey = b.mr.rkey(),
					  .id = rounds }) &&
		       watcher.checked(rounds) &&
		       expect(pair.a.send_cq, pair.a.qp, rounds).status == IBV_WC_SUCCESS;
	}
	watcher.stop();
	EXPECT_EQ(verdict.get(), "");
	EXPECT_TRUE(fine) << "in round " << rounds;
	note("%u bytes: %u rounds", length, rounds);
	EXPECT_GE(rounds, 3u) << "too slow to show anything";
}

INSTANTIATE_TEST_SUITE_P(of, LastByte,
			 testing::Values(9, 64, 65, 100, 1000, 4096, 5000, 65536, 100001, 1 << 20),
			 [](const auto &info) { return std::to_string(info.param) + "_bytes"; });

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
