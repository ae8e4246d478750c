/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* kick.h: the file through which a process has its send queues executed. */
#ifndef BELLHOP_KICK_H
#define BELLHOP_KICK_H

#include <rdma/uverbs_ioctl.h>

/* What uverbs learns of it. */
extern const struct uapi_definition bellhop_kick_defs[];

#endif
