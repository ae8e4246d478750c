/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* ops.h: device operations whose signature differs between kernels. */
#ifndef BELLHOP_COMPAT_OPS_H
#define BELLHOP_COMPAT_OPS_H

#include <rdma/ib_verbs.h>

/**
 * bellhop_ops_adapt() - fills in the operations that kernels declare differently
 * @ibdev: a device that is not registered yet
 *
 * Context: may sleep.
 */
void bellhop_ops_adapt(struct ib_device *ibdev);

#endif
