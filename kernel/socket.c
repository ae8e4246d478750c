// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* socket.c: binds the UDP port of RoCEv2 in namespaces, and lets go of it. */
#include <linux/if_vlan.h>
#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_verbs.h>
#include "device.h"
#include "socket.h"
#include "wire.h"

/**
 * struct bellhop_socket - the sockets of one namespace
 * @all: in the list of all
 * @net: the namespace; NULL when that has ended, and the sockets with it. Under @lock
 * @sks: the sockets, of IPv4 and IPv6; NULL where there is none. Written under @lock, read under
 * RCU
 * @links: the devices; written under @lock, read under RCU
 */
struct bellhop_socket {
	struct list_head all;
	struct net *net;
	struct sock __rcu *sks[2];
	struct list_head links;
};

static LIST_HEAD(all);
static DEFINE_MUTEX(lock); /* taken within RTNL, and never RTNL within it */

static struct bellhop_socket *find(const struct net *net)
{
	struct bellhop_socket *socket;

	lockdep_assert_held(&lock);

	list_for_each_entry(socket, &all, all)
	{
		if (net_eq(socket->net, net))
			return socket;
	}
	return NULL;
}

/* Locally, members of a group get their copies without a packet. */
static void deafen(struct socket *sock)
{
	int off = 0;

	sock->ops->setsockopt(sock, SOL_IPV6, IPV6_MULTICAST_LOOP, KERNEL_SOCKPTR(&off),
			      sizeof(off));
}

static int bind_port(struct bellhop_socket *socket, bool is_ipv6)
{
	struct udp_port_cfg port = {
		.family = is_ipv6 ? AF_INET6 : AF_INET,
		.local_udp_port = htons(ROCE_V2_UDP_DPORT),
		.ipv6_v6only = is_ipv6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = socket,
		.encap_type = 1,
		.encap_rcv = bellhop_wire_receive,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(socket->net, &port, &sock);
	if (err)
		return err;
	setup_udp_tunnel_sock(socket->net, sock->sk, &tunnel);
	if (is_ipv6)
		deafen(sock);
	rcu_assign_pointer(socket->sks[is_ipv6], sock->sk);
	return 0;
}

/*
 * What udp_tunnel_sock_release() does, for both together and in a hurry: an interface that is to go
 * waits for this. Afterwards nobody receives for @socket; who is sending has the memory of the
 * sockets for as long as it takes.
 */
static void release(struct bellhop_socket *socket)
{
	struct sock *sks[ARRAY_SIZE(socket->sks)];
	int i;

	lockdep_assert_held(&lock);

	for (i = 0; i < ARRAY_SIZE(sks); i++) {
		sks[i] = rcu_dereference_protected(socket->sks[i], lockdep_is_held(&lock));
		RCU_INIT_POINTER(socket->sks[i], NULL);
		if (sks[i])
			rcu_assign_sk_user_data(sks[i], NULL);
	}
	synchronize_rcu_expedited();
	for (i = 0; i < ARRAY_SIZE(sks); i++) {
		if (sks[i]) {
			kernel_sock_shutdown(sks[i]->sk_socket, SHUT_RDWR);
			sock_release(sks[i]->sk_socket);
		}
	}
	socket->net = NULL;
}

/* IPv6 may be off, and its port somebody else's; that is no reason to go without IPv4. */
static struct bellhop_socket *create(struct net *net)
{
	struct bellhop_socket *socket = kzalloc(sizeof(*socket), GFP_KERNEL);
	int err;

	if (!socket)
		return ERR_PTR(-ENOMEM);
	socket->net = net;
	INIT_LIST_HEAD(&socket->links);
	err = bind_port(socket, false);
	if (err)
		goto err_socket;
	err = bind_port(socket, true);
	if (err == -ENOMEM)
		goto err_port;
	if (err && err != -EAFNOSUPPORT && err != -EPFNOSUPPORT)
		pr_notice("bellhop: no UDP port %u for IPv6: error %d\n", ROCE_V2_UDP_DPORT, err);
	list_add(&socket->all, &all);
	return socket;

err_port:
	release(socket);
err_socket:
	kfree(socket);
	return ERR_PTR(err);
}

static void explain(const struct ib_device *ibdev, int err)
{
	if (err == -EADDRINUSE)
		ibdev_notice(ibdev,
			     "UDP port %u is taken (is rdma_rxe loaded?): reaches this host only\n",
			     ROCE_V2_UDP_DPORT);
	else
		ibdev_notice(ibdev, "no UDP port %u: error %d: reaches this host only\n",
			     ROCE_V2_UDP_DPORT, err);
}

int bellhop_socket_open(struct bellhop_device *device)
{
	struct net *net = dev_net(device->netdev);
	struct bellhop_socket *socket;

	ASSERT_RTNL();
	if (device->owns_netdev || device->plug.socket)
		return 0;
	mutex_lock(&lock);
	socket = find(net) ?: create(net);
	if (!IS_ERR(socket)) {
		device->plug.socket = socket;
		list_add_tail_rcu(&device->plug.link, &socket->links);
	}
	mutex_unlock(&lock);
	if (!IS_ERR(socket))
		return 0;
	if (PTR_ERR(socket) == -ENOMEM)
		return -ENOMEM;
	explain(&device->ibdev, PTR_ERR(socket));
	return 0;
}

void bellhop_socket_close(struct bellhop_device *device)
{
	struct bellhop_socket *socket = device->plug.socket;
	bool is_last;

	if (!socket)
		return;
	mutex_lock(&lock);
	list_del_rcu(&device->plug.link);
	is_last = list_empty(&socket->links);
	if (is_last && socket->net) {
		list_del(&socket->all);
		release(socket);
	} else {
		/* Until nobody is receiving for the device any more. */
		synchronize_rcu_expedited();
	}
	mutex_unlock(&lock);
	device->plug.socket = NULL;
	if (is_last)
		kfree(socket);
}

struct bellhop_device *bellhop_socket_find(const struct sock *sk, const struct net_device *netdev)
{
	const struct bellhop_socket *socket = rcu_dereference_sk_user_data(sk);
	struct bellhop_device *device;

	if (!socket)
		return NULL;
	if (is_vlan_dev(netdev))
		netdev = vlan_dev_real_dev(netdev);
	list_for_each_entry_rcu(device, &socket->links, plug.link)
	{
		if (device->netdev == netdev)
			return device;
	}
	return NULL;
}

struct sock *bellhop_socket_sender(const struct bellhop_plug *plug, bool is_ipv6)
{
	return rcu_dereference_check(plug->socket->sks[is_ipv6], rcu_read_lock_bh_held());
}

/* A device whose interface has left the namespace may take its time. */
static void __net_exit leave(struct net *net)
{
	struct bellhop_socket *socket;

	mutex_lock(&lock);
	socket = find(net);
	if (socket) {
		list_del(&socket->all);
		release(socket);
	}
	mutex_unlock(&lock);
}

static struct pernet_operations net_operations = {
	.exit = leave,
};

int bellhop_socket_init(void)
{
	return register_pernet_subsys(&net_operations);
}

void bellhop_socket_exit(void)
{
	unregister_pernet_subsys(&net_operations);
}
