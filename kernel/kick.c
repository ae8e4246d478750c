// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * kick.c: a uverbs FD object; seeking it to a QP number executes that QP in the
 * caller's context.
 *
 * This is the one system call on the data path. lseek() brings a number to a file's own
 * operation, and nothing else: a uverbs method would parse attributes and lock objects,
 * and on the way to any ioctl() stand the hooks of every security module, which cost more
 * than the system call itself. They have nothing to decide here: whoever has the
 * file reaches the QPs of one context, and those only as their owner could.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>
#include "kick.h"
#include "run.h"
#include "ucontext.h"

#define UVERBS_MODULE_NAME bellhop
#include <rdma/uverbs_named_ioctl.h>

/**
 * struct bellhop_kick - one such file
 * @uobject: the core's part; must come first
 * @context_id: the context whose QPs it reaches
 * @gone: set when the context's device is removed
 */
struct bellhop_kick {
	struct ib_uobject uobject;
	u64 context_id;
	bool gone;
};

static loff_t kick_seek(struct file *file, loff_t offset, int whence)
{
	struct bellhop_kick *kick =
		container_of((struct ib_uobject *)file->private_data, struct bellhop_kick, uobject);

	if (whence != SEEK_SET)
		return whence == SEEK_CUR && !offset ? ktime_get_raw_ns() : -EINVAL;
	if (READ_ONCE(kick->gone))
		return -EIO;
	if (offset < 0 || offset > U32_MAX)
		return -ENOENT;
	/* Bounded, and 0 is where the file's position stays. */
	return bellhop_run_kick(kick->context_id, offset);
}

static const struct file_operations kick_fops = {
	.owner = THIS_MODULE,
	.llseek = kick_seek,
	.release = uverbs_uobject_fd_release,
};

static int UVERBS_HANDLER(BELLHOP_METHOD_KICK_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject = uverbs_attr_get_uobject(attrs, BELLHOP_ATTR_KICK_ALLOC_FD);
	struct bellhop_kick *kick = container_of(uobject, struct bellhop_kick, uobject);

	kick->context_id = bellhop_ucontext_of(attrs->context)->id;
	return 0;
}

static void destroy_kick(struct ib_uobject *uobject, enum rdma_remove_reason why)
{
	WRITE_ONCE(container_of(uobject, struct bellhop_kick, uobject)->gone, true);
}

DECLARE_UVERBS_NAMED_METHOD(BELLHOP_METHOD_KICK_ALLOC,
			    UVERBS_ATTR_FD(BELLHOP_ATTR_KICK_ALLOC_FD, BELLHOP_OBJECT_KICK,
					   UVERBS_ACCESS_NEW, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(BELLHOP_OBJECT_KICK,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct bellhop_kick), destroy_kick,
						 &kick_fops, "[bellhop_kick]", O_RDWR),
			    &UVERBS_METHOD(BELLHOP_METHOD_KICK_ALLOC));

const struct uapi_definition bellhop_kick_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(BELLHOP_OBJECT_KICK),
	{},
};
