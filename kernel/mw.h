/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* mw.h: memory windows: keys that open a part of a region for as long as they are bound. */
#ifndef BELLHOP_MW_H
#define BELLHOP_MW_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include "grant.h"
#include "proto/window.h"

/* They are in the same table as the regions. */
#define BELLHOP_MAX_MW BELLHOP_KEYS_MAX

struct bellhop_qp;

/**
 * struct bellhop_pane - what a window has in the table of keys
 * @grant: the entry; its region fits no key, so that those who look are led to @window
 * @lock: @window and @target, and with no reader left, where the bytes of @grant are; inside of
 * slots' locks
 * @window: what decides on access
 * @target: what the region's keys open that it is bound to, or NULL; counted there
 */
struct bellhop_pane {
	struct bellhop_grant grant;
	spinlock_t lock;
	struct bellhop_window window;
	struct bellhop_grant *target;
};

/**
 * struct bellhop_mw - a memory window
 * @ibmw: the core's part
 * @pane: its entry, which others may look at for a while after it is gone
 */
struct bellhop_mw {
	struct ib_mw ibmw;
	struct bellhop_pane *pane;
};

/**
 * bellhop_mw_bind() - executes a bind (IBA 10.6.7.2, 11.4.1.1)
 * @qp: its runner is the caller, and the entry that it executes says what to bind
 *
 * Whoever uses the window as it was is done when this returns.
 * Context: bottom halves are off; waits for one bounded copy at most.
 * Return: BELLHOP_REASON_NONE, or why not, and then all is as before.
 */
enum bellhop_reason bellhop_mw_bind(const struct bellhop_qp *qp);

/**
 * bellhop_mw_invalidate() - unbinds a window of type 2 (IBA 10.6.7.2)
 * @qp: whose window it must be: that of a local invalidation, or the responder of a remote one
 * @rkey: the window's
 *
 * Context: bottom halves are off; waits for one bounded copy at most. With a slot's lock held,
 * that of @qp: nobody else can be using the window, and this does not wait.
 * Return: BELLHOP_REASON_NONE, or why not.
 */
enum bellhop_reason bellhop_mw_invalidate(const struct bellhop_qp *qp, u32 rkey);

/* Operations of struct ib_device_ops. */
int bellhop_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata);
int bellhop_mw_dealloc(struct ib_mw *ibmw);

#endif
