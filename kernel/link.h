/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* link.h: devices that come and go with network interfaces. */
#ifndef BELLHOP_LINK_H
#define BELLHOP_LINK_H

/**
 * bellhop_link_init() - begins to serve `rdma link add` and to follow interfaces
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int bellhop_link_init(void);

/**
 * bellhop_link_exit() - ends both
 *
 * Devices stay; the caller unregisters them.
 * Context: may sleep.
 */
void bellhop_link_exit(void);

#endif
