// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mads.hpp: management datagrams as nobody would send them: heads that are right, and what follows
// is not (IBA 12.6, 13.4).
#ifndef BELLHOP_VM_MADS_HPP
#define BELLHOP_VM_MADS_HPP

#include <arpa/inet.h>
#include <cstring>
#include <random>
#include <vector>
#include <infiniband/verbs.h>

namespace vm
{

/** Makes them, for a listener of rdma_cm at an IPv4 address. */
class Mads
{
public:
	enum Kind {
		request, /* the messages of connections, in the order of their numbers */
		mra,
		reject,
		reply,
		ready,
		disconnect,
		disconnected,
		service_request,
		service_reply,
		load_path,
		path_loaded,
		listener_request,
		counters_get,
		unknown_get,
		other_class,
		noise,
		kinds
	};

	static constexpr size_t longest = 4096;

	Mads(const ibv_gid &gid, uint16_t port) : gid_(gid), port_(port) {}

	std::vector<uint8_t> make(Kind kind, std::mt19937 &random) const
	{
		std::vector<uint8_t> mad(mad_bytes);

		/* Half of each is zeros, so that it is not always the first field that is wrong. */
		for (uint8_t &byte : mad)
			byte = random() % 2 ? 0 : static_cast<uint8_t>(random());
		if (kind == noise && random() % 64 == 0)
			return mad;
		mad[0] = 1;
		const bool asks = kind == counters_get || kind == unknown_get;
		mad[1] = static_cast<uint8_t>(asks		    ? performance
					      : kind >= other_class ? random()
								    : communication);
		mad[2] = mad[1] == communication ? 2 : 1;
		mad[3] = static_cast<uint8_t>(asks ? get : kind >= other_class ? random() : send);
		put16(mad, 4, 0);
		put16(mad, 16, kind <= path_loaded ? first_message + kind : first_message);
		if (kind == listener_request)
			make_sensible(mad, random);
		if (kind == counters_get)
			put16(mad, 16, counters[random() % std::size(counters)]);
		/* Short and long ones, too. */
		if (random() % 8 == 0)
			mad.resize(random() % (random() % 2 ? mad_bytes : longest));
		return mad;
	}

private:
	static constexpr size_t mad_bytes = 256;
	static constexpr uint8_t performance = 4, communication = 7;
	static constexpr uint8_t get = 1, send = 3;
	static constexpr uint16_t first_message = 0x10;
	static constexpr uint16_t counters[] = { 0x01, 0x12, 0x1d };

	static void put16(std::vector<uint8_t> &mad, size_t at, unsigned value)
	{
		mad[at] = static_cast<uint8_t>(value >> 8);
		mad[at + 1] = static_cast<uint8_t>(value);
	}

	static void clear(std::vector<uint8_t> &mad, size_t at, size_t bytes)
	{
		std::memset(&mad[at], 0, bytes);
	}

	/* A request that rdma_cm may hand to the listener: a right service, path and header. */
	void make_sensible(std::vector<uint8_t> &mad, std::mt19937 &random) const
	{
		const bool is_right = random() % 4;

		/* The service: rdma_cm's, of TCP, and the port. */
		clear(mad, 32, 8);
		put16(mad, 36, 0x0106);
		put16(mad, 38, port_);
		/* Reliable connections; their partition; the path. */
		mad[67] &= 0xf9;
		put16(mad, 72, 0xffff);
		std::memcpy(&mad[80], gid_.raw, sizeof(gid_.raw));
		std::memcpy(&mad[96], gid_.raw, sizeof(gid_.raw));
		put16(mad, 114, 2);
		/* No other path. */
		if (is_right)
			clear(mad, 120, 44);
		/* The private data: version, IP version, port, addresses. */
		clear(mad, 164, 36);
		mad[165] = 4 << 4;
		put16(mad, 166, random());
		std::memcpy(&mad[180], &gid_.raw[12], 4);
		std::memcpy(&mad[196], &gid_.raw[12], 4);
		if (!is_right)
			mad[24 + random() % (mad_bytes - 24)] ^= 1 << random() % 8;
	}

	ibv_gid gid_;
	uint16_t port_;
};

} // namespace vm

#endif
