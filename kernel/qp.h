/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * qp.h: queue pairs.
 *
 * A QP has two sides. The sender is touched only by whoever holds the run word (run.h):
 * the thread that executes the send queue. The receiver is touched under the lock of
 * the QP's slot (slot.h): by a peer's runner that executes a request on it, and by the
 * QP's own runner when it flushes. Nobody ever holds two slots' locks.
 */
#ifndef BELLHOP_QP_H
#define BELLHOP_QP_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "gsi.h"
#include "ledger.h"
#include "proto/flow.h"
#include "proto/responder.h"
#include "proto/retry.h"
#include "proto/ring.h"
#include "proto/state.h"
#include "proto/tmh.h"
#include "proto/wqe.h"

#define BELLHOP_MAX_QP 131000
#define BELLHOP_MAX_QP_WR 32768
#define BELLHOP_MAX_RD_ATOMIC 128

/* Unlike any context's. A target QP has no queues, and may be several contexts'. */
#define BELLHOP_QP_UNUSABLE U64_MAX

struct bellhop_cq;
struct bellhop_device;
struct bellhop_fault;
struct bellhop_mapping;
struct bellhop_rss;
struct bellhop_slot;
struct bellhop_srq;
struct bellhop_stream;
struct bellhop_tagged;

/**
 * struct bellhop_sender - the send side; all of it is the runner's
 * @ring: the send queue
 * @limits: what its entries may hold
 * @signal_all: every entry completes visibly
 * @busy: @wqe is being executed
 * @begun: the receiver has taken the message
 * @is_own: @wqe is no entry, but what the QP does by itself, for the first of its rendezvous
 * @index: @wqe's number
 * @wqe: private copy of the entry
 * @moved: bytes of its payload that are done
 * @epoch: the receiver's, when the message began
 * @found: of an atomic, what the word was; or what is to be written there
 * @executed: and it has been changed, while the result is still to be written
 * @remote: of a datagram, it goes over the wire
 * @retry: patience
 * @fault: pages on demand that were absent last, or NULL
 * @resume_ns: not before this time; 0 is at once
 * @flow: what was sent and fetched
 * @woken: set by a receiver that got a receive entry: do not wait for @resume_ns
 * @sqd_notify: tell when the queue is drained
 * @to_group: of a datagram, it goes to the members of a multicast group, one after the other
 * @max_rd_atomic: reads that the peer takes; 0 is none
 * @peer_qpn: the destination QP; of a datagram, the entry's, or the member that is next
 * @peer_gid: the destination's; likewise
 * @own_gid: of a datagram, the source's
 * @spared_qpn: the member that gets no copy of what is sent to a group: this QP, or 0
 * @psn: the next packet's number
 *
 * What every message needs fills whole cache lines up to the first element of @wqe.
 */
struct bellhop_sender {
	struct bellhop_work_ring ring;
	struct bellhop_wqe_limits limits;
	bool signal_all;
	bool busy;
	bool begun;
	bool is_own;
	u32 index;
	u32 moved;
	u64 epoch;
	u64 found;
	bool executed;
	bool remote;
	struct bellhop_retry retry;
	struct bellhop_fault *fault;
	u64 resume_ns;
	struct bellhop_flow flow;
	bool woken;
	bool sqd_notify;
	bool to_group;
	u8 max_rd_atomic;
	u32 peer_qpn;
	union ib_gid peer_gid;
	struct bellhop_send_wqe wqe;
	union ib_gid own_gid;
	u32 spared_qpn;
	u32 psn;
};

/**
 * struct bellhop_receiver - the receive side; under the slot's lock
 * @rules: what decides on requests; its state is the QP's. The sender reads the state
 * without the lock, and then acts as if the request had come before the change
 * @gid: our own address
 * @srq: where entries are taken from, instead of @ring; or NULL, as of a target QP
 * between two steps
 * @pdn: the protection domain of what the entries name
 * @xrcd: of a target QP, its XRC domain; or NULL
 * @rss: of a QP whose frames others receive, which of them does; or NULL
 * @cqe_qpn: what completions call the QP
 * @limits: what the receive queue's entries may hold
 * @min_rnr_timer: how long senders are to wait for a receive
 * @epoch: unlike that of any other QP, now or before; changes when messages under way
 * become void
 * @established: the first message in RTR was reported (IBA 11.6.3.1)
 * @left_srq: that no entry of @srq will complete on the QP was reported (IBA 11.6.3.1)
 * @waiter_qpn: a sender that found no receive entry, or 0
 * @ring: the receive queue; from here on a message that takes a receive writes
 * @busy: @wqe is being filled
 * @matches: @srq is one that matches tags
 * @index: @wqe's number; where the SRQ has a number, that
 * @wqe: private copy of the entry
 * @tagged: of an SRQ that matches tags: the buffer which the message has taken, or NULL
 * @tmh: likewise: the headers of the message that is being received, or was last
 * @header: likewise: as they came
 */
struct bellhop_receiver {
	struct bellhop_responder rules;
	union ib_gid gid;
	struct bellhop_srq *srq;
	struct ib_xrcd *xrcd;
	struct bellhop_rss *rss;
	u32 pdn;
	u32 cqe_qpn;
	struct bellhop_wqe_limits limits;
	u64 epoch;
	u32 waiter_qpn;
	u8 min_rnr_timer;
	bool established;
	bool left_srq;
	struct bellhop_work_ring ring ____cacheline_aligned_in_smp;
	bool busy;
	bool matches;
	u32 index;
	struct bellhop_recv_wqe wqe;
	struct bellhop_tagged *tagged;
	struct bellhop_tmh tmh;
	u8 header[BELLHOP_TMH_MAX];
};

/**
 * struct bellhop_qp - a queue pair
 * @ibqp: the core's part
 * @device: its device
 * @slot: its place in the table of QP numbers
 * @qpn: its number
 * @pdn: its protection domain; of a target QP, that of the SRQ which it has entered last
 * @id: unlike that of any other QP, now or before
 * @context_id: the user context that may kick it; 0 is a consumer in the kernel, and
 * BELLHOP_QP_UNUSABLE nobody
 * @send_cq: where sends complete
 * @recv_cq: where receives complete; NULL where none do, and of a target QP as @recv.srq
 * @sq_mapping: the send ring's memory, or NULL
 * @rq_mapping: the receive ring's memory, or NULL
 * @send_ledger: what a consumer in the kernel has posted there
 * @recv_ledger: likewise
 * @gsi: how a general services QP is found
 * @counted: in the device's list of QPs
 * @run: the run word
 * @kicks: how often it was kicked; written under the slot's gate
 * @hold: somebody wants the run word for good; written under the slot's gate
 * @rendezvous: what the sender is to do by itself; added to under the slot's lock
 * @stream: of one whose peer is at another host, the connection; or NULL. Written while the QP is
 * held and under the slot's lock
 * @held: where that somebody sleeps
 * @work: the runner, when the caller's share is used up
 * @timer: wakes a sender that waits
 * @send: the send side
 * @recv: the receive side
 * @reason: the last reason for an error, for `rdma resource show`
 * @modify_lock: one modify or query at a time; @attr
 * @attr: what was asked for last
 */
struct bellhop_qp {
	struct ib_qp ibqp;
	struct bellhop_device *device;
	struct bellhop_slot *slot;
	u32 qpn;
	u32 pdn;
	u64 id;
	u64 context_id;
	struct bellhop_cq *send_cq;
	struct bellhop_cq *recv_cq;
	struct bellhop_mapping *sq_mapping;
	struct bellhop_mapping *rq_mapping;
	struct bellhop_ledger send_ledger;
	struct bellhop_ledger recv_ledger;
	struct bellhop_gsi gsi;
	struct list_head counted;

	u32 run ____cacheline_aligned_in_smp;
	bool hold;
	u64 kicks;
	struct list_head rendezvous;
	struct bellhop_stream *stream;
	wait_queue_head_t held;
	struct work_struct work;
	struct hrtimer timer;

	struct bellhop_sender send ____cacheline_aligned_in_smp;
	struct bellhop_receiver recv ____cacheline_aligned_in_smp;

	u32 reason;
	struct mutex modify_lock;
	struct ib_qp_attr attr;
};

static inline struct bellhop_qp *bellhop_qp_of(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct bellhop_qp, ibqp);
}

static inline enum bellhop_qp_state bellhop_qp_state(const struct bellhop_qp *qp)
{
	return READ_ONCE(qp->recv.rules.state);
}

/**
 * bellhop_qp_new_epoch() - a number that there has not been
 *
 * Context: any.
 */
u64 bellhop_qp_new_epoch(void);

/**
 * bellhop_qp_event() - tells the owner of something on the QP
 * @qp: a QP that is there
 * @type: what
 *
 * Context: any but hard interrupts.
 */
void bellhop_qp_event(struct bellhop_qp *qp, enum ib_event_type type);

/**
 * bellhop_qp_fail() - puts a QP in error; its queues will be flushed
 * @qp: the QP
 * @reason: why
 *
 * Context: the caller holds the slot's lock and sees to it that a runner follows.
 */
void bellhop_qp_fail(struct bellhop_qp *qp, enum bellhop_reason reason);

/**
 * bellhop_qp_fail_send() - the same after a send that completes in error
 * @qp: the QP; unless it is reliable, only its send queue will be flushed
 * @reason: why
 *
 * Context: the caller holds the slot's lock and is the runner.
 */
void bellhop_qp_fail_send(struct bellhop_qp *qp, enum bellhop_reason reason);

/**
 * bellhop_qp_begin() - makes the kernel's part of a QP, or of what receives as one
 * @qp: zeroed, but for what the core has set; its device and type at least
 * @attr: what is asked for, and has been checked; what is there is put in its place
 * @udata: is answered by a struct bellhop_create_qp_resp; NULL of a consumer in the kernel
 *
 * Context: may sleep.
 * Return: 0, with the QP published; or a negative errno.
 */
int bellhop_qp_begin(struct bellhop_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata);

/**
 * bellhop_qp_end() - takes it away
 * @qp: was begun; afterwards nobody reaches it
 *
 * Context: may sleep.
 */
void bellhop_qp_end(struct bellhop_qp *qp);

/**
 * bellhop_qp_move() - brings it to a state
 * @qp: was begun
 * @from: states that it may be in, a bit of each
 * @to: the state
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL if it is in none of them.
 */
int bellhop_qp_move(struct bellhop_qp *qp, u32 from, enum bellhop_qp_state to);

/* Operations of struct ib_device_ops. */
int bellhop_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int bellhop_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);
int bellhop_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_udata *udata);
int bellhop_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_qp_init_attr *init_attr);

#endif
