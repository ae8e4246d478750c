// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// roce.hpp: RoCEv2 packets in Ethernet frames, from anybody to anybody, with an ICRC that is right.
#ifndef BELLHOP_VM_ROCE_HPP
#define BELLHOP_VM_ROCE_HPP

#include "frames.hpp"
#include "hosts.hpp"

extern "C" {
#include "icrc.h"
#include "transport.h"
}

namespace vm
{

using Bytes = std::vector<uint8_t>;

inline constexpr uint16_t roce_port = 4791;

/** What stands around a packet. */
struct Envelope {
	Mac to = {}, from = { 2, 0, 0, 0, 0, 9 };
	Family family = Family::ipv4;
	ibv_gid source = {}, destination = {}; /* as GIDs of that family */
	unsigned options = 0; /* words of them, of IPv4 */
	uint16_t id = 0; /* of IPv4; else it may not be cut into fragments */
};

/** A packet from its BTH on, without the ICRC; @transport says how much of @payload is in it. */
inline Bytes encode(const bellhop_transport &transport, std::span<const uint8_t> payload)
{
	Bytes bytes(BELLHOP_BTH_MAX_BYTES);

	bytes.resize(bellhop_transport_encode(&transport, bytes.data()));
	bytes.insert(bytes.end(), payload.begin(), payload.begin() + transport.payload);
	bytes.resize(bytes.size() + bellhop_transport_pad(transport.payload));
	return bytes;
}

/** The checksum of an IPv4 header. */
inline uint16_t checksum(std::span<const uint8_t> header)
{
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < header.size(); i += 2)
		sum += static_cast<uint32_t>(header[i] << 8 | header[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	return htons(static_cast<uint16_t>(~(sum + (sum >> 16))));
}

/** A frame, from its Ethernet header on. */
class Frame
{
public:
	/** @body: from the BTH to what is before the ICRC, whatever it is. */
	Frame(const Envelope &envelope, std::span<const uint8_t> body)
	    : udp_at_(sizeof(ether_header) + ip_bytes(envelope))
	{
		const uint16_t length =
			static_cast<uint16_t>(sizeof(udphdr) + body.size() + BELLHOP_ICRC_BYTES);
		udphdr udp = {};

		put_ethernet(envelope);
		if (envelope.family == Family::ipv4)
			put_ipv4(envelope, length);
		else
			put_ipv6(envelope, length);
		udp.source = htons(0xc000);
		udp.dest = htons(roce_port);
		udp.len = htons(length);
		append(&udp, sizeof(udp));
		append(body.data(), body.size());
		bytes_.resize(bytes_.size() + BELLHOP_ICRC_BYTES);
		if (body.size() >= BELLHOP_BTH_BYTES)
			seal();
	}

	/** One that was on the wire; nothing, if it is no whole packet for the port. */
	static std::optional<Frame> parse(std::span<const uint8_t> bytes)
	{
		const bool is_ipv6 = bytes.size() > 14 && bytes[14] >> 4 == 6;
		const size_t udp_at = sizeof(ether_header) + (is_ipv6 ? 40 : 20);

		if (bytes.size() < udp_at + sizeof(udphdr) + BELLHOP_BTH_BYTES + BELLHOP_ICRC_BYTES)
			return std::nullopt;
		if (!is_ipv6 && bytes[14] != 0x45)
			return std::nullopt;
		if (bytes[14 + (is_ipv6 ? 6 : 9)] != IPPROTO_UDP ||
		    (bytes[udp_at + 2] << 8 | bytes[udp_at + 3]) != roce_port)
			return std::nullopt;
		return Frame(Bytes(bytes.begin(), bytes.end()), udp_at);
	}

	/** From the BTH to the ICRC. */
	std::span<uint8_t> packet()
	{
		return std::span(bytes_).subspan(udp_at_ + sizeof(udphdr));
	}

	/** The ICRC of what is before it now. */
	void seal()
	{
		const std::span<uint8_t> all = packet();
		const size_t end = all.size() - BELLHOP_ICRC_BYTES;
		const uint8_t *ip = &bytes_[sizeof(ether_header)];
		/* What has options is refused before anybody looks at this. */
		uint32_t icrc = bellhop_icrc_begin(ip, *ip >> 4 == 6);

		icrc = bellhop_icrc_add(icrc, &all[BELLHOP_BTH_BYTES], end - BELLHOP_BTH_BYTES);
		bellhop_icrc_end(icrc, &all[end]);
	}

	/** In fragments of @size bytes, which is made a multiple of 8. Of IPv4 without options. */
	std::vector<Bytes> fragments(size_t size) const
	{
		const size_t start = sizeof(ether_header) + sizeof(iphdr);
		const size_t step = std::max<size_t>(size & ~size_t{ 7 }, 8);
		std::vector<Bytes> pieces;

		for (size_t at = start; at < bytes_.size(); at += step) {
			const size_t end = std::min(at + step, bytes_.size());
			Bytes piece(bytes_.begin(), bytes_.begin() + start);
			iphdr ip;

			std::memcpy(&ip, &piece[sizeof(ether_header)], sizeof(ip));
			ip.tot_len = htons(static_cast<uint16_t>(sizeof(ip) + end - at));
			ip.frag_off = htons(static_cast<uint16_t>(
				(at - start) / 8 | (end < bytes_.size() ? IP_MF : 0)));
			finish(piece, ip);
			piece.insert(piece.end(), bytes_.begin() + at, bytes_.begin() + end);
			pieces.push_back(std::move(piece));
		}
		return pieces;
	}

	const Bytes &bytes() const
	{
		return bytes_;
	}

	Bytes &bytes()
	{
		return bytes_;
	}

private:
	Frame(Bytes bytes, size_t udp_at) : bytes_(std::move(bytes)), udp_at_(udp_at) {}

	static size_t ip_bytes(const Envelope &envelope)
	{
		return envelope.family == Family::ipv4 ? sizeof(iphdr) + 4 * envelope.options
						       : sizeof(ip6_hdr);
	}

	void append(const void *from, size_t length)
	{
		const auto *start = static_cast<const uint8_t *>(from);

		bytes_.insert(bytes_.end(), start, start + length);
	}

	void put_ethernet(const Envelope &envelope)
	{
		const uint16_t type =
			htons(envelope.family == Family::ipv4 ? ETHERTYPE_IP : ETHERTYPE_IPV6);

		append(envelope.to.data(), envelope.to.size());
		append(envelope.from.data(), envelope.from.size());
		append(&type, sizeof(type));
	}

	static void finish(Bytes &bytes, iphdr &ip)
	{
		const size_t at = sizeof(ether_header);

		ip.check = 0;
		std::memcpy(&bytes[at], &ip, sizeof(ip));
		ip.check = checksum(std::span(bytes).subspan(at, 4 * ip.ihl));
		std::memcpy(&bytes[at], &ip, sizeof(ip));
	}

	void put_ipv4(const Envelope &envelope, uint16_t length)
	{
		iphdr ip = {};

		ip.version = 4;
		ip.ihl = (5 + envelope.options) & 0xf;
		ip.tot_len = htons(static_cast<uint16_t>(ip_bytes(envelope) + length));
		ip.id = envelope.id;
		ip.frag_off = htons(envelope.id ? 0 : IP_DF);
		ip.ttl = 64;
		ip.protocol = IPPROTO_UDP;
		std::memcpy(&ip.saddr, envelope.source.raw + 12, sizeof(ip.saddr));
		std::memcpy(&ip.daddr, envelope.destination.raw + 12, sizeof(ip.daddr));
		append(&ip, sizeof(ip));
		/* The option that says nothing. */
		bytes_.resize(bytes_.size() + 4 * envelope.options, 1);
		finish(bytes_, ip);
	}

	void put_ipv6(const Envelope &envelope, uint16_t length)
	{
		ip6_hdr ip = {};

		ip.ip6_flow = htonl(6u << 28);
		ip.ip6_plen = htons(length);
		ip.ip6_nxt = IPPROTO_UDP;
		ip.ip6_hlim = 64;
		std::memcpy(&ip.ip6_src, envelope.source.raw, sizeof(ip.ip6_src));
		std::memcpy(&ip.ip6_dst, envelope.destination.raw, sizeof(ip.ip6_dst));
		append(&ip, sizeof(ip));
	}

	Bytes bytes_;
	size_t udp_at_;
};

} // namespace vm

#endif
