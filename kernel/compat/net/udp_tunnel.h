/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* udp_tunnel.h: setup_udp_tunnel_sock() of a struct sock; before 7.0 it took a struct socket. */
#include_next <net/udp_tunnel.h>

#ifndef BELLHOP_COMPAT_UDP_TUNNEL_H
#define BELLHOP_COMPAT_UDP_TUNNEL_H
#ifdef BELLHOP_HAVE_TUNNEL_SOCKET

#define setup_udp_tunnel_sock(net, sk, cfg) setup_udp_tunnel_sock(net, (sk)->sk_socket, cfg)

#endif /* BELLHOP_HAVE_TUNNEL_SOCKET */
#endif
