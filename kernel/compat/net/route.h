/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* route.h: flowi4_dscp, which has another name and is a plain number on kernels before 7.0. */
#include_next <net/route.h>

#ifndef BELLHOP_COMPAT_ROUTE_H
#define BELLHOP_COMPAT_ROUTE_H
#ifndef BELLHOP_HAVE_FLOWI4_DSCP

#include <net/inet_dscp.h>

#define flowi4_dscp flowi4_tos
#define inet_dsfield_to_dscp(dsfield) (INET_DSCP_MASK & (dsfield))

#endif /* !BELLHOP_HAVE_FLOWI4_DSCP */
#endif
