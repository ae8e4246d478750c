/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* raw.h: the messages of raw packet QPs: whole Ethernet frames. */
#ifndef BELLHOP_RAW_H
#define BELLHOP_RAW_H

#include "respond.h"

struct bellhop_device;
struct bellhop_qp;

/**
 * bellhop_raw_check() - whether the interface could send the entry that was fetched
 * @qp: a raw packet QP; the caller is its runner
 *
 * Context: any but hard interrupts.
 * Return: BELLHOP_REASON_NONE, or BELLHOP_REASON_WR_LENGTH of what is too short or too long.
 */
enum bellhop_reason bellhop_raw_check(const struct bellhop_qp *qp);

/**
 * bellhop_raw_send() - sends the entry's frame
 * @qp: a raw packet QP; the caller is its runner
 *
 * QPs of this device whose rules want it get it at once. So does the interface, unless the frame
 * is for the interface itself; whether that sends it nobody says.
 * Context: bottom halves are off; takes the QP's own slot lock.
 * Return: ACK; NONE, if it was lost; OWN_FAULT; or FETCHING.
 */
struct bellhop_answer bellhop_raw_send(struct bellhop_qp *qp);

/**
 * bellhop_raw_deliver() - gives a frame to a QP, if that takes it
 * @device: where the frame is
 * @qpn: the QP
 * @frame: all of the frame, without its checksum
 * @length: bytes, not 0
 *
 * What does not fit into the next receive is lost, as nobody may put a QP in error from outside;
 * so is what comes while there is none, or while its pages are being fetched.
 * Context: any but hard interrupts.
 */
void bellhop_raw_deliver(struct bellhop_device *device, u32 qpn, u8 *frame, u32 length);

#endif
