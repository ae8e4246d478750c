/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* frame.h: the headers of an Ethernet frame, as far as rules look at them. */
#ifndef BELLHOP_PROTO_FRAME_H
#define BELLHOP_PROTO_FRAME_H

#include "base.h"

/* A frame's first bytes, which have every header that is looked at. */
#define BELLHOP_FRAME_HEADERS 128u

#define BELLHOP_FRAME_WORDS 8

enum bellhop_layer {
	BELLHOP_LAYER_VLAN = 1 << 0,
	BELLHOP_LAYER_IPV4 = 1 << 1,
	BELLHOP_LAYER_IPV6 = 1 << 2,
	BELLHOP_LAYER_TCP = 1 << 3,
	BELLHOP_LAYER_UDP = 1 << 4,
};

/* Flags of the IPv4 header, as verbs number them. */
enum bellhop_ipv4_flags {
	BELLHOP_IPV4_DONT_FRAGMENT = 1 << 1,
	BELLHOP_IPV4_MORE_FRAGMENTS = 1 << 2,
};

/**
 * struct bellhop_frame - the headers of a frame; numbers are as on the wire
 * @destination_mac: where to
 * @source_mac: where from
 * @ethertype: of what the frame holds, behind its VLAN tags
 * @vlan: the outer tag (TCI)
 * @source: the IP address; an IPv4 address is in the first word
 * @destination: likewise
 * @flow_label: of IPv6
 * @source_port: of TCP or UDP
 * @destination_port: likewise
 * @protocol: what the IP header says that follows it
 * @traffic_class: of IPv6, or the type of service of IPv4
 * @hop_limit: of IPv6, or the time to live of IPv4
 * @ipv4_flags: enum bellhop_ipv4_flags
 * @layers: each enum bellhop_layer that there is; what belongs to another is zero
 * @words: all of that, as rules look at it
 */
struct bellhop_frame {
	union {
		struct {
			u8 destination_mac[6];
			u8 source_mac[6];
			__be16 ethertype;
			__be16 vlan;
			u8 source[16];
			u8 destination[16];
			__be32 flow_label;
			__be16 source_port;
			__be16 destination_port;
			u8 protocol;
			u8 traffic_class;
			u8 hop_limit;
			u8 ipv4_flags;
			u32 layers;
		};
		u64 words[BELLHOP_FRAME_WORDS];
	};
};

/**
 * bellhop_frame_decode() - reads a frame's headers
 * @frame: filled in
 * @bytes: the frame's first bytes, from anybody
 * @length: how many; BELLHOP_FRAME_HEADERS is enough
 *
 * A header that is cut off, or is none, ends it; so does a fragment that is not the first.
 * Return: false of what is no frame: there is no Ethernet header.
 */
bool bellhop_frame_decode(struct bellhop_frame *frame, const u8 *bytes, u32 length);

/**
 * bellhop_frame_tag() - gives a frame the tag that was in front of the others
 * @frame: was decoded without it
 * @vlan: the tag (TCI)
 */
static inline void bellhop_frame_tag(struct bellhop_frame *frame, __be16 vlan)
{
	frame->vlan = vlan;
	frame->layers |= BELLHOP_LAYER_VLAN;
}

#endif /* BELLHOP_PROTO_FRAME_H */
