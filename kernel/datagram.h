/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * datagram.h: the messages of UD QPs, on this host (datagram.c) and over the wire
 * (datagram_wire.c).
 */
#ifndef BELLHOP_DATAGRAM_H
#define BELLHOP_DATAGRAM_H

#include "proto/counter.h"
#include "proto/grh.h"
#include "respond.h"

struct bellhop_arrival;
struct bellhop_qp;

/**
 * bellhop_datagram_address() - finds out where the entry that was fetched goes
 * @qp: a UD QP; the caller is its runner
 *
 * An address at which there is nobody is no mistake.
 * Context: bottom halves are off.
 * Return: BELLHOP_REASON_NONE, or why the entry is refused.
 */
enum bellhop_reason bellhop_datagram_address(struct bellhop_qp *qp);

/**
 * bellhop_datagram_go_on() - finds out where its next copy goes, after one was delivered or lost
 * @qp: a UD QP that sends to a multicast group (IBA 10.5); the caller is its runner
 *
 * Context: bottom halves are off.
 * Return: false when there was the last.
 */
bool bellhop_datagram_go_on(struct bellhop_qp *qp);

/**
 * bellhop_datagram_deliver() - the whole message, or a copy of it, if the peer takes it
 * @qp: a UD QP; the caller is its runner
 * @peer: the addressed QP, of any type
 *
 * Context: any but hard interrupts; the caller holds @peer's slot lock.
 * Return: ACK; NONE, if the datagram was dropped (IBA 9.8.3); or OWN_FAULT.
 */
struct bellhop_answer bellhop_datagram_deliver(struct bellhop_qp *qp, struct bellhop_qp *peer);

/**
 * bellhop_datagram_vlan() - what a completion says of the VLAN that a datagram has come by
 * @qp: who gets it
 * @dgid: the GID where it was sent to, 16 bytes
 *
 * The core finds the address that a management datagram was for by its VLAN; nobody else is told.
 *
 * Context: any but hard interrupts.
 * Return: one more than the VLAN's number, or 0.
 */
u16 bellhop_datagram_vlan(const struct bellhop_qp *qp, const u8 *dgid);

/**
 * bellhop_datagram_route() - where from and to the entry goes that was fetched
 * @qp: a UD QP, after bellhop_datagram_address()
 *
 * Context: any.
 * Return: what its header says, for as long as the entry is there.
 */
struct bellhop_route bellhop_datagram_route(const struct bellhop_qp *qp);

/**
 * bellhop_datagram_send() - sends it to another host
 * @qp: a UD QP, with an address that is not of this host; the caller is its runner
 *
 * Context: bottom halves are off; takes the QP's own slot lock.
 * Return: ACK, if the network has it; NONE, if it was lost; OWN_FAULT; or FETCHING.
 */
struct bellhop_answer bellhop_datagram_send(struct bellhop_qp *qp);

/**
 * bellhop_datagram_receive() - takes one from another host
 * @arrival: a UD packet
 *
 * Context: softirq; takes the slot lock of each QP that it is for, one after the other.
 * Return: why nobody gets it, or BELLHOP_COUNTERS.
 */
enum bellhop_counter bellhop_datagram_receive(const struct bellhop_arrival *arrival);

#endif
