// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wire_packet.hpp: RoCEv2 packets as they are on the wire, from the IP header to the ICRC.
#pragma once

#include <arpa/inet.h>
#include <cstring>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <optional>
#include <span>
#include <vector>

extern "C" {
#include "icrc.h"
#include "transport.h"
}

namespace wire
{

using Bytes = std::vector<u8>;

constexpr size_t kUdp = sizeof(iphdr), kBth = kUdp + sizeof(udphdr);
constexpr u16 kPort = 4791;

inline u32 icrc_of(const Bytes &bytes, size_t length)
{
	return bellhop_icrc_add(bellhop_icrc_begin(bytes.data(), false),
				&bytes[kBth + BELLHOP_BTH_BYTES],
				length - kBth - BELLHOP_BTH_BYTES);
}

/** A packet; @transport says how long @payload is. */
inline Bytes build(const bellhop_transport &transport, std::span<const u8> payload, u32 source,
		   u32 destination)
{
	Bytes bytes(kBth + BELLHOP_BTH_MAX_BYTES);

	bytes.resize(kBth + bellhop_transport_encode(&transport, &bytes[kBth]));
	bytes.insert(bytes.end(), payload.begin(), payload.end());
	bytes.resize(bytes.size() + bellhop_transport_pad(transport.payload));
	const size_t end = bytes.size();
	bytes.resize(end + BELLHOP_ICRC_BYTES);

	iphdr ip{};
	ip.version = 4;
	ip.ihl = 5;
	ip.tot_len = htons(static_cast<u16>(bytes.size()));
	ip.frag_off = htons(IP_DF);
	ip.ttl = 64;
	ip.protocol = IPPROTO_UDP;
	ip.saddr = htonl(source);
	ip.daddr = htonl(destination);
	udphdr udp{};
	udp.source = htons(0xc000);
	udp.dest = htons(kPort);
	udp.len = htons(static_cast<u16>(bytes.size() - kUdp));
	std::memcpy(bytes.data(), &ip, sizeof(ip));
	std::memcpy(&bytes[kUdp], &udp, sizeof(udp));
	bellhop_icrc_end(icrc_of(bytes, end), &bytes[end]);
	return bytes;
}

/** What is in a packet, if nothing on the way has harmed it. */
struct Opened {
	bellhop_transport transport;
	std::span<const u8> payload;
};

inline std::optional<Opened> open(const Bytes &bytes)
{
	const size_t end = bytes.size() - BELLHOP_ICRC_BYTES;
	u8 icrc[BELLHOP_ICRC_BYTES];
	Opened opened{};

	bellhop_icrc_end(icrc_of(bytes, end), icrc);
	if (std::memcmp(icrc, &bytes[end], sizeof(icrc)) != 0)
		return std::nullopt;
	const u32 at = bellhop_transport_decode(&opened.transport, &bytes[kBth], u32(end - kBth));
	if (!at)
		return std::nullopt;
	opened.payload = { &bytes[kBth + at], opened.transport.payload };
	return opened;
}

} // namespace wire
