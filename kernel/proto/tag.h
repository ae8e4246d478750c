/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * tag.h: a list of tagged buffers, of which a message takes the first that its tag matches.
 *
 * Who adds buffers keeps those messages for itself that matched none. A buffer that it adds before
 * it has heard of the last of them might be meant for that one, and must not be given to a later
 * one: such buffers wait until both have counted as many messages.
 */
#ifndef BELLHOP_PROTO_TAG_H
#define BELLHOP_PROTO_TAG_H

#include "base.h"

#define BELLHOP_MAX_TAGS 1024u

enum bellhop_tag_state {
	BELLHOP_TAG_FREE,
	BELLHOP_TAG_WAITING, /* for both sides to agree */
	BELLHOP_TAG_LISTED, /* a message may take it */
	BELLHOP_TAG_TAKEN, /* by a message that is on its way */
};

/**
 * struct bellhop_tag - a tagged buffer's place in the list
 * @tag: what it is for
 * @mask: bits of it that count
 * @next: the one that was added after it; of a free one, another
 * @previous: the one that was added before it
 * @handle: what its owner calls it
 * @state: enum bellhop_tag_state
 */
struct bellhop_tag {
	u64 tag;
	u64 mask;
	u16 next;
	u16 previous;
	u32 handle;
	u8 state;
};

/**
 * struct bellhop_tags - the list; the caller sees to it that one call ends before the next
 * @entries: the places
 * @num: how many
 * @first: the oldest, or @num
 * @last: the newest, or @num
 * @free: the first of those that are free, or @num
 * @unmatched: messages that matched none
 * @handled: of those, how many the other side has heard of, as it says itself
 * @waiting: how many buffers wait
 */
struct bellhop_tags {
	struct bellhop_tag *entries;
	u32 num;
	u16 first;
	u16 last;
	u16 free;
	u32 unmatched;
	u32 handled;
	u32 waiting;
};

/**
 * bellhop_tags_init() - an empty list
 * @tags: the list
 * @entries: its places
 * @num: how many, 1 to BELLHOP_MAX_TAGS
 */
void bellhop_tags_init(struct bellhop_tags *tags, struct bellhop_tag *entries, u32 num);

/**
 * bellhop_tags_add() - adds a buffer behind all others
 * @tags: the list
 * @tag: what it is for
 * @mask: bits of it that count
 * @handle: what its owner calls it
 *
 * Return: its place, or -ENOMEM.
 */
int bellhop_tags_add(struct bellhop_tags *tags, u64 tag, u64 mask, u32 handle);

/**
 * bellhop_tags_find() - the buffer of a handle
 * @tags: the list
 * @handle: any number
 *
 * Return: its place, that of the oldest if there are more; or -ENOENT when it is not there any
 * more, or taken.
 */
int bellhop_tags_find(const struct bellhop_tags *tags, u32 handle);

/**
 * bellhop_tags_match() - a message takes the first buffer that it matches
 * @tags: the list
 * @tag: the message's
 *
 * Return: its place; or -ENOENT, and the message was counted.
 */
int bellhop_tags_match(struct bellhop_tags *tags, u64 tag);

/**
 * bellhop_tags_unmatch() - as if a message that matched none had not come
 * @tags: the list
 */
void bellhop_tags_unmatch(struct bellhop_tags *tags);

/**
 * bellhop_tags_give_back() - as if the message that took a buffer had not come
 * @tags: the list
 * @place: of a taken one
 */
void bellhop_tags_give_back(struct bellhop_tags *tags, u32 place);

/**
 * bellhop_tags_remove() - takes a buffer out
 * @tags: the list
 * @place: of one that is not free
 */
void bellhop_tags_remove(struct bellhop_tags *tags, u32 place);

/**
 * bellhop_tags_sync() - the other side says what it has heard of
 * @tags: the list
 * @handled: messages that matched none, counted like @tags->unmatched; any number
 */
void bellhop_tags_sync(struct bellhop_tags *tags, u32 handled);

#endif /* BELLHOP_PROTO_TAG_H */
