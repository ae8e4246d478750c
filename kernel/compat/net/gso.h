/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* gso.h: the header that 6.5 has made of a part of netdevice.h. */
#ifdef BELLHOP_HAVE_NET_GSO
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#endif
