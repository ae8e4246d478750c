/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* ib_verbs.h: the capability of atomic writes, which 6.2 brought; user space knows the value. */
#include_next <rdma/ib_verbs.h>

#ifndef BELLHOP_COMPAT_IB_VERBS_H
#define BELLHOP_COMPAT_IB_VERBS_H
#ifndef BELLHOP_HAVE_DEVICE_ATOMIC_WRITE

#define IB_DEVICE_ATOMIC_WRITE BIT_ULL(40)

#endif /* !BELLHOP_HAVE_DEVICE_ATOMIC_WRITE */
#endif
