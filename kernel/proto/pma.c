// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* pma.c: reads and answers requests for a port's counters (IBA 16.1.3, 16.1.4). */
#include "pma.h"
#include "octets.h"

#define PORT 1
#define ALL_PORTS 0xff

/* Where fields of every management datagram are (IBA 13.4.2). */
enum header {
	BASE_VERSION = 0,
	MGMT_CLASS = 1,
	CLASS_VERSION = 2,
	METHOD = 3,
	STATUS = 4,
	ATTRIBUTE = 16,
	HEADER_BYTES = 24,
	DATA = 64, /* of this class */
};

enum {
	CLASS_PERFORMANCE = 4
};

enum method {
	GET = 1,
	SET = 2,
	GET_RESPONSE = 0x81
};

enum status {
	OK = 0,
	BAD_VERSION = 0x4,
	BAD_METHOD = 0x8,
	BAD_ATTRIBUTE = 0xc,
	BAD_VALUE = 0x1c
};

enum attribute {
	CLASS_PORT_INFO = 0x1,
	PORT_COUNTERS = 0x12,
	PORT_COUNTERS_EXTENDED = 0x1d
};

/* Of ClassPortInfo: all ports can be asked at once; there are extended counters, all of them. */
enum {
	ALL_PORT_SELECT = 0x0100,
	EXTENDED_WIDTH = 0x0200
};

/* An answer takes no longer than 4.096 us times two to this power: a second. */
enum {
	RESPONSE_TIME = 18
};

/* A counter stops where it is full (IBA 16.1.3.5). */
static void put_count32(u8 *to, u64 count)
{
	bellhop_octets_put32(to, count > 0xffffffffu ? 0xffffffffu : (u32)count);
}

static enum status put_class_port_info(u8 *data)
{
	data[0] = 1; /* base version */
	data[1] = 1; /* class version */
	bellhop_octets_put16(data + 2, ALL_PORT_SELECT | EXTENDED_WIDTH);
	data[7] = RESPONSE_TIME;
	return OK;
}

/* The first words say again what was asked for: the port, and which counters. */
static enum status put_selection(const u8 *request, u8 *data)
{
	u8 port = request[DATA + 1];

	if (port != PORT && port != ALL_PORTS)
		return BAD_VALUE;
	memcpy(data + 1, request + DATA + 1, 3);
	return OK;
}

static enum status put_counters(const u8 *request, const struct bellhop_pma_counts *counts,
				u8 *data)
{
	enum status status = put_selection(request, data);

	if (status)
		return status;
	bellhop_octets_put16(data + 14,
			     counts->xmit_discards > 0xffff ? 0xffff : (u32)counts->xmit_discards);
	put_count32(data + 24, counts->xmit_words);
	put_count32(data + 28, counts->rcv_words);
	put_count32(data + 32, counts->xmit_packets);
	put_count32(data + 36, counts->rcv_packets);
	return OK;
}

/* The parts are not read at one moment, so that one may be more than the whole. */
static u64 rest(u64 whole, u64 part)
{
	return whole > part ? whole - part : 0;
}

static enum status put_extended(const u8 *request, const struct bellhop_pma_counts *counts,
				u8 *data)
{
	enum status status = put_selection(request, data);

	if (status)
		return status;
	bellhop_octets_put64(data + 8, counts->xmit_words);
	bellhop_octets_put64(data + 16, counts->rcv_words);
	bellhop_octets_put64(data + 24, counts->xmit_packets);
	bellhop_octets_put64(data + 32, counts->rcv_packets);
	bellhop_octets_put64(data + 40, rest(counts->xmit_packets, counts->multicast_xmit));
	bellhop_octets_put64(data + 48, rest(counts->rcv_packets, counts->multicast_rcv));
	bellhop_octets_put64(data + 56, counts->multicast_xmit);
	bellhop_octets_put64(data + 64, counts->multicast_rcv);
	return OK;
}

static enum status put_attribute(const u8 *request, const struct bellhop_pma_counts *counts,
				 u8 *data)
{
	if (request[BASE_VERSION] != 1 || request[CLASS_VERSION] != 1)
		return BAD_VERSION;
	if (request[METHOD] != GET)
		return BAD_METHOD;
	switch (bellhop_octets_get16(request + ATTRIBUTE)) {
	case CLASS_PORT_INFO:
		return put_class_port_info(data);
	case PORT_COUNTERS:
		return put_counters(request, counts, data);
	case PORT_COUNTERS_EXTENDED:
		return put_extended(request, counts, data);
	default:
		return BAD_ATTRIBUTE;
	}
}

bool bellhop_pma_is_asked(const u8 *request)
{
	/* An answer is never answered. */
	return request[MGMT_CLASS] == CLASS_PERFORMANCE &&
	       (request[METHOD] == GET || request[METHOD] == SET);
}

void bellhop_pma_answer(const u8 *request, const struct bellhop_pma_counts *counts, u8 *reply)
{
	enum status status;

	memset(reply, 0, BELLHOP_PMA_BYTES);
	memcpy(reply, request, HEADER_BYTES);
	reply[METHOD] = GET_RESPONSE;
	status = put_attribute(request, counts, reply + DATA);
	bellhop_octets_put16(reply + STATUS, status);
}
