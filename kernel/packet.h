/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * packet.h: RoCEv2 packets on their way out (IBA A17).
 *
 *	 link	  IP	  UDP	   BTH ...   payload   pad   ICRC
 *	|------|-------|-------|-----------|---------|-----|------|
 *	  IP's	     send	     build	caller	build  send
 */
#ifndef BELLHOP_PACKET_H
#define BELLHOP_PACKET_H

#include <linux/types.h>
#include "proto/grh.h"
#include "proto/transport.h"

struct bellhop_device;
struct dst_entry;
struct sk_buff;

/**
 * bellhop_packet_build() - makes a packet that lacks its payload
 * @dst: its way; the reference becomes the packet's, and is gone without one
 * @transport: its headers, with an opcode that there is
 * @payload: where the caller writes as many bytes as @transport says
 *
 * Context: any.
 * Return: the packet, to be sent or to be freed by kfree_skb(); or NULL without memory.
 */
struct sk_buff *bellhop_packet_build(struct dst_entry *dst,
				     const struct bellhop_transport *transport, u8 **payload);

/**
 * bellhop_packet_send() - completes a packet and gives it to the network
 * @device: where from; it has a wire
 * @packet: from bellhop_packet_build(), with its payload; is gone afterwards
 * @route: what its way was found by
 * @source_port: likewise
 *
 * Whether it arrives nobody says. One that the host itself has no room for is counted.
 * Context: bottom halves are off; no lock of ours is held.
 */
void bellhop_packet_send(struct bellhop_device *device, struct sk_buff *packet,
			 const struct bellhop_route *route, u16 source_port);

#endif
