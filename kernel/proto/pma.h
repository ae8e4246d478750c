/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * pma.h: the performance management agent of a port (IBA 16.1): what a management datagram that
 * asks for counters is answered.
 *
 * The core asks it for what stands in counters/, and anybody can ask it by a datagram to QP 1.
 */
#ifndef BELLHOP_PROTO_PMA_H
#define BELLHOP_PROTO_PMA_H

#include "base.h"

#define BELLHOP_PMA_BYTES 256

/**
 * struct bellhop_pma_counts - what there is to tell
 * @xmit_words: payload that was sent, in words of four bytes
 * @rcv_words: that came
 * @xmit_packets: pieces that were sent
 * @rcv_packets: that came
 * @multicast_xmit: of @xmit_packets, those to groups
 * @multicast_rcv: of @rcv_packets, those to groups
 * @xmit_discards: what nobody was there for
 */
struct bellhop_pma_counts {
	u64 xmit_words;
	u64 rcv_words;
	u64 xmit_packets;
	u64 rcv_packets;
	u64 multicast_xmit;
	u64 multicast_rcv;
	u64 xmit_discards;
};

/**
 * bellhop_pma_is_asked() - whether a datagram is a request to this agent
 * @request: BELLHOP_PMA_BYTES of it; anybody's
 */
bool bellhop_pma_is_asked(const u8 *request);

/**
 * bellhop_pma_answer() - the answer
 * @request: one that bellhop_pma_is_asked() is true of
 * @counts: what there is to tell
 * @reply: BELLHOP_PMA_BYTES; all of it is written
 *
 * Requests that are not understood, or want something changed, are answered with a status that
 * says so (IBA 13.4.7).
 */
void bellhop_pma_answer(const u8 *request, const struct bellhop_pma_counts *counts, u8 *reply);

#endif /* BELLHOP_PROTO_PMA_H */
