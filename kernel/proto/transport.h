/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* transport.h: the headers of the transport layer, which a packet's payload comes behind. */
#ifndef BELLHOP_PROTO_TRANSPORT_H
#define BELLHOP_PROTO_TRANSPORT_H

#include "base.h"
#include "bth.h"

/**
 * struct bellhop_transport - the headers of a packet, in the byte order of the host
 * @address: where, at the responder (RETH, AtomicETH)
 * @swap_add: what is written if it is equal, or what is added (AtomicETH)
 * @compare: what is compared (AtomicETH)
 * @original: what was there before (AtomicAckETH)
 * @rkey: the key of @address (RETH, AtomicETH)
 * @length: bytes of the whole message (RETH)
 * @payload: bytes of payload, without those that fill it up to words
 * @qpn: the QP that it is for
 * @psn: its number
 * @srqn: the SRQ that it is for (XRCETH)
 * @qkey: of the QP that it is for (DETH)
 * @source_qpn: the QP that it is from (DETH)
 * @invalidate_rkey: which key the responder is to invalidate (IETH)
 * @msn: messages that the responder has completed (AETH)
 * @imm: immediate data, as it is on the wire (ImmDt)
 * @pkey: the partition
 * @opcode: enum bellhop_bth_opcode: service and operation
 * @syndrome: enum bellhop_syndrome and its value (AETH)
 * @flush_placement: 1 for global visibility, 2 for persistence (FETH)
 * @flush_selectivity: 0 for a range, 1 for the region (FETH)
 * @solicited: asks for a solicited event
 * @migrated: the path's migration state
 * @ack_request: asks for an acknowledgment
 * @fecn: met congestion on its way (IBA A10.2)
 * @becn: tells of congestion
 * @repairs: whoever sends it understands BELLHOP_SYNDROME_REPAIR. The bit is one that others do not
 *	look at and send as zero (IBA 9.2)
 *
 * What belongs to a header that the opcode does not have is zero.
 */
struct bellhop_transport {
	u64 address;
	u64 swap_add;
	u64 compare;
	u64 original;
	u32 rkey;
	u32 length;
	u32 payload;
	u32 qpn;
	u32 psn;
	u32 srqn;
	u32 qkey;
	u32 source_qpn;
	u32 invalidate_rkey;
	u32 msn;
	__be32 imm;
	u16 pkey;
	u8 opcode;
	u8 syndrome;
	u8 flush_placement;
	u8 flush_selectivity;
	bool solicited;
	bool migrated;
	bool ack_request;
	bool fecn;
	bool becn;
	bool repairs;
};

/**
 * bellhop_transport_pad() - bytes that fill a payload up to words (IBA 9.2.4)
 * @payload: bytes of payload
 *
 * Return: 0 to 3.
 */
static inline u32 bellhop_transport_pad(u32 payload)
{
	return -payload & 3;
}

/**
 * bellhop_transport_decode() - reads a packet's headers
 * @transport: filled in; all zero if it is no packet
 * @bytes: the packet from its BTH on, from anybody; BELLHOP_BTH_MAX_BYTES of them are enough
 * @length: how many the packet has, without its ICRC
 *
 * What is reserved is not looked at. No packet is (IBA 9.6.1.1, 9.2.4): what is cut off, of another
 * version, of an opcode that there is not, filled up with more bytes than are there, or not to
 * words; and what has payload though its opcode has none.
 * Return: where the payload begins, or 0 if it is no packet.
 */
u32 bellhop_transport_decode(struct bellhop_transport *transport, const u8 *bytes, u32 length);

/**
 * bellhop_transport_encode() - writes a packet's headers
 * @transport: what is in them; of a number that has 24 bits these count
 * @bytes: there is space for BELLHOP_BTH_MAX_BYTES
 *
 * What is reserved is zero.
 * Return: how many were written: the payload, and what bellhop_transport_pad() says, comes behind
 * them; 0 if there is no such opcode.
 */
u32 bellhop_transport_encode(const struct bellhop_transport *transport, u8 *bytes);

#endif /* BELLHOP_PROTO_TRANSPORT_H */
