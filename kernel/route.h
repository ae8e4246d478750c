/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* route.h: the way of packets to another host. */
#ifndef BELLHOP_ROUTE_H
#define BELLHOP_ROUTE_H

#include <linux/types.h>
#include "proto/grh.h"

struct bellhop_device;
struct dst_entry;

/**
 * bellhop_route_find() - asks the host's routing
 * @device: where from
 * @sgid_index: of its source GID; packets go out where that is an address of the interface
 * @route: where from and to; both GIDs are of one family
 * @source_port: UDP's, in the byte order of the host
 *
 * A neighbour that is not known yet is no error: what is sent to it waits.
 * Context: any but hard interrupts.
 * Return: the way, with a reference; or an ERR_PTR, of what leads back to this host, too.
 */
struct dst_entry *bellhop_route_find(struct bellhop_device *device, u8 sgid_index,
				     const struct bellhop_route *route, u16 source_port);

#endif
