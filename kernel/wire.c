// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* wire.c: looks at packets that come in, before anybody gets them (IBA 9.6.1, A17.3, A17.4). */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "datagram.h"
#include "device.h"
#include "port.h"
#include "proto/group.h"
#include "proto/icrc.h"
#include "stream.h"
#include "wire.h"

#define BTH_AT ((u32)sizeof(struct udphdr))

/* IBA 10.9.1: what differs between a full and a limited member. */
#define PKEY_BASE 0x7fffu

/* Where the ICRC begins; UDP has cut off whatever is behind it. */
static u32 end_of(const struct sk_buff *skb)
{
	return skb->len - BELLHOP_ICRC_BYTES;
}

/* Neither of options nor of extension headers anything is said. */
static bool decode_ip(struct bellhop_arrival *arrival)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct sk_buff *skb = arrival->skb;
	const struct ipv6hdr *ipv6 = ipv6_hdr(skb);
	const struct iphdr *ipv4 = ip_hdr(skb);

	arrival->is_ipv6 = ipv4->version == 6;
	if (arrival->is_ipv6) {
		memcpy(arrival->sgid.raw, &ipv6->saddr, sizeof(arrival->sgid.raw));
		memcpy(arrival->dgid.raw, &ipv6->daddr, sizeof(arrival->dgid.raw));
		return skb_network_header_len(skb) == sizeof(*ipv6);
	}
	memcpy(arrival->sgid.raw, mapped, sizeof(mapped));
	memcpy(arrival->sgid.raw + 12, &ipv4->saddr, sizeof(ipv4->saddr));
	memcpy(arrival->dgid.raw, mapped, sizeof(mapped));
	memcpy(arrival->dgid.raw + 12, &ipv4->daddr, sizeof(ipv4->daddr));
	return skb_network_header_len(skb) == sizeof(*ipv4);
}

/* Afterwards all headers lie side by side, those of IP and UDP before them. */
bool bellhop_wire_headers(struct bellhop_arrival *arrival)
{
	struct sk_buff *skb = arrival->skb;
	u32 length, headers;

	if (skb->len < BTH_AT + BELLHOP_BTH_BYTES + BELLHOP_ICRC_BYTES)
		return false;
	length = end_of(skb) - BTH_AT;
	if (!pskb_may_pull(skb, BTH_AT + min_t(u32, length, BELLHOP_BTH_MAX_BYTES)) ||
	    !decode_ip(arrival))
		return false;
	headers = bellhop_transport_decode(&arrival->transport, skb->data + BTH_AT, length);
	arrival->payload_at = BTH_AT + headers;
	return headers;
}

static bool has_icrc(const struct bellhop_arrival *arrival)
{
	u8 expected[BELLHOP_ICRC_BYTES], found[BELLHOP_ICRC_BYTES];
	struct sk_buff *skb = arrival->skb;
	u32 icrc = bellhop_icrc_begin(skb_network_header(skb), arrival->is_ipv6);
	u32 at = BTH_AT + BELLHOP_BTH_BYTES;
	u32 left = end_of(skb) - at;
	struct skb_seq_state state;
	const u8 *bytes;
	u32 done = 0;
	u32 length;

	skb_prepare_seq_read(skb, at, end_of(skb), &state);
	while ((length = skb_seq_read(done, &bytes, &state))) {
		length = min(length, left - done);
		icrc = bellhop_icrc_add(icrc, bytes, length);
		done += length;
	}
	bellhop_icrc_end(icrc, expected);
	return done == left && !skb_copy_bits(skb, end_of(skb), found, sizeof(found)) &&
	       !memcmp(found, expected, sizeof(found));
}

static bool is_for_device(const struct bellhop_arrival *arrival)
{
	return bellhop_group_is_multicast(arrival->dgid.raw) ||
	       bellhop_port_has_gid(arrival->device, &arrival->dgid, arrival->skb->dev);
}

/* Why it is nobody's, or BELLHOP_COUNTERS. */
static enum bellhop_counter check(struct bellhop_arrival *arrival)
{
	if (!bellhop_wire_headers(arrival))
		return BELLHOP_COUNTER_DROPPED_MALFORMED;
	if (!has_icrc(arrival))
		return BELLHOP_COUNTER_DROPPED_ICRC;
	if (!bellhop_port_is_active(arrival->device) || !is_for_device(arrival))
		return BELLHOP_COUNTER_DROPPED_ADDRESS;
	if ((arrival->transport.pkey & PKEY_BASE) != PKEY_BASE)
		return BELLHOP_COUNTER_DROPPED_PKEY;
	return BELLHOP_COUNTERS;
}

static enum bellhop_counter hand_over(const struct bellhop_arrival *arrival)
{
	switch (bellhop_bth_row(arrival->transport.opcode)->service) {
	case BELLHOP_SERVICE_UD:
		return bellhop_datagram_receive(arrival);
	case BELLHOP_SERVICE_RC:
	case BELLHOP_SERVICE_UC:
		return bellhop_stream_receive(arrival);
	default:
		return BELLHOP_COUNTER_DROPPED_STATE;
	}
}

int bellhop_wire_receive(struct sock *sk, struct sk_buff *skb)
{
	struct bellhop_arrival arrival = {
		.device = bellhop_socket_find(sk, skb->dev),
		.skb = skb,
	};
	enum bellhop_counter why;

	if (arrival.device) {
		why = check(&arrival);
		if (why == BELLHOP_COUNTERS) {
			bellhop_counters_count(&arrival.device->counters,
					       BELLHOP_COUNTER_PACKETS_RECEIVED);
			why = hand_over(&arrival);
		}
		if (why != BELLHOP_COUNTERS)
			bellhop_counters_count(&arrival.device->counters, why);
	}
	consume_skb(skb);
	return 0;
}

enum bellhop_sl bellhop_wire_header(const struct bellhop_arrival *arrival,
				    u8 grh[BELLHOP_GRH_BYTES])
{
	u32 length = skb_network_header_len(arrival->skb);

	memset(grh, 0, BELLHOP_GRH_BYTES - length);
	memcpy(grh + BELLHOP_GRH_BYTES - length, skb_network_header(arrival->skb), length);
	return arrival->is_ipv6 ? BELLHOP_SL_IPV6 : BELLHOP_SL_IPV4;
}

enum bellhop_reason bellhop_wire_scatter(const struct bellhop_arrival *arrival,
					 struct bellhop_cursor *to, bool last)
{
	u32 left = arrival->transport.payload;
	enum bellhop_reason reason = BELLHOP_REASON_NONE;
	struct skb_seq_state state;
	struct bellhop_cursor from;
	const u8 *bytes;
	u32 done = 0;
	u32 length;

	skb_prepare_seq_read(arrival->skb, arrival->payload_at, arrival->payload_at + left, &state);
	while (!reason && (length = skb_seq_read(done, &bytes, &state))) {
		length = min(length, left - done);
		done += length;
		from = bellhop_cursor_memory((void *)bytes, length);
		bellhop_cursor_seek(&from, 0);
		reason = bellhop_copy(to, &from, length, last && done == left).reason;
	}
	skb_abort_seq_read(&state);
	return reason;
}
