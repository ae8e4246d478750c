// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// network.hpp: a network between two peers, with a clock of its own, that does to packets what
// networks do. All chance is the seed's.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include "wire_packet.hpp"

namespace wire
{

/** How bad it is. Chances are of 2^16. */
struct Weather {
	unsigned lose = 0;
	unsigned twice = 0;
	unsigned corrupt = 0;
	u64 delay_ns = 1000; /* at least */
	u64 jitter_ns = 0; /* what is more than packets are apart puts them out of order */
	u64 cut_every_ns = 0; /* nothing gets through for an eighth of that time, and again */
};

class Network
{
public:
	Network(const Weather &weather, u64 seed) : weather_(weather), random_(seed) {}

	u64 now() const
	{
		return now_;
	}

	void send(unsigned to, Bytes &&bytes)
	{
		packets_++;
		keep(bytes);
		if (is_cut() || chance(weather_.lose))
			return;
		if (chance(weather_.twice))
			enqueue(to, Bytes(bytes));
		enqueue(to, std::move(bytes));
	}

	/** When the next packet arrives; nothing if none is under way. */
	std::optional<u64> next() const
	{
		return under_way_.empty() ? std::nullopt
					  : std::optional<u64>(under_way_.begin()->first);
	}

	/** Takes it out. */
	std::pair<unsigned, Bytes> arrive()
	{
		auto node = under_way_.extract(under_way_.begin());

		return std::move(node.mapped());
	}

	void advance(u64 to)
	{
		now_ = std::max(now_, to);
	}

	u64 packets() const
	{
		return packets_;
	}

	/** From here on all that is sent goes into a file that tcpdump and tshark read. */
	void capture(const std::string &name)
	{
		struct {
			u32 magic = 0xa1b23c4d; /* nanoseconds */
			u16 major = 2, minor = 4;
			u32 zone = 0, accuracy = 0, length = 65535, type = 228; /* IPv4 */
		} head;

		capture_.reset(std::fopen(name.c_str(), "wb"));
		if (capture_)
			std::fwrite(&head, sizeof(head), 1, capture_.get());
	}

private:
	struct Close {
		void operator()(std::FILE *file) const
		{
			std::fclose(file);
		}
	};

	bool chance(unsigned of_65536)
	{
		return of_65536 && random_() % 65536 < of_65536;
	}

	bool is_cut() const
	{
		return weather_.cut_every_ns &&
		       now_ % weather_.cut_every_ns < weather_.cut_every_ns / 8;
	}

	void enqueue(unsigned to, Bytes &&bytes)
	{
		const u64 jitter = weather_.jitter_ns ? random_() % weather_.jitter_ns : 0;

		/* Behind the IP header, which has a checksum of its own. */
		if (chance(weather_.corrupt))
			bytes[kUdp + random_() % (bytes.size() - kUdp)] ^= u8(1 << random_() % 8);
		under_way_.emplace(now_ + weather_.delay_ns + jitter,
				   std::make_pair(to, std::move(bytes)));
	}

	void keep(const Bytes &bytes)
	{
		const u32 head[] = { u32(now_ / 1000000000), u32(now_ % 1000000000),
				     u32(bytes.size()), u32(bytes.size()) };

		if (!capture_)
			return;
		std::fwrite(head, sizeof(head), 1, capture_.get());
		std::fwrite(bytes.data(), bytes.size(), 1, capture_.get());
	}

	const Weather weather_;
	std::mt19937_64 random_;
	std::multimap<u64, std::pair<unsigned, Bytes>> under_way_;
	std::unique_ptr<std::FILE, Close> capture_;
	u64 now_ = 1;
	u64 packets_ = 0;
};

} // namespace wire
