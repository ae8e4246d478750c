// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* tag.c: keeps tagged buffers in the order in which they were added. */
#include "tag.h"

void bellhop_tags_init(struct bellhop_tags *tags, struct bellhop_tag *entries, u32 num)
{
	u32 i;

	memset(tags, 0, sizeof(*tags));
	memset(entries, 0, num * sizeof(*entries));
	tags->entries = entries;
	tags->num = num;
	tags->first = (u16)num;
	tags->last = (u16)num;
	for (i = 0; i < num; i++)
		entries[i].next = (u16)(i + 1);
}

static bool is_place(const struct bellhop_tags *tags, u32 place)
{
	return place < tags->num;
}

static void append(struct bellhop_tags *tags, u16 place)
{
	struct bellhop_tag *entry = &tags->entries[place];

	entry->next = (u16)tags->num;
	entry->previous = tags->last;
	if (is_place(tags, tags->last))
		tags->entries[tags->last].next = place;
	else
		tags->first = place;
	tags->last = place;
}

static void unlink_place(struct bellhop_tags *tags, u16 place)
{
	struct bellhop_tag *entry = &tags->entries[place];

	if (is_place(tags, entry->previous))
		tags->entries[entry->previous].next = entry->next;
	else
		tags->first = entry->next;
	if (is_place(tags, entry->next))
		tags->entries[entry->next].previous = entry->previous;
	else
		tags->last = entry->previous;
}

/* Those that wait are behind all others. */
static void list_waiting(struct bellhop_tags *tags)
{
	u32 place = tags->last;

	if (tags->unmatched != tags->handled)
		return;
	for (; tags->waiting; tags->waiting--) {
		tags->entries[place].state = BELLHOP_TAG_LISTED;
		place = tags->entries[place].previous;
	}
}

int bellhop_tags_add(struct bellhop_tags *tags, u64 tag, u64 mask, u32 handle)
{
	u16 place = tags->free;
	struct bellhop_tag *entry;

	if (!is_place(tags, place))
		return -ENOMEM;
	entry = &tags->entries[place];
	tags->free = entry->next;
	entry->tag = tag;
	entry->mask = mask;
	entry->handle = handle;
	entry->state = BELLHOP_TAG_WAITING;
	append(tags, place);
	tags->waiting++;
	list_waiting(tags);
	return place;
}

int bellhop_tags_find(const struct bellhop_tags *tags, u32 handle)
{
	u32 place;

	for (place = tags->first; is_place(tags, place); place = tags->entries[place].next) {
		const struct bellhop_tag *entry = &tags->entries[place];

		if (entry->handle == handle && entry->state != BELLHOP_TAG_TAKEN)
			return (int)place;
	}
	return -ENOENT;
}

int bellhop_tags_match(struct bellhop_tags *tags, u64 tag)
{
	u32 place;

	for (place = tags->first; is_place(tags, place); place = tags->entries[place].next) {
		struct bellhop_tag *entry = &tags->entries[place];

		if (entry->state == BELLHOP_TAG_LISTED && !((entry->tag ^ tag) & entry->mask)) {
			entry->state = BELLHOP_TAG_TAKEN;
			return (int)place;
		}
	}
	tags->unmatched++;
	list_waiting(tags);
	return -ENOENT;
}

void bellhop_tags_unmatch(struct bellhop_tags *tags)
{
	tags->unmatched--;
	list_waiting(tags);
}

void bellhop_tags_give_back(struct bellhop_tags *tags, u32 place)
{
	tags->entries[place].state = BELLHOP_TAG_LISTED;
}

void bellhop_tags_remove(struct bellhop_tags *tags, u32 place)
{
	struct bellhop_tag *entry = &tags->entries[place];

	if (entry->state == BELLHOP_TAG_WAITING)
		tags->waiting--;
	entry->state = BELLHOP_TAG_FREE;
	unlink_place(tags, (u16)place);
	entry->next = tags->free;
	tags->free = (u16)place;
}

void bellhop_tags_sync(struct bellhop_tags *tags, u32 handled)
{
	tags->handled = handled;
	list_waiting(tags);
}
