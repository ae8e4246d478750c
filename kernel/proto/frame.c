// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* frame.c: reads the headers of Ethernet frames (IEEE 802.3, 802.1Q; RFC 791, 8200, 9293, 768). */
#include "frame.h"
#include "octets.h"

#define ETHERNET_BYTES 14u
#define TAG_BYTES 4u
#define MAX_TAGS 2
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define PORTS_BYTES 4u

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_QINQ 0x88a8
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

/* What is left to be read. */
struct rest {
	const u8 *bytes;
	u32 length;
};

static void skip(struct rest *rest, u32 bytes)
{
	rest->bytes += bytes;
	rest->length -= bytes;
}

static bool is_tag(u16 type)
{
	return type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ;
}

/* Behind the addresses: the tags, and the type of what follows them. */
static u16 decode_type(struct bellhop_frame *frame, struct rest *rest)
{
	u16 type = bellhop_octets_get16(rest->bytes);
	int tags;

	skip(rest, sizeof(frame->ethertype));
	for (tags = 0; tags < MAX_TAGS && is_tag(type) && rest->length >= TAG_BYTES; tags++) {
		if (!tags) {
			memcpy(&frame->vlan, rest->bytes, sizeof(frame->vlan));
			frame->layers |= BELLHOP_LAYER_VLAN;
		}
		type = bellhop_octets_get16(rest->bytes + sizeof(frame->vlan));
		skip(rest, TAG_BYTES);
	}
	memcpy(&frame->ethertype, rest->bytes - sizeof(frame->ethertype), sizeof(frame->ethertype));
	return type;
}

static void decode_ports(struct bellhop_frame *frame, const struct rest *rest)
{
	if (rest->length < PORTS_BYTES)
		return;
	if (frame->protocol == PROTOCOL_TCP)
		frame->layers |= BELLHOP_LAYER_TCP;
	else if (frame->protocol == PROTOCOL_UDP)
		frame->layers |= BELLHOP_LAYER_UDP;
	else
		return;
	memcpy(&frame->source_port, rest->bytes, sizeof(frame->source_port));
	memcpy(&frame->destination_port, rest->bytes + sizeof(frame->source_port),
	       sizeof(frame->destination_port));
}

static void decode_ipv4(struct bellhop_frame *frame, struct rest *rest)
{
	const u8 *header = rest->bytes;
	u32 header_bytes;

	if (rest->length < IPV4_BYTES || header[0] >> 4 != 4)
		return;
	header_bytes = (header[0] & 0xfu) * 4;
	if (header_bytes < IPV4_BYTES)
		return;
	frame->layers |= BELLHOP_LAYER_IPV4;
	frame->traffic_class = header[1];
	frame->ipv4_flags = (header[6] & 0x40 ? BELLHOP_IPV4_DONT_FRAGMENT : 0) |
			    (header[6] & 0x20 ? BELLHOP_IPV4_MORE_FRAGMENTS : 0);
	frame->hop_limit = header[8];
	frame->protocol = header[9];
	memcpy(frame->source, header + 12, 4);
	memcpy(frame->destination, header + 16, 4);
	/* Only the first fragment has what follows. */
	if (header_bytes > rest->length || bellhop_octets_get16(header + 6) & 0x1fff)
		return;
	skip(rest, header_bytes);
	decode_ports(frame, rest);
}

static void decode_ipv6(struct bellhop_frame *frame, struct rest *rest)
{
	const u8 *header = rest->bytes;
	u8 label[4];

	if (rest->length < IPV6_BYTES || header[0] >> 4 != 6)
		return;
	frame->layers |= BELLHOP_LAYER_IPV6;
	frame->traffic_class = (u8)(header[0] << 4 | header[1] >> 4);
	memcpy(label, header, sizeof(label));
	label[0] = 0;
	label[1] &= 0xf;
	memcpy(&frame->flow_label, label, sizeof(label));
	frame->protocol = header[6];
	frame->hop_limit = header[7];
	memcpy(frame->source, header + 8, sizeof(frame->source));
	memcpy(frame->destination, header + 24, sizeof(frame->destination));
	skip(rest, IPV6_BYTES);
	decode_ports(frame, rest);
}

bool bellhop_frame_decode(struct bellhop_frame *frame, const u8 *bytes, u32 length)
{
	struct rest rest = { .bytes = bytes, .length = length };

	memset(frame, 0, sizeof(*frame));
	if (length < ETHERNET_BYTES)
		return false;
	memcpy(frame->destination_mac, bytes, sizeof(frame->destination_mac));
	memcpy(frame->source_mac, bytes + sizeof(frame->destination_mac),
	       sizeof(frame->source_mac));
	skip(&rest, sizeof(frame->destination_mac) + sizeof(frame->source_mac));
	switch (decode_type(frame, &rest)) {
	case ETHERTYPE_IPV4:
		decode_ipv4(frame, &rest);
		break;
	case ETHERTYPE_IPV6:
		decode_ipv6(frame, &rest);
		break;
	default:
		break;
	}
	return true;
}
