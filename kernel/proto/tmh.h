/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * tmh.h: the header of a message for tag matching, and behind it that of a rendezvous.
 *
 *	 0 operation, 3 reserved bytes
 *	 4 what the application likes
 *	 8 tag
 *	16 address, of a rendezvous
 *	24 rkey
 *	28 length
 *
 * All numbers are big endian. The layout is that of struct ibv_tmh and struct ibv_rvh.
 */
#ifndef BELLHOP_PROTO_TMH_H
#define BELLHOP_PROTO_TMH_H

#include "base.h"

#define BELLHOP_TMH_BYTES 16u
#define BELLHOP_RVH_BYTES 16u
#define BELLHOP_TMH_MAX (BELLHOP_TMH_BYTES + BELLHOP_RVH_BYTES)

/* The values are those of enum ibv_tmh_op. */
enum bellhop_tmh_op {
	BELLHOP_TMH_NO_TAG = 0, /* the message is not for tagged buffers */
	BELLHOP_TMH_RNDV = 1, /* says where the payload is to be read from */
	BELLHOP_TMH_FIN = 2, /* the payload of such a message was read */
	BELLHOP_TMH_EAGER = 3, /* is followed by its payload */
};

/**
 * struct bellhop_tmh - the headers
 * @op: what kind of message it is
 * @context: what the application likes
 * @tag: the message's
 * @addr: of a rendezvous: where its payload is
 * @rkey: likewise
 * @length: likewise, in bytes
 */
struct bellhop_tmh {
	enum bellhop_tmh_op op;
	u32 context;
	u64 tag;
	u64 addr;
	u32 rkey;
	u32 length;
};

/**
 * bellhop_tmh_decode() - reads the headers of a message
 * @tmh: filled in; what the kind of message has not is zero
 * @bytes: its first bytes, from anybody
 * @length: how many; BELLHOP_TMH_MAX is enough
 *
 * A message of another kind, or that is cut off, has no tag.
 */
void bellhop_tmh_decode(struct bellhop_tmh *tmh, const u8 *bytes, u32 length);

/* Whether buffers are looked for that its tag matches. */
static inline bool bellhop_tmh_is_tagged(const struct bellhop_tmh *tmh)
{
	return tmh->op == BELLHOP_TMH_EAGER || tmh->op == BELLHOP_TMH_RNDV;
}

/* The headers of a rendezvous become those of the message which says that it is over. */
static inline void bellhop_tmh_finish(u8 *bytes)
{
	bytes[0] = BELLHOP_TMH_FIN;
}

#endif /* BELLHOP_PROTO_TMH_H */
