/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * gsi.h: the general services QPs, which all have number 1 (IBA 3.9.5).
 *
 * Each device has one, with a number of its own in the table of QPs (slot.h). A datagram to
 * number 1 goes to that of the device which has the destination GID.
 */
#ifndef BELLHOP_GSI_H
#define BELLHOP_GSI_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

#define BELLHOP_GSI_QPN 1

struct bellhop_device;

/**
 * struct bellhop_gsi - a device's general services QP
 * @link: in the list of all, while there is a QP
 * @device: whose
 * @qpn: its number in the table
 */
struct bellhop_gsi {
	struct list_head link;
	struct bellhop_device *device;
	u32 qpn;
};

/**
 * bellhop_gsi_add() - makes a device's QP reachable as number 1
 * @gsi: not in the list
 * @device: whose
 * @qpn: the QP's number in the table
 *
 * Context: may sleep.
 */
void bellhop_gsi_add(struct bellhop_gsi *gsi, struct bellhop_device *device, u32 qpn);

/**
 * bellhop_gsi_remove() - ends that
 * @gsi: in the list
 *
 * Context: may sleep.
 */
void bellhop_gsi_remove(struct bellhop_gsi *gsi);

/**
 * bellhop_gsi_find() - which QP is number 1 at a GID
 * @from: who asks
 * @dgid: the GID
 *
 * Context: bottom halves are off.
 * Return: its number in the table, or 0, which no QP has.
 */
u32 bellhop_gsi_find(const struct bellhop_device *from, const union ib_gid *dgid);

/**
 * bellhop_gsi_number() - which QP is a device's number 1
 * @device: the device
 *
 * Context: bottom halves are off.
 * Return: its number in the table, or 0.
 */
u32 bellhop_gsi_number(const struct bellhop_device *device);

#endif
