/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * window.h: memory windows: whether one may be bound or invalidated, and what it opens
 * (IBA 10.6.7).
 *
 *	      bind                         type 1: bind again, or to nothing
 *	free ------> bound                 type 2: must be invalidated first
 *	     <------
 *	      type 1: bind to nothing; type 2: invalidate
 *
 * A window of type 1 opens its bytes to all QPs of its PD. One of type 2 is of the kind 2B: it
 * belongs to the QP that it was bound on, and only that QP invalidates it.
 */
#ifndef BELLHOP_PROTO_WINDOW_H
#define BELLHOP_PROTO_WINDOW_H

#include "key.h"

/* The values are those of enum ib_mw_type. */
enum bellhop_window_type {
	BELLHOP_WINDOW_TYPE_1 = 1,
	BELLHOP_WINDOW_TYPE_2 = 2,
};

enum bellhop_window_state {
	BELLHOP_WINDOW_FREE,
	BELLHOP_WINDOW_BOUND,
	BELLHOP_WINDOW_GONE, /* deallocated, but somebody may still have found it */
};

/**
 * struct bellhop_window - a memory window
 * @region: what it opens while it is bound; its rkey and PD it always has
 * @qp_id: of type 2, the QP that it is bound to
 * @type: enum bellhop_window_type
 * @state: enum bellhop_window_state
 */
struct bellhop_window {
	struct bellhop_region region;
	u64 qp_id;
	enum bellhop_window_type type;
	enum bellhop_window_state state;
};

/**
 * bellhop_window_check_bind() - whether a window may be bound (IBA 10.6.7.2, 11.2.10)
 * @window: the one found at the rkey's index, or NULL
 * @region: the region found at the index of the lkey of @bind, or NULL
 * @bind: what is asked for
 * @rkey: that the window is to have; only the variant is the consumer's to choose
 * @pdn: the PD of the QP that asks
 *
 * Return: BELLHOP_REASON_NONE, or the BELLHOP_REASON_MW_ that refuses it.
 */
enum bellhop_reason bellhop_window_check_bind(const struct bellhop_window *window,
					      const struct bellhop_region *region,
					      const struct bellhop_bind *bind, u32 rkey, u32 pdn);

/**
 * bellhop_window_bind() - binds a window; to nothing, when the length is 0
 * @window: bellhop_window_check_bind() allows it
 * @bind: what is asked for
 * @rkey: the window's from now on
 * @qp_id: the QP that asks, unlike that of any other QP, now or before; not 0
 */
void bellhop_window_bind(struct bellhop_window *window, const struct bellhop_bind *bind, u32 rkey,
			 u64 qp_id);

/**
 * bellhop_window_origin() - the address, as the window's users name it, of its region's first byte
 * @region: the region that it is bound to
 * @bind: as it was bound
 *
 * Return: the address; it wraps, and so does the difference to the window's addresses.
 */
u64 bellhop_window_origin(const struct bellhop_region *region, const struct bellhop_bind *bind);

/**
 * bellhop_window_check_invalidate() - whether a window may be invalidated (IBA 10.6.7.2, 11.4.1.1)
 * @window: the one found at the rkey's index, or NULL
 * @rkey: the key that is named
 * @pdn: the PD of the QP that asks, or that is asked to
 * @qp_id: that QP
 *
 * Return: BELLHOP_REASON_NONE, or the BELLHOP_REASON_MW_ that refuses it.
 */
enum bellhop_reason bellhop_window_check_invalidate(const struct bellhop_window *window, u32 rkey,
						    u32 pdn, u64 qp_id);

/**
 * bellhop_window_unbind() - afterwards the window opens nothing
 * @window: the window
 * @state: what it is then: free, or gone
 */
void bellhop_window_unbind(struct bellhop_window *window, enum bellhop_window_state state);

/**
 * bellhop_window_check_access() - whether a window's rkey opens a range to the other side
 * @window: the window found at the key's index
 * @rkey: the key that the request names
 * @pdn: the responder QP's protection domain
 * @qp_id: the responder QP
 * @addr: first address
 * @length: bytes
 * @access: the remote access that is needed
 *
 * Return: BELLHOP_REASON_NONE, or the BELLHOP_REASON_RKEY_ that refuses it.
 */
enum bellhop_reason bellhop_window_check_access(const struct bellhop_window *window, u32 rkey,
						u32 pdn, u64 qp_id, u64 addr, u64 length,
						u32 access);

/* How a bind or a local invalidation completes: one status for all that fails (IBA 11.6.2). */
static inline enum bellhop_wc_status bellhop_window_status(enum bellhop_reason reason)
{
	return reason ? BELLHOP_WC_MW_BIND_ERR : BELLHOP_WC_SUCCESS;
}

#endif /* BELLHOP_PROTO_WINDOW_H */
