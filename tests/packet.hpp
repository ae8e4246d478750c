// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// packet.hpp: Ethernet frames, built header by header of libc's structs.
#ifndef BELLHOP_TESTS_PACKET_HPP
#define BELLHOP_TESTS_PACKET_HPP

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <span>
#include <vector>

using Mac = std::array<uint8_t, 6>;

class Packet
{
public:
	static constexpr Mac to_nobody = { 2, 0, 0, 0, 0, 1 }, from_nobody = { 2, 0, 0, 0, 0, 2 };
	static constexpr uint16_t source_port = 1111, destination_port = 4792;

	explicit Packet(uint16_t type, const Mac &to = to_nobody, const Mac &from = from_nobody)
	{
		append(to);
		append(from);
		append(htons(type));
	}

	/** Puts a tag in front of the type, and of tags that are there. */
	Packet &vlan(uint16_t tci, uint16_t type = ETHERTYPE_VLAN)
	{
		const uint8_t tag[] = { uint8_t(type >> 8), uint8_t(type), uint8_t(tci >> 8),
					uint8_t(tci) };

		bytes_.insert(bytes_.begin() + 12, std::begin(tag), std::end(tag));
		return *this;
	}

	/** @options: words of them. */
	Packet &ipv4(uint8_t protocol, unsigned options = 0, uint16_t fragment = IP_DF)
	{
		iphdr header{};

		header.version = 4;
		header.ihl = (5 + options) & 0xf;
		header.tos = 0x12;
		header.frag_off = htons(fragment);
		header.ttl = 63;
		header.protocol = protocol;
		header.saddr = inet_addr("10.1.2.3");
		header.daddr = inet_addr("10.4.5.6");
		append(header);
		return pad(bytes_.size() + 4 * options);
	}

	/** Other addresses than ipv4() has given it, which comes just before. */
	Packet &between(const char *source, const char *destination)
	{
		const in_addr_t addresses[] = { inet_addr(source), inet_addr(destination) };

		std::memcpy(&bytes_[bytes_.size() - sizeof(addresses)], addresses,
			    sizeof(addresses));
		return *this;
	}

	Packet &ipv6(uint8_t next)
	{
		ip6_hdr header{};

		header.ip6_flow = htonl(6u << 28 | 0x5au << 20 | 0xabcde);
		header.ip6_nxt = next;
		header.ip6_hlim = 17;
		inet_pton(AF_INET6, "fd00::1", &header.ip6_src);
		inet_pton(AF_INET6, "fd00::2", &header.ip6_dst);
		append(header);
		return *this;
	}

	Packet &udp(uint16_t to = destination_port)
	{
		udphdr header{};

		header.source = htons(source_port);
		header.dest = htons(to);
		append(header);
		return *this;
	}

	Packet &tcp(uint16_t to = destination_port)
	{
		tcphdr header{};

		header.source = htons(source_port);
		header.dest = htons(to);
		append(header);
		return *this;
	}

	/** Makes it so long, with zeros. */
	Packet &pad(size_t length)
	{
		bytes_.resize(length);
		return *this;
	}

	std::span<const uint8_t> bytes() const
	{
		return bytes_;
	}

	size_t size() const
	{
		return bytes_.size();
	}

private:
	template <class T>
	void append(const T &header)
	{
		const auto *bytes = reinterpret_cast<const uint8_t *>(&header);

		bytes_.insert(bytes_.end(), bytes, bytes + sizeof(header));
	}

	std::vector<uint8_t> bytes_;
};

#endif
