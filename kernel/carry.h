/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* carry.h: the payload of a request, from its requester to its responder or back. */
#ifndef BELLHOP_CARRY_H
#define BELLHOP_CARRY_H

#include "copy.h"

struct bellhop_qp;

/**
 * bellhop_carry() - moves the next part of a message's payload
 * @qp: the requester; the caller is its runner
 * @peer: the responder; its receive entry is taken, if the operation needs one
 * @bytes: how much, not 0; the caller bounds it
 *
 * Context: the caller holds @peer's slot lock.
 * Return: how it ended; "destination" is true when it was the responder's key.
 */
struct bellhop_copy_result bellhop_carry(struct bellhop_qp *qp, struct bellhop_qp *peer, u32 bytes);

/**
 * bellhop_carry_datagram() - moves a datagram, behind its header
 * @qp: the sender; the caller is its runner
 * @peer: the responder; its receive entry is taken and has room for both
 * @grh: the header
 *
 * Context: the caller holds @peer's slot lock.
 * Return: as bellhop_carry().
 */
struct bellhop_copy_result bellhop_carry_datagram(struct bellhop_qp *qp, struct bellhop_qp *peer,
						  u8 *grh);

/**
 * bellhop_carry_check_remote() - whether the responder's key opens the request's range
 * @qp: the requester; the caller is its runner
 * @peer: the responder
 *
 * bellhop_carry() checks it before it writes; this is for what must be refused before
 * the receive entry is taken.
 * Context: the caller holds @peer's slot lock.
 * Return: BELLHOP_REASON_NONE, or why not.
 */
enum bellhop_reason bellhop_carry_check_remote(const struct bellhop_qp *qp,
					       const struct bellhop_qp *peer);

/**
 * bellhop_carry_check_range() - whether a responder's key opens a range
 * @peer: the responder
 * @range: with the rkey as its key
 * @access: enum bellhop_access that it must allow
 *
 * Context: the caller holds @peer's slot lock.
 * Return: BELLHOP_REASON_NONE, or why not.
 */
enum bellhop_reason bellhop_carry_check_range(const struct bellhop_qp *peer,
					      const struct bellhop_sge *range, u32 access);

/**
 * bellhop_carry_check_own() - whether the requester's own keys open the request's elements
 * @qp: the requester; the caller is its runner
 *
 * For a message that nobody has taken, whose elements bellhop_carry() has not looked at.
 * Context: bottom halves are off; takes the QP's own slot lock.
 * Return: BELLHOP_REASON_NONE, or why not.
 */
enum bellhop_reason bellhop_carry_check_own(const struct bellhop_qp *qp);

#endif
