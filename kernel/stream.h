/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * stream.h: a connection to a QP of another host (IBA 9.7, 9.8.2).
 *
 *	send.c --post--> requester (stream_send.c) ==packets==> acceptor (stream_receive.c)
 *	complete <--------- answers <--------------------------- replies
 *
 * The requester is the runner's, as the sender is; the acceptor is under the slot's lock, as the
 * receiver is. What comes in for the requester waits until there is a runner.
 */
#ifndef BELLHOP_STREAM_H
#define BELLHOP_STREAM_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>
#include "proto/acceptor.h"
#include "proto/counter.h"
#include "proto/grh.h"
#include "proto/requester.h"
#include "proto/wqe.h"

struct bellhop_arrival;
struct bellhop_qp;
struct bellhop_share;

/* Messages that may be under way. */
#define BELLHOP_STREAM_DEPTH 16U
/* Packets of theirs that may be: few enough for the buffers that they meet on their way. */
#define BELLHOP_STREAM_WINDOW 128U
/* Answers that may wait: besides those, no more come than there are requests kept. */
#define BELLHOP_STREAM_REPLIES 64U
/* Packets from the other side that wait for the runner. */
#define BELLHOP_STREAM_BACKLOG 512U

/**
 * struct bellhop_path - where a connection leads
 * @own_gid: from here
 * @peer_gid: to there
 * @sgid_index: of @own_gid
 * @flow_label: 20 bits
 * @hop_limit: as in the header
 * @traffic_class: as in the header
 * @peer_qpn: the QP there
 * @source_port: of UDP
 */
struct bellhop_path {
	union ib_gid own_gid;
	union ib_gid peer_gid;
	u32 flow_label;
	u8 sgid_index;
	u8 hop_limit;
	u8 traffic_class;
	u32 peer_qpn;
	u16 source_port;
};

/**
 * struct bellhop_stream - one end of it
 * @path: where it leads
 * @requester: the send side; the runner's
 * @requests: its queue
 * @wqes: private copies of the entries in it
 * @indices: and their numbers
 * @broken: why an entry's own bytes cannot be had, which ends it when those before it are complete
 * @broken_at: its place in the queue
 * @is_resting: pages on demand are absent, and being fetched
 * @answers: packets for the requester, without a runner yet
 * @acceptor: the receive side; under the slot's lock
 * @replies: its queue
 * @stash: packets that have come before their time
 * @kept: the answers that it keeps
 */
struct bellhop_stream {
	struct bellhop_path path;
	struct bellhop_requester requester;
	struct bellhop_request requests[BELLHOP_STREAM_DEPTH];
	struct bellhop_send_wqe wqes[BELLHOP_STREAM_DEPTH];
	u32 indices[BELLHOP_STREAM_DEPTH];
	enum bellhop_reason broken;
	u32 broken_at;
	bool is_resting;
	struct sk_buff_head answers;
	struct bellhop_acceptor acceptor;
	struct bellhop_reply replies[BELLHOP_STREAM_REPLIES];
	struct sk_buff *stash[BELLHOP_STASH_PLACES];
	struct bellhop_reply kept[];
};

/**
 * bellhop_stream_create() - what a QP needs whose peer is at another host
 * @qp: the QP
 * @attr: with IB_QP_AV and what goes with it
 * @mask: what of @attr is set
 *
 * Context: may sleep.
 * Return: the stream, to be begun; NULL, if the QP does not need one; or an ERR_PTR of -ENOMEM.
 */
struct bellhop_stream *bellhop_stream_create(struct bellhop_qp *qp, const struct ib_qp_attr *attr,
					     int mask);

/**
 * bellhop_stream_destroy() - frees it
 * @stream: is no QP's any more, or NULL
 *
 * Context: may sleep.
 */
void bellhop_stream_destroy(struct bellhop_stream *stream);

/**
 * bellhop_stream_receive_from() - begins the receive side
 * @qp: has a stream; attributes as of RTR are set
 * @psn: of the first packet
 *
 * Context: the QP is held, and so is its slot's lock.
 */
void bellhop_stream_receive_from(struct bellhop_qp *qp, u32 psn);

/**
 * bellhop_stream_send_from() - begins the send side
 * @qp: has a stream; attributes as of RTS are set
 * @psn: of the first packet
 *
 * Context: the QP is held, and so is its slot's lock.
 */
void bellhop_stream_send_from(struct bellhop_qp *qp, u32 psn);

/* Whether there are messages that are not complete. Context: the QP's runner. */
static inline bool bellhop_stream_is_busy(const struct bellhop_stream *stream)
{
	return stream->requester.oldest != stream->requester.newest;
}

/* What packets of it are routed by; as long as @path is there. */
static inline struct bellhop_route bellhop_stream_route(const struct bellhop_path *path)
{
	return (struct bellhop_route){
		.sgid = path->own_gid.raw,
		.dgid = path->peer_gid.raw,
		.flow_label = path->flow_label,
		.hop_limit = path->hop_limit,
		.traffic_class = path->traffic_class,
	};
}

/**
 * bellhop_stream_post() - puts the entry that was fetched under way
 * @qp: has a stream with room; the caller is its runner
 *
 * Context: bottom halves are off.
 */
void bellhop_stream_post(struct bellhop_qp *qp);

/**
 * bellhop_stream_advance() - hears answers and the time, completes entries, sends packets
 * @qp: has a stream; the caller is its runner
 * @share: what the caller may do; lessened by what was done
 *
 * Context: bottom halves are off; takes the QP's own slot lock.
 * Return: true when there may be more to do at once.
 */
bool bellhop_stream_advance(struct bellhop_qp *qp, struct bellhop_share *share);

/**
 * bellhop_stream_take_back() - takes the oldest message off, to be flushed
 * @qp: has a stream; the caller is its runner
 *
 * Context: bottom halves are off.
 * Return: false if there is none; otherwise the entry is the one that is executed.
 */
bool bellhop_stream_take_back(struct bellhop_qp *qp);

/**
 * bellhop_stream_receive() - takes a packet from another host
 * @arrival: one of RC or UC
 *
 * Context: softirq; takes the slot lock of the QP that it is for, and may run that.
 * Return: why nobody gets it, or BELLHOP_COUNTERS.
 */
enum bellhop_counter bellhop_stream_receive(const struct bellhop_arrival *arrival);

/**
 * bellhop_stream_reply() - sends what the receive side has to say
 * @qpn: of the QP
 *
 * Context: bottom halves are off; takes the QP's slot lock, between two packets.
 * Return: true when there is more to be said.
 */
bool bellhop_stream_reply(u32 qpn);

#endif
