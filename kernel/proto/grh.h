/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* grh.h: the header that a datagram's receiver finds before the payload (IBA A17.4.4). */
#ifndef BELLHOP_PROTO_GRH_H
#define BELLHOP_PROTO_GRH_H

#include "base.h"

/**
 * struct bellhop_route - what a global route header is made of
 * @sgid: 16 bytes
 * @dgid: 16 bytes
 * @flow_label: 20 bits
 * @hop_limit: as in the header
 * @traffic_class: as in the header
 */
struct bellhop_route {
	const u8 *sgid;
	const u8 *dgid;
	u32 flow_label;
	u8 hop_limit;
	u8 traffic_class;
};

/**
 * bellhop_grh_is_ipv4() - whether a GID is an IPv4 address
 * @gid: 16 bytes
 *
 * Return: true for ::ffff:0:0/96.
 */
bool bellhop_grh_is_ipv4(const u8 *gid);

/**
 * bellhop_grh_build() - the header that a RoCEv2 packet would have had
 * @grh: filled in; of an IPv4 header the last 20 bytes, behind zeros
 * @route: where from and to
 * @payload: bytes of payload
 * @has_imm: immediate data goes along
 *
 * Context: any.
 * Return: which of the two it is.
 */
enum bellhop_sl bellhop_grh_build(u8 grh[BELLHOP_GRH_BYTES], const struct bellhop_route *route,
				  u32 payload, bool has_imm);

#endif /* BELLHOP_PROTO_GRH_H */
