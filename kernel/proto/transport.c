// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * transport.c: reads and writes the headers of the transport layer (IBA 9.2, 9.3, A14, A19).
 *
 * Each header has a function that reads and one that writes it; they return where the next one
 * begins. Numbers are big endian, and nothing is aligned.
 */
#include "transport.h"
#include "octets.h"

#define SOLICITED 0x80u
#define MIGRATED 0x40u
#define PAD_SHIFT 4
#define VERSION 0x0fu
#define FECN 0x80u
#define BECN 0x40u
#define REPAIRS 0x01u
#define ACK_REQUEST 0x80u
#define PLACEMENT 0x0fu
#define SELECTIVITY 0x03u
#define SELECTIVITY_SHIFT 4

static const u8 *decode_bth(struct bellhop_transport *transport, const u8 *from)
{
	transport->opcode = from[0];
	transport->solicited = from[1] & SOLICITED;
	transport->migrated = from[1] & MIGRATED;
	transport->pkey = bellhop_octets_get16(from + 2);
	transport->fecn = from[4] & FECN;
	transport->becn = from[4] & BECN;
	transport->repairs = from[4] & REPAIRS;
	transport->qpn = bellhop_octets_get24(from + 5);
	transport->ack_request = from[8] & ACK_REQUEST;
	transport->psn = bellhop_octets_get24(from + 9);
	return from + BELLHOP_BTH_BYTES;
}

static u8 *encode_bth(const struct bellhop_transport *transport, u8 *to)
{
	to[0] = transport->opcode;
	to[1] = (u8)((transport->solicited ? SOLICITED : 0) | (transport->migrated ? MIGRATED : 0) |
		     bellhop_transport_pad(transport->payload) << PAD_SHIFT);
	bellhop_octets_put16(to + 2, transport->pkey);
	to[4] = (u8)((transport->fecn ? FECN : 0) | (transport->becn ? BECN : 0) |
		     (transport->repairs ? REPAIRS : 0));
	bellhop_octets_put24(to + 5, transport->qpn);
	to[8] = transport->ack_request ? ACK_REQUEST : 0;
	bellhop_octets_put24(to + 9, transport->psn);
	return to + BELLHOP_BTH_BYTES;
}

static const u8 *decode_xrceth(struct bellhop_transport *transport, const u8 *from)
{
	transport->srqn = bellhop_octets_get24(from + 1);
	return from + BELLHOP_XRCETH_BYTES;
}

static u8 *encode_xrceth(const struct bellhop_transport *transport, u8 *to)
{
	to[0] = 0;
	bellhop_octets_put24(to + 1, transport->srqn);
	return to + BELLHOP_XRCETH_BYTES;
}

static const u8 *decode_deth(struct bellhop_transport *transport, const u8 *from)
{
	transport->qkey = bellhop_octets_get32(from);
	transport->source_qpn = bellhop_octets_get24(from + 5);
	return from + BELLHOP_DETH_BYTES;
}

static u8 *encode_deth(const struct bellhop_transport *transport, u8 *to)
{
	bellhop_octets_put32(to, transport->qkey);
	to[4] = 0;
	bellhop_octets_put24(to + 5, transport->source_qpn);
	return to + BELLHOP_DETH_BYTES;
}

static const u8 *decode_feth(struct bellhop_transport *transport, const u8 *from)
{
	transport->flush_placement = from[3] & PLACEMENT;
	transport->flush_selectivity = from[3] >> SELECTIVITY_SHIFT & SELECTIVITY;
	return from + BELLHOP_FETH_BYTES;
}

static u8 *encode_feth(const struct bellhop_transport *transport, u8 *to)
{
	bellhop_octets_put24(to, 0);
	to[3] = (u8)((transport->flush_placement & PLACEMENT) |
		     (transport->flush_selectivity & SELECTIVITY) << SELECTIVITY_SHIFT);
	return to + BELLHOP_FETH_BYTES;
}

static const u8 *decode_reth(struct bellhop_transport *transport, const u8 *from)
{
	transport->address = bellhop_octets_get64(from);
	transport->rkey = bellhop_octets_get32(from + 8);
	transport->length = bellhop_octets_get32(from + 12);
	return from + BELLHOP_RETH_BYTES;
}

static u8 *encode_reth(const struct bellhop_transport *transport, u8 *to)
{
	bellhop_octets_put64(to, transport->address);
	bellhop_octets_put32(to + 8, transport->rkey);
	bellhop_octets_put32(to + 12, transport->length);
	return to + BELLHOP_RETH_BYTES;
}

static const u8 *decode_atomiceth(struct bellhop_transport *transport, const u8 *from)
{
	transport->address = bellhop_octets_get64(from);
	transport->rkey = bellhop_octets_get32(from + 8);
	transport->swap_add = bellhop_octets_get64(from + 12);
	transport->compare = bellhop_octets_get64(from + 20);
	return from + BELLHOP_ATOMICETH_BYTES;
}

static u8 *encode_atomiceth(const struct bellhop_transport *transport, u8 *to)
{
	bellhop_octets_put64(to, transport->address);
	bellhop_octets_put32(to + 8, transport->rkey);
	bellhop_octets_put64(to + 12, transport->swap_add);
	bellhop_octets_put64(to + 20, transport->compare);
	return to + BELLHOP_ATOMICETH_BYTES;
}

static const u8 *decode_aeth(struct bellhop_transport *transport, const u8 *from)
{
	transport->syndrome = from[0];
	transport->msn = bellhop_octets_get24(from + 1);
	return from + BELLHOP_AETH_BYTES;
}

static u8 *encode_aeth(const struct bellhop_transport *transport, u8 *to)
{
	to[0] = transport->syndrome;
	bellhop_octets_put24(to + 1, transport->msn);
	return to + BELLHOP_AETH_BYTES;
}

static const u8 *decode_atomicacketh(struct bellhop_transport *transport, const u8 *from)
{
	transport->original = bellhop_octets_get64(from);
	return from + BELLHOP_ATOMICACKETH_BYTES;
}

static u8 *encode_atomicacketh(const struct bellhop_transport *transport, u8 *to)
{
	bellhop_octets_put64(to, transport->original);
	return to + BELLHOP_ATOMICACKETH_BYTES;
}

static const u8 *decode_immdt(struct bellhop_transport *transport, const u8 *from)
{
	memcpy(&transport->imm, from, sizeof(transport->imm));
	return from + BELLHOP_IMMDT_BYTES;
}

static u8 *encode_immdt(const struct bellhop_transport *transport, u8 *to)
{
	memcpy(to, &transport->imm, sizeof(transport->imm));
	return to + BELLHOP_IMMDT_BYTES;
}

/* Nothing that is looked at comes behind it. */
static void decode_ieth(struct bellhop_transport *transport, const u8 *from)
{
	transport->invalidate_rkey = bellhop_octets_get32(from);
}

static u8 *encode_ieth(const struct bellhop_transport *transport, u8 *to)
{
	bellhop_octets_put32(to, transport->invalidate_rkey);
	return to + BELLHOP_IETH_BYTES;
}

u32 bellhop_transport_decode(struct bellhop_transport *transport, const u8 *bytes, u32 length)
{
	const struct bellhop_bth *row;
	const u8 *at;
	u32 pad, padded;

	memset(transport, 0, sizeof(*transport));
	if (length < BELLHOP_BTH_BYTES)
		return 0;
	row = bellhop_bth_row(bytes[0]);
	if (!row->bytes || length < row->bytes || bytes[1] & VERSION)
		return 0;
	pad = bytes[1] >> PAD_SHIFT & 3u;
	padded = length - row->bytes;
	if (padded & 3 || pad > padded || (padded && !(row->traits & BELLHOP_BTH_HAS_PAYLOAD)))
		return 0;
	transport->payload = padded - pad;

	at = decode_bth(transport, bytes);
	if (row->headers & BELLHOP_HAS_XRCETH)
		at = decode_xrceth(transport, at);
	if (row->headers & BELLHOP_HAS_DETH)
		at = decode_deth(transport, at);
	if (row->headers & BELLHOP_HAS_FETH)
		at = decode_feth(transport, at);
	if (row->headers & BELLHOP_HAS_RETH)
		at = decode_reth(transport, at);
	if (row->headers & BELLHOP_HAS_ATOMICETH)
		at = decode_atomiceth(transport, at);
	if (row->headers & BELLHOP_HAS_AETH)
		at = decode_aeth(transport, at);
	if (row->headers & BELLHOP_HAS_ATOMICACKETH)
		at = decode_atomicacketh(transport, at);
	if (row->headers & BELLHOP_HAS_IMMDT)
		at = decode_immdt(transport, at);
	if (row->headers & BELLHOP_HAS_IETH)
		decode_ieth(transport, at);
	return row->bytes;
}

u32 bellhop_transport_encode(const struct bellhop_transport *transport, u8 *bytes)
{
	const struct bellhop_bth *row = bellhop_bth_row(transport->opcode);
	u8 *at;

	if (!row->bytes)
		return 0;
	at = encode_bth(transport, bytes);
	if (row->headers & BELLHOP_HAS_XRCETH)
		at = encode_xrceth(transport, at);
	if (row->headers & BELLHOP_HAS_DETH)
		at = encode_deth(transport, at);
	if (row->headers & BELLHOP_HAS_FETH)
		at = encode_feth(transport, at);
	if (row->headers & BELLHOP_HAS_RETH)
		at = encode_reth(transport, at);
	if (row->headers & BELLHOP_HAS_ATOMICETH)
		at = encode_atomiceth(transport, at);
	if (row->headers & BELLHOP_HAS_AETH)
		at = encode_aeth(transport, at);
	if (row->headers & BELLHOP_HAS_ATOMICACKETH)
		at = encode_atomicacketh(transport, at);
	if (row->headers & BELLHOP_HAS_IMMDT)
		at = encode_immdt(transport, at);
	if (row->headers & BELLHOP_HAS_IETH)
		at = encode_ieth(transport, at);
	if (row->headers & BELLHOP_HAS_RESERVED)
		memset(at, 0, BELLHOP_RESERVED_BYTES);
	return row->bytes;
}
