// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* packet.c: builds packets and gives them to the network. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>
#include "device.h"
#include "packet.h"
#include "proto/icrc.h"
#include "socket.h"

/* Of both families the larger, which costs nobody anything. */
#define HEADROOM (sizeof(struct ipv6hdr) + sizeof(struct udphdr))

struct sk_buff *bellhop_packet_build(struct dst_entry *dst,
				     const struct bellhop_transport *transport, u8 **payload)
{
	u32 headroom = LL_RESERVED_SPACE(dst->dev) + dst->header_len + HEADROOM;
	u32 tailroom = dst->trailer_len + dst->dev->needed_tailroom;
	u32 headers = bellhop_bth_row(transport->opcode)->bytes;
	u32 pad = bellhop_transport_pad(transport->payload);
	u32 bytes = headers + transport->payload + pad + BELLHOP_ICRC_BYTES;
	struct sk_buff *skb;
	u8 *at;

	skb = alloc_skb(headroom + bytes + tailroom, GFP_NOWAIT | __GFP_NOWARN);
	if (!skb) {
		dst_release(dst);
		return NULL;
	}
	skb_dst_set(skb, dst);
	skb_reserve(skb, headroom);
	at = skb_put(skb, bytes);
	bellhop_transport_encode(transport, at);
	*payload = at + headers;
	memset(*payload + transport->payload, 0, pad);
	return skb;
}

/* The ICRC protects more than its checksum, which may be left out (IBA A17.3.2). */
static void push_udp(struct sk_buff *skb, u16 source_port)
{
	struct udphdr *header = skb_push(skb, sizeof(*header));

	skb_reset_transport_header(skb);
	header->source = htons(source_port);
	header->dest = htons(ROCE_V2_UDP_DPORT);
	header->len = htons(skb->len);
	header->check = 0;
}

/* What is never fragmented needs no identification (RFC 6864). */
static void push_ipv4(struct sk_buff *skb, const struct bellhop_route *route)
{
	struct iphdr *header = skb_push(skb, sizeof(*header));

	skb_reset_network_header(skb);
	*header = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*header) / 4,
		.tos = route->traffic_class,
		.tot_len = htons(skb->len),
		.frag_off = htons(IP_DF),
		.ttl = max_t(u8, route->hop_limit, 1),
		.protocol = IPPROTO_UDP,
	};
	memcpy(&header->saddr, route->sgid + 12, sizeof(header->saddr));
	memcpy(&header->daddr, route->dgid + 12, sizeof(header->daddr));
	skb->protocol = htons(ETH_P_IP);
}

static void push_ipv6(struct sk_buff *skb, const struct bellhop_route *route)
{
	u32 length = skb->len;
	struct ipv6hdr *header = skb_push(skb, sizeof(*header));

	skb_reset_network_header(skb);
	ip6_flow_hdr(header, route->traffic_class, htonl(route->flow_label));
	header->payload_len = htons(length);
	header->nexthdr = IPPROTO_UDP;
	header->hop_limit = max_t(u8, route->hop_limit, 1);
	memcpy(&header->saddr, route->sgid, sizeof(header->saddr));
	memcpy(&header->daddr, route->dgid, sizeof(header->daddr));
	skb->protocol = htons(ETH_P_IPV6);
}

/* All that it covers is final, but for what the network may change. */
static void seal(struct sk_buff *skb, bool is_ipv6)
{
	u32 begun = skb_transport_offset(skb) + sizeof(struct udphdr) + BELLHOP_BTH_BYTES;
	u32 end = skb->len - BELLHOP_ICRC_BYTES;
	u32 icrc = bellhop_icrc_begin(skb->data, is_ipv6);

	icrc = bellhop_icrc_add(icrc, skb->data + begun, end - begun);
	bellhop_icrc_end(icrc, skb->data + end);
}

void bellhop_packet_send(struct bellhop_device *device, struct sk_buff *packet,
			 const struct bellhop_route *route, u16 source_port)
{
	bool is_ipv6 = !bellhop_grh_is_ipv4(route->dgid);
	struct net_device *netdev = skb_dst(packet)->dev;
	struct sock *sk = bellhop_socket_sender(&device->plug, is_ipv6);
	int result;

	push_udp(packet, source_port);
	if (is_ipv6)
		push_ipv6(packet, route);
	else
		push_ipv4(packet, route);
	seal(packet, is_ipv6);
	packet->dev = netdev;
	result = is_ipv6 ? ip6_local_out(dev_net(netdev), sk, packet)
			 : ip_local_out(dev_net(netdev), sk, packet);
	bellhop_counters_count(&device->counters, net_xmit_eval(result)
							  ? BELLHOP_COUNTER_DROPPED_NO_ROOM
							  : BELLHOP_COUNTER_PACKETS_SENT);
}
