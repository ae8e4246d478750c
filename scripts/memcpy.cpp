// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// memcpy.cpp: prints how fast this machine copies, one line per size: bytes, then MiB/s.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

namespace
{

constexpr std::array<std::size_t, 2> kSizes{ 64 << 10, 1 << 20 };
constexpr std::size_t kBytesPerRound = 64 << 20;
constexpr int kRounds = 9;

// One source and one destination, as perftest's buffers are. The barrier keeps the compiler from
// seeing that a copy repeats the one before.
double rate(const std::vector<std::byte> &from, std::vector<std::byte> &to)
{
	const auto start = std::chrono::steady_clock::now();
	for (std::size_t done = 0; done < kBytesPerRound; done += from.size()) {
		std::memcpy(to.data(), from.data(), from.size());
		asm volatile("" : : "r"(to.data()), "r"(from.data()) : "memory");
	}
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
	return kBytesPerRound / took.count() / (1 << 20);
}

double median_rate(std::size_t size)
{
	const std::vector<std::byte> from(size, std::byte{ 1 });
	std::vector<std::byte> to(size);
	std::array<double, kRounds> rates;
	for (double &r : rates)
		r = rate(from, to);
	std::sort(rates.begin(), rates.end());
	return rates[kRounds / 2];
}

} // namespace

int main()
{
	for (const std::size_t size : kSizes)
		std::printf("%zu %.1f\n", size, median_rate(size));
}
