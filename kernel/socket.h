/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * socket.h: the UDP port of RoCEv2 (IBA A17.3.2), of each network namespace in which a device is
 * over an interface that has a wire.
 *
 * It is bound once, for IPv4 and for IPv6, and all devices of the namespace share it. What comes
 * is told apart by the interface.
 */
#ifndef BELLHOP_SOCKET_H
#define BELLHOP_SOCKET_H

#include <linux/list.h>
#include <linux/types.h>

struct bellhop_device;
struct bellhop_socket;
struct net_device;
struct sock;

/**
 * struct bellhop_plug - a device at the sockets of its namespace
 * @socket: those; NULL of a device that has no wire. Written while nobody has opened the device
 * @link: among the others there; read under RCU
 */
struct bellhop_plug {
	struct bellhop_socket *socket;
	struct list_head link;
};

/**
 * bellhop_socket_init() - prepares for namespaces that end
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int bellhop_socket_init(void);

/**
 * bellhop_socket_exit() - undoes it; no device is left
 *
 * Context: may sleep.
 */
void bellhop_socket_exit(void);

/**
 * bellhop_socket_open() - gives a device its wire
 * @device: registered, but not yet open to anybody; an interface of our own has no wire
 *
 * Without the port, which somebody else may have, the device works on this host, and the kernel's
 * log says so. Doing it again does nothing.
 * Context: under RTNL, so that the interface stays in its namespace.
 * Return: 0 or -ENOMEM.
 */
int bellhop_socket_open(struct bellhop_device *device);

/**
 * bellhop_socket_close() - takes it away
 * @device: with or without; nothing is received for it afterwards
 *
 * Context: may sleep; not under RTNL.
 */
void bellhop_socket_close(struct bellhop_device *device);

/**
 * bellhop_socket_find() - whose interface a packet came in on
 * @sk: the socket that received it
 * @netdev: the interface, or a VLAN of it
 *
 * Context: under RCU, which keeps the device there.
 * Return: the device, or NULL.
 */
struct bellhop_device *bellhop_socket_find(const struct sock *sk, const struct net_device *netdev);

/**
 * bellhop_socket_sender() - the socket that a packet is sent by
 * @plug: the device's
 * @is_ipv6: which of the two
 *
 * Its owner hears nothing of what it sends to groups itself.
 * Context: under RCU, which keeps the socket there.
 * Return: the socket, or NULL when the namespace ends.
 */
struct sock *bellhop_socket_sender(const struct bellhop_plug *plug, bool is_ipv6);

/* Whether a device has a wire. Context: any. */
static inline bool bellhop_socket_is_open(const struct bellhop_plug *plug)
{
	return plug->socket;
}

#endif
