/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* datagram.h: the messages of UD QPs, on this host. */
#ifndef BELLHOP_DATAGRAM_H
#define BELLHOP_DATAGRAM_H

#include "respond.h"

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

#endif
