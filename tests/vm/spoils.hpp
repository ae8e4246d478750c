// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// spoils.hpp: each of the reasons why a packet is nobody's, or why it must change nothing.
#ifndef BELLHOP_VM_SPOILS_HPP
#define BELLHOP_VM_SPOILS_HPP

#include "forgery.hpp"

namespace vm
{

/** What is done to a packet, and which counter says that it was seen. */
struct Spoil {
	const char *name;
	const char *counter; /* or none, where it is dropped in silence */
	bool (*suits)(const Mark &);
	void (*headers)(Forged &, std::mt19937 &) = nullptr;
	void (*body)(Bytes &, std::mt19937 &) = nullptr; /* from the BTH to the ICRC */
	bool breaks_icrc = false;
};

namespace spoil
{

inline bool any(const Mark &)
{
	return true;
}

inline bool connected(const Mark &mark)
{
	return mark.is_connected();
}

inline bool reliable(const Mark &mark)
{
	return mark.service == BELLHOP_BTH_RC;
}

inline bool datagrams(const Mark &mark)
{
	return mark.service == BELLHOP_BTH_UD && mark.qpn != gsi_qpn;
}

inline bool ordinary(const Mark &mark)
{
	return mark.qpn != gsi_qpn;
}

inline bool by_ipv4(const Mark &mark)
{
	return mark.family == Family::ipv4;
}

/* An address that no host has. */
inline void foreign_source(Forged &forged, std::mt19937 &random)
{
	const Host stranger = { "none", static_cast<int>(100 + random() % 100) };

	forged.envelope.source = stranger.gid(forged.mark.family);
}

inline void to_everybody(Forged &forged, std::mt19937 &random)
{
	if (forged.mark.family == Family::ipv6) {
		forged.envelope.to = { 0x33, 0x33, 0, 0, 0, 1 };
		inet_pton(AF_INET6, "ff02::1", forged.envelope.destination.raw);
	} else if (random() % 2) {
		forged.envelope.to = { 1, 0, 0x5e, 0, 0, 1 };
		forged.envelope.destination = mapped_gid("224.0.0.1");
	} else {
		forged.envelope.to.fill(0xff);
		forged.envelope.destination = mapped_gid("10.9.0.255");
	}
}

/* A number says nothing by itself: here it is nobody's. */
inline void at_other_host(Forged &forged, std::mt19937 &)
{
	forged.envelope.to = forged.other;
	forged.envelope.destination = forged.mark.from.gid(forged.mark.family);
	forged.envelope.source = forged.mark.at.gid(forged.mark.family);
}

inline void no_such_qp(Forged &forged, std::mt19937 &random)
{
	const uint32_t nobody[] = { 0, 0xfffffe, 0xffffff, forged.mark.qpn ^ 1u << 23 };

	forged.transport.qpn = nobody[random() % std::size(nobody)];
}

inline void near_qp(Forged &forged, std::mt19937 &random)
{
	foreign_source(forged, random);
	forged.transport.qpn = (forged.mark.qpn + random() % 9 - 4) & 0xffffff;
}

inline void wrong_pkey(Forged &forged, std::mt19937 &random)
{
	do
		forged.transport.pkey = static_cast<uint16_t>(random());
	while ((forged.transport.pkey & 0x7fff) == 0x7fff);
}

inline void wrong_qkey(Forged &forged, std::mt19937 &random)
{
	do
		forged.transport.qkey =
			random() % 4 ? random() & 0x7fffffff : 0x80010000 + random() % 2;
	while (forged.transport.qkey == forged.mark.qkey);
}

inline void too_long(Forged &forged, std::mt19937 &random)
{
	forged.transport.payload = 4097 + random() % 100;
	forged.payload.resize(forged.transport.payload);
}

/* Far ahead of all that was ever sent, and far behind that where numbers go round. */
inline void far_psn(Forged &forged, std::mt19937 &random)
{
	forged.transport.psn = (forged.mark.psn + (1u << 22) + random() % (1u << 21)) & 0xffffff;
}

/* Numbers of QPs are not numbers of services. */
inline void other_service(Forged &forged, std::mt19937 &random)
{
	static constexpr uint8_t to_connected[] = { BELLHOP_BTH_XRC, BELLHOP_BTH_UD };
	static constexpr uint8_t to_datagrams[] = { BELLHOP_BTH_XRC, BELLHOP_BTH_RC };
	const auto &services = forged.mark.is_connected() ? to_connected : to_datagrams;

	forged.transport.opcode = random() % 8 ? some_opcode(services[random() % 2], random)
					       : uint8_t{ BELLHOP_BTH_CNP };
	forged.transport.payload = 0;
}

inline void unreliable(Forged &forged, std::mt19937 &random)
{
	forged.transport.opcode = some_opcode(BELLHOP_BTH_UC, random);
	forged.transport.payload = 0;
}

inline void no_payload(Forged &forged, std::mt19937 &)
{
	forged.transport.payload = 0;
}

inline void acknowledges(Forged &forged, std::mt19937 &)
{
	forged.transport.opcode = BELLHOP_BTH_ACKNOWLEDGE;
	forged.transport.payload = 0;
}

inline void has_options(Forged &forged, std::mt19937 &random)
{
	forged.envelope.options = 1 + random() % 10;
}

/* Of its headers something is missing. */
inline void cut(Bytes &body, std::mt19937 &random)
{
	body.resize(random() % bellhop_bth_row(body[0])->bytes);
}

inline void not_words(Bytes &body, std::mt19937 &random)
{
	body.resize(body.size() + 1 + random() % 3);
}

inline void other_version(Bytes &body, std::mt19937 &random)
{
	body[1] |= static_cast<uint8_t>(1 + random() % 15);
}

inline void no_such_opcode(Bytes &body, std::mt19937 &random)
{
	do
		body[0] = static_cast<uint8_t>(random());
	while (has_opcode(body[0]));
}

inline void padded(Bytes &body, std::mt19937 &random)
{
	body[1] |= static_cast<uint8_t>((1 + random() % 3) << 4);
}

inline void more_words(Bytes &body, std::mt19937 &random)
{
	body.resize(body.size() + 4 * (1 + random() % 8));
}

} // namespace spoil

inline constexpr Spoil spoils[] = {
	{ "from another host", "dropped_wrong_address", spoil::connected, spoil::foreign_source },
	{ "to everybody", "dropped_wrong_address", spoil::any, spoil::to_everybody },
	{ "for nobody's QP", "dropped_nobody_there", spoil::any, spoil::no_such_qp },
	{ "for the QP of another host", "dropped_nobody_there", spoil::ordinary,
	  spoil::at_other_host },
	{ "for QPs with near numbers", nullptr, spoil::connected, spoil::near_qp },
	{ "of another partition", "dropped_pkey_mismatch", spoil::any, spoil::wrong_pkey },
	{ "with another Q_Key", "dropped_qkey_mismatch", spoil::datagrams, spoil::wrong_qkey },
	{ "too long", "dropped_too_long", spoil::datagrams, spoil::too_long },
	{ "with far numbers", nullptr, spoil::reliable, spoil::far_psn },
	{ "of another service", "dropped_not_ready", spoil::any, spoil::other_service },
	{ "of an unreliable service", nullptr, spoil::reliable, spoil::unreliable },
	{ "with options of IPv4", "dropped_malformed", spoil::by_ipv4, spoil::has_options },
	{ "cut off", "dropped_malformed", spoil::any, nullptr, spoil::cut },
	{ "not of words", "dropped_malformed", spoil::any, nullptr, spoil::not_words },
	{ "of another version", "dropped_malformed", spoil::any, nullptr, spoil::other_version },
	{ "of no opcode", "dropped_malformed", spoil::any, nullptr, spoil::no_such_opcode },
	{ "padded with nothing", "dropped_malformed", spoil::any, spoil::no_payload,
	  spoil::padded },
	{ "with payload where none can be", "dropped_malformed", spoil::any, spoil::acknowledges,
	  spoil::more_words },
	{ "with a wrong ICRC", "dropped_wrong_icrc", spoil::any, nullptr, nullptr, true },
};

} // namespace vm

#endif
