/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * wire.h: RoCEv2 packets that come in, from anybody.
 *
 * What is wrong in itself, or is not for the interface that it came in on, is dropped and counted.
 * What is left goes to the transport service that it is of, which finds out whether it is wanted.
 */
#ifndef BELLHOP_WIRE_H
#define BELLHOP_WIRE_H

#include <rdma/ib_verbs.h>
#include "copy.h"
#include "proto/transport.h"

struct sk_buff;
struct sock;

/**
 * struct bellhop_arrival - a packet that has come, with the ICRC that it should have
 * @device: whose interface it came in on; RCU keeps it there
 * @skb: the packet, from its UDP header on; its pieces may lie apart
 * @transport: its headers
 * @payload_at: where its payload begins in @skb; there are as many bytes as @transport says
 * @is_ipv6: the family of its addresses
 * @sgid: where it says that it is from
 * @dgid: where it is for: one of the device's, or a group's
 */
struct bellhop_arrival {
	struct bellhop_device *device;
	struct sk_buff *skb;
	struct bellhop_transport transport;
	u32 payload_at;
	bool is_ipv6;
	union ib_gid sgid;
	union ib_gid dgid;
};

/**
 * bellhop_wire_receive() - takes a packet from the socket
 * @sk: a socket of socket.h
 * @skb: the packet, from its UDP header on
 *
 * Context: softirq, under RCU.
 * Return: 0: it is gone, whatever it was.
 */
int bellhop_wire_receive(struct sock *sk, struct sk_buff *skb);

/**
 * bellhop_wire_headers() - reads the headers of a packet again
 * @arrival: @skb is set, of a packet that was good; the rest is filled in
 *
 * Context: any.
 * Return: false if it is none, which it is.
 */
bool bellhop_wire_headers(struct bellhop_arrival *arrival);

/**
 * bellhop_wire_header() - the header that a datagram's receiver finds before the payload
 * @arrival: the packet
 * @grh: filled in; of an IPv4 header the last 20 bytes, behind zeros (IBA A17.4.4)
 *
 * Context: softirq.
 * Return: which of the two it is.
 */
enum bellhop_sl bellhop_wire_header(const struct bellhop_arrival *arrival,
				    u8 grh[BELLHOP_GRH_BYTES]);

/**
 * bellhop_wire_scatter() - copies the payload of a packet to where it belongs
 * @arrival: the packet, with a payload
 * @to: where to; used up
 * @last: these are the last bytes of a message
 *
 * Context: softirq; a spinlock is held, as for bellhop_grant_get().
 * Return: as bellhop_copy().
 */
enum bellhop_reason bellhop_wire_scatter(const struct bellhop_arrival *arrival,
					 struct bellhop_cursor *to, bool last);

#endif
