/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* segment.h: the packets that a message is cut into (IBA 9.4, 9.7.3). */
#ifndef BELLHOP_PROTO_SEGMENT_H
#define BELLHOP_PROTO_SEGMENT_H

#include "base.h"
#include "service.h"

/*
 * Packets that one RDMA READ request asks for at most. A longer read is several requests, so that
 * the responder does not flood what lies between, and a lost packet costs no more than these.
 */
#define BELLHOP_SEGMENT_READ_PACKETS 64u

/**
 * bellhop_segment_count() - how many packets carry a payload
 * @length: bytes, BELLHOP_MAX_MESSAGE at most
 * @mtu: the path MTU: bytes that a packet carries
 *
 * Return: one at least.
 */
static inline u32 bellhop_segment_count(u32 length, u32 mtu)
{
	return length ? (length - 1) / mtu + 1 : 1;
}

/**
 * bellhop_segment_bytes() - what one of them carries
 * @length: bytes of the message
 * @mtu: the path MTU
 * @packet: which, less than bellhop_segment_count()
 *
 * Return: the path MTU, or what is left in the last.
 */
static inline u32 bellhop_segment_bytes(u32 length, u32 mtu, u32 packet)
{
	u32 left = length - packet * mtu;

	return left < mtu ? left : mtu;
}

/**
 * bellhop_segment_opcode() - what a packet of a request is called
 * @service: of the QP
 * @wr: enum bellhop_wr_opcode, one that goes to the responder
 * @first: it begins the message
 * @last: it ends the message
 *
 * Return: enum bellhop_bth_opcode, both parts.
 */
u8 bellhop_segment_opcode(enum bellhop_service service, u8 wr, bool first, bool last);

/**
 * bellhop_segment_response_opcode() - what a packet of a read's answer is called
 * @service: of the QP
 * @first: it begins the answer to a request
 * @last: it ends it
 *
 * Return: enum bellhop_bth_opcode, both parts.
 */
u8 bellhop_segment_response_opcode(enum bellhop_service service, bool first, bool last);

/**
 * bellhop_segment_wr() - what a packet of a request is a part of
 * @opcode: enum bellhop_bth_opcode, of a request that is supported
 *
 * What only the last packet says is not known of the others: they are of the plain operation.
 * Return: enum bellhop_wr_opcode.
 */
u8 bellhop_segment_wr(u8 opcode);

/**
 * bellhop_segment_service() - the part of an opcode that is the service's
 * @service: of the QP; not one of frames
 */
u8 bellhop_segment_service(enum bellhop_service service);

#endif /* BELLHOP_PROTO_SEGMENT_H */
