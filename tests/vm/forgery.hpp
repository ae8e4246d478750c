// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// forgery.hpp: packets that somebody on the network makes up for QPs of others, of whom he knows
// all that there is to know, and what can be wrong with them.
#ifndef BELLHOP_VM_FORGERY_HPP
#define BELLHOP_VM_FORGERY_HPP

#include <map>
#include "roce.hpp"

namespace vm
{

/** A QP that packets are made up for. */
struct Mark {
	Host at = far, from = away; /* where it is, and where its peer is */
	Family family = Family::ipv4;
	uint8_t service = BELLHOP_BTH_RC; /* what its opcodes begin with */
	uint32_t qpn = 0;
	uint32_t peer = 0; /* the peer's number */
	uint32_t qkey = 0;
	uint32_t psn = first_psn; /* of its first packet */
	uint32_t mtu = 1024;
	std::array<uint32_t, 4> keys = {};
	uint64_t address = 0; /* of what the first key opens */
	uint64_t length = 0;
	bool is_victim = false; /* nothing that it may believe */

	bool is_connected() const
	{
		return service != BELLHOP_BTH_UD;
	}
};

/** A packet before it is one. */
struct Forged {
	Mark mark;
	Envelope envelope;
	bellhop_transport transport = {};
	Bytes payload = {};
	Mac other = {}; /* of the peer's host */
};

/** The MACs of the hosts. */
struct Neighbours {
	Mac far, away;

	const Mac &of(const Host &host) const
	{
		return host.number == vm::far.number ? far : away;
	}
};

inline bool has_opcode(unsigned opcode)
{
	return bellhop_bth_row(static_cast<uint8_t>(opcode))->bytes;
}

inline bool takes_payload(uint8_t opcode)
{
	return bellhop_bth_row(opcode)->traits & BELLHOP_BTH_HAS_PAYLOAD;
}

inline uint8_t some_opcode(uint8_t service, std::mt19937 &random)
{
	unsigned opcode;

	do
		opcode = service | random() % 32;
	while (!has_opcode(opcode));
	return static_cast<uint8_t>(opcode);
}

/** Makes packets up, as good as it can. */
class Forger
{
public:
	Forger(const Neighbours &neighbours, std::mt19937 &random)
	    : neighbours_(neighbours), random_(random)
	{
	}

	/** One packet, or some that belong together. */
	std::vector<Forged> story(const Mark &mark)
	{
		std::vector<Forged> story;
		const uint32_t psn =
			expected(mark, mark.qpn) + (random_() % 4 ? 0 : random_() % 16);

		if (mark.is_connected() && random_() % 2)
			story = message(mark, psn);
		else
			story.push_back(some_packet(mark, random_() % 16 ? psn : some_psn(mark)));
		next_[mark.qpn] = psn + static_cast<uint32_t>(story.size());
		return story;
	}

	/** A packet was on the wire: who it is for expects the next one, or who it is from. */
	void hear(std::span<const uint8_t> packet)
	{
		bellhop_transport transport;
		const size_t length = packet.size() - BELLHOP_ICRC_BYTES;

		if (!bellhop_transport_decode(&transport, packet.data(), length))
			return;
		if (!is_response(transport.opcode)) {
			next_[transport.qpn] = transport.psn + 1;
			return;
		}
		const auto from = owners_.find(transport.qpn);
		if (from != owners_.end())
			next_[from->second] = transport.psn + (transport.syndrome < 32);
	}

private:
	template <typename T>
	T one_of(std::initializer_list<T> values)
	{
		return values.begin()[random_() % values.size()];
	}

	static bool is_response(uint8_t opcode)
	{
		return bellhop_bth_row(opcode)->traits & BELLHOP_BTH_IS_RESPONSE;
	}

	/* What the QP @qpn expects, or its peer. */
	uint32_t expected(const Mark &mark, uint32_t qpn)
	{
		/* Of those that are gone nobody asks any more. */
		if (next_.size() > 4096) {
			next_.clear();
			owners_.clear();
		}
		owners_[mark.peer] = mark.qpn;
		return next_.try_emplace(qpn, mark.psn).first->second;
	}

	uint64_t noise()
	{
		return uint64_t{ random_() } << 32 | random_();
	}

	uint32_t some_psn(const Mark &mark)
	{
		return one_of<uint32_t>({ mark.psn - 1, mark.psn + (1u << 23) - 1,
					  mark.psn + (1u << 23), mark.psn - 0x10000,
					  mark.psn - 0x10001, static_cast<uint32_t>(random_()) }) &
		       0xffffff;
	}

	uint64_t some_address(const Mark &mark)
	{
		const uint64_t end = mark.address + mark.length;

		return one_of<uint64_t>({ mark.address, mark.address + random_() % 64,
					  mark.address - 1, end - 1, end - 8, end, end + 1, 0,
					  ~0ull, ~7ull, 1ull << 63,
					  mark.address ^ 1ull << random_() % 64, noise() });
	}

	uint32_t some_length(const Mark &mark)
	{
		const auto whole = static_cast<uint32_t>(mark.length);

		return one_of<uint32_t>({ 0, 1, 8, mark.mtu - 1, mark.mtu, mark.mtu + 1, whole,
					  whole - 1, whole + 1, 1u << 31, (1u << 31) + 1, ~0u,
					  static_cast<uint32_t>(random_()) });
	}

	uint32_t some_payload(const Mark &mark)
	{
		return one_of<uint32_t>({ 0, 1, 3, 4, 8, mark.mtu - 1, mark.mtu, mark.mtu + 1, 4096,
					  static_cast<uint32_t>(random_() % 1500) });
	}

	Forged start(const Mark &mark, uint8_t opcode, uint32_t psn)
	{
		Forged forged = { .mark = mark, .envelope = {} };
		bellhop_transport &transport = forged.transport;

		forged.envelope.to = neighbours_.of(mark.at);
		forged.other = neighbours_.of(mark.from);
		forged.envelope.family = mark.family;
		forged.envelope.source = mark.from.gid(mark.family);
		forged.envelope.destination = mark.at.gid(mark.family);
		transport.opcode = opcode;
		transport.psn = psn & 0xffffff;
		transport.qpn = mark.qpn;
		transport.pkey = random_() % 4 ? 0xffff : 0x7fff;
		transport.qkey = mark.qkey;
		transport.source_qpn = mark.peer;
		transport.rkey = mark.keys[0];
		transport.address = mark.address;
		transport.length = 8;
		transport.migrated = true;
		transport.ack_request = random_() % 2;
		transport.solicited = random_() % 4 == 0;
		transport.repairs = random_() % 2;
		return forged;
	}

	void put_payload(Forged &forged, uint32_t length)
	{
		forged.transport.payload = takes_payload(forged.transport.opcode) ? length : 0;
		forged.payload.resize(forged.transport.payload);
		for (uint8_t &byte : forged.payload)
			byte = static_cast<uint8_t>(random_());
	}

	/* A message of some packets, nearly always of the right lengths. */
	std::vector<Forged> message(const Mark &mark, uint32_t psn)
	{
		const bool writes = random_() % 2;
		const uint32_t packets = 1 + random_() % 5, tail = random_() % (mark.mtu + 1);
		const uint32_t total = (packets - 1) * mark.mtu + tail;
		std::vector<Forged> story;

		for (uint32_t i = 0; i < packets; i++) {
			const bool is_first = !i, is_last = i == packets - 1;
			const unsigned place = is_first && is_last ? 4
					       : is_first	   ? 0
					       : is_last	   ? 2
								   : 1;
			const unsigned imm = is_last && random_() % 4 == 0;
			const auto opcode =
				static_cast<uint8_t>(mark.service | (6 * writes + place + imm));
			Forged forged = start(mark, opcode, psn + i);

			forged.transport.length = random_() % 8 ? total : some_length(mark);
			if (random_() % 8 == 0)
				forged.transport.address = some_address(mark);
			if (random_() % 8 == 0)
				forged.transport.rkey = mark.keys[random_() % mark.keys.size()];
			put_payload(forged, random_() % 16 ? (is_last ? tail : mark.mtu)
							   : some_payload(mark));
			story.push_back(std::move(forged));
		}
		/* Now and then not all of them, or not in this order. */
		if (random_() % 8 == 0)
			std::ranges::shuffle(story, random_);
		if (random_() % 8 == 0)
			story.resize(1 + random_() % story.size());
		return story;
	}

	/* Any opcode, and anything in its headers. */
	Forged some_packet(const Mark &mark, uint32_t psn)
	{
		uint8_t opcode = some_opcode(mark.service, random_);

		if (random_() % 4 == 0 && mark.service == BELLHOP_BTH_RC)
			opcode = one_of<uint8_t>({ BELLHOP_BTH_ACKNOWLEDGE,
						   BELLHOP_BTH_READ_RESPONSE_ONLY,
						   BELLHOP_BTH_ATOMIC_ACKNOWLEDGE });
		/* An answer is to what its QP has asked for, not long ago. */
		if (is_response(opcode))
			psn = expected(mark, mark.peer) - 1 - random_() % 4;
		Forged forged = start(mark, opcode, psn);
		bellhop_transport &transport = forged.transport;

		put_payload(forged, some_payload(mark));
		if (random_() % 2)
			transport.rkey = mark.keys[random_() % mark.keys.size()];
		if (random_() % 2)
			transport.address = some_address(mark);
		transport.length = random_() % 2 ? transport.payload : some_length(mark);
		transport.swap_add = noise();
		transport.compare = noise();
		transport.original = noise();
		transport.syndrome = static_cast<uint8_t>(random_());
		transport.msn = random_() & 0xffffff;
		transport.srqn = random_() & 0xffffff;
		transport.imm = static_cast<uint32_t>(random_());
		transport.invalidate_rkey = mark.keys[random_() % mark.keys.size()];
		transport.flush_placement = random_() % 4;
		transport.flush_selectivity = random_() % 4;
		transport.fecn = random_() % 8 == 0;
		transport.becn = random_() % 8 == 0;
		transport.migrated = random_() % 8;
		if (mark.qpn == gsi_qpn)
			put_mad(forged);
		return forged;
	}

	/* A management datagram of communication, or nearly. */
	void put_mad(Forged &forged)
	{
		put_payload(forged, random_() % 8 ? 256 : random_() % 300);
		if (forged.payload.size() < 24)
			return;
		const uint8_t head[] = { 1, static_cast<uint8_t>(random_() % 8 ? 7 : random_()), 2,
					 3 };

		std::ranges::copy(head, forged.payload.begin());
		forged.payload[16] = 0;
		forged.payload[17] = static_cast<uint8_t>(0x10 + random_() % 12);
	}

	const Neighbours neighbours_;
	std::mt19937 &random_;
	std::map<uint32_t, uint32_t> next_; /* for each QP, what it expects, as far as is known */
	std::map<uint32_t, uint32_t> owners_; /* whose peer a QP is */
};

} // namespace vm

#endif
