/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* bth.h: the opcodes of the base transport header: one row for each that a packet can have. */
#ifndef BELLHOP_PROTO_BTH_H
#define BELLHOP_PROTO_BTH_H

#include "base.h"
#include "service.h"

/* IBA 9.2.1, table 38: three bits of service, and five that are of those services that have it. */
enum bellhop_bth_opcode {
	/* Reliable datagrams (0x40) there are none. */
	BELLHOP_BTH_RC = 0x00,
	BELLHOP_BTH_UC = 0x20,
	BELLHOP_BTH_UD = 0x60,
	BELLHOP_BTH_XRC = 0xa0, /* IBA A14 */

	BELLHOP_BTH_SEND_FIRST = 0x00,
	BELLHOP_BTH_SEND_MIDDLE = 0x01,
	BELLHOP_BTH_SEND_LAST = 0x02,
	BELLHOP_BTH_SEND_LAST_IMM = 0x03,
	BELLHOP_BTH_SEND_ONLY = 0x04,
	BELLHOP_BTH_SEND_ONLY_IMM = 0x05,
	BELLHOP_BTH_WRITE_FIRST = 0x06,
	BELLHOP_BTH_WRITE_MIDDLE = 0x07,
	BELLHOP_BTH_WRITE_LAST = 0x08,
	BELLHOP_BTH_WRITE_LAST_IMM = 0x09,
	BELLHOP_BTH_WRITE_ONLY = 0x0a,
	BELLHOP_BTH_WRITE_ONLY_IMM = 0x0b,
	BELLHOP_BTH_READ_REQUEST = 0x0c,
	BELLHOP_BTH_READ_RESPONSE_FIRST = 0x0d,
	BELLHOP_BTH_READ_RESPONSE_MIDDLE = 0x0e,
	BELLHOP_BTH_READ_RESPONSE_LAST = 0x0f,
	BELLHOP_BTH_READ_RESPONSE_ONLY = 0x10,
	BELLHOP_BTH_ACKNOWLEDGE = 0x11,
	BELLHOP_BTH_ATOMIC_ACKNOWLEDGE = 0x12,
	BELLHOP_BTH_COMPARE_SWAP = 0x13,
	BELLHOP_BTH_FETCH_ADD = 0x14,
	BELLHOP_BTH_SEND_LAST_INV = 0x16,
	BELLHOP_BTH_SEND_ONLY_INV = 0x17,
	BELLHOP_BTH_FLUSH = 0x1c, /* IBA A19, and so is the next */
	BELLHOP_BTH_ATOMIC_WRITE = 0x1d,

	/* Of no service: the congestion notification (IBA A17.9.3). */
	BELLHOP_BTH_CNP = 0x81,
};

/* The extended headers, in the order in which they follow the BTH (IBA 9.3, A14, A17.9.3, A19). */
enum bellhop_bth_headers {
	BELLHOP_HAS_XRCETH = 1 << 0,
	BELLHOP_HAS_DETH = 1 << 1,
	BELLHOP_HAS_FETH = 1 << 2,
	BELLHOP_HAS_RETH = 1 << 3,
	BELLHOP_HAS_ATOMICETH = 1 << 4,
	BELLHOP_HAS_AETH = 1 << 5,
	BELLHOP_HAS_ATOMICACKETH = 1 << 6,
	BELLHOP_HAS_IMMDT = 1 << 7,
	BELLHOP_HAS_IETH = 1 << 8,
	BELLHOP_HAS_RESERVED = 1 << 9, /* bytes of a congestion notification */
};

enum bellhop_bth_header_bytes {
	BELLHOP_BTH_BYTES = 12,
	BELLHOP_XRCETH_BYTES = 4,
	BELLHOP_DETH_BYTES = 8,
	BELLHOP_FETH_BYTES = 4,
	BELLHOP_RETH_BYTES = 16,
	BELLHOP_ATOMICETH_BYTES = 28,
	BELLHOP_AETH_BYTES = 4,
	BELLHOP_ATOMICACKETH_BYTES = 8,
	BELLHOP_IMMDT_BYTES = 4,
	BELLHOP_IETH_BYTES = 4,
	BELLHOP_RESERVED_BYTES = 16,
};

/* What a packet is a part of. */
enum bellhop_operation {
	BELLHOP_OPERATION_SEND = 1,
	BELLHOP_OPERATION_WRITE,
	BELLHOP_OPERATION_READ,
	BELLHOP_OPERATION_ATOMIC,
	BELLHOP_OPERATION_FLUSH,
	BELLHOP_OPERATION_ATOMIC_WRITE,
	BELLHOP_OPERATION_ACKNOWLEDGE,
	BELLHOP_OPERATION_NOTIFY,
};

/* An only packet is first and last, one in the middle is neither. */
enum bellhop_bth_traits {
	BELLHOP_BTH_IS_FIRST = 1 << 0,
	BELLHOP_BTH_IS_LAST = 1 << 1,
	BELLHOP_BTH_IS_RESPONSE = 1 << 2, /* goes to the requester, and acknowledges */
	BELLHOP_BTH_HAS_PAYLOAD = 1 << 3, /* or may have; none of the others has */
};

/**
 * struct bellhop_bth - a row
 * @headers: enum bellhop_bth_headers
 * @service: enum bellhop_service; 0 of a congestion notification
 * @operation: enum bellhop_operation
 * @traits: enum bellhop_bth_traits
 * @bytes: of the BTH and its extended headers; 0, if there is no such opcode
 */
struct bellhop_bth {
	u16 headers;
	u8 service;
	u8 operation;
	u8 traits;
	u8 bytes;
};

/* No row has more: that of an atomic operation of XRC. */
#define BELLHOP_BTH_MAX_BYTES (BELLHOP_BTH_BYTES + BELLHOP_XRCETH_BYTES + BELLHOP_ATOMICETH_BYTES)

#define BELLHOP_BTH_OPCODES 256
extern const struct bellhop_bth bellhop_bth_rows[BELLHOP_BTH_OPCODES];

/**
 * bellhop_bth_row() - what is known of an opcode
 * @opcode: any byte
 *
 * Return: its row, or one that has no bytes.
 */
static inline const struct bellhop_bth *bellhop_bth_row(u8 opcode)
{
	return &bellhop_bth_rows[opcode];
}

#endif /* BELLHOP_PROTO_BTH_H */
