/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See range_list.h. */
#include "model/range_list.h"

#include <stdlib.h>

#include "base/memory.h"

void range_list_init(struct range_list *list, uint64_t seed)
{
	*list = (struct range_list){ .random = seed | 1 };
}

/* 1 with probability 3/4, 2 with 3/16, ... */
static uint32_t range_list_height(struct range_list *list)
{
	uint32_t levels = 1;
	uint64_t bits;

	list->random ^= list->random << 13;
	list->random ^= list->random >> 7;
	list->random ^= list->random << 17;
	for (bits = list->random >> 8; levels < RANGE_LEVELS && !(bits & 3); bits >>= 2)
		levels++;
	return levels;
}

/* For each level, the link that leads to the first range that starts at or after `address`. */
static void range_list_seek(struct range_list *list, uint64_t address,
			    struct range **links[RANGE_LEVELS])
{
	struct range **next = list->first;
	int level;

	for (level = RANGE_LEVELS - 1; level >= 0; level--) {
		while (next[level] && next[level]->start < address)
			next = next[level]->next;
		links[level] = &next[level];
	}
}

static struct range *range_list_insert(struct range_list *list, uint64_t start, uint64_t end,
				       void *owner)
{
	struct range **links[RANGE_LEVELS];
	uint32_t levels = range_list_height(list), i;
	struct range *range = memory_alloc(1, sizeof(*range) + levels * sizeof(range->next[0]));

	*range = (struct range){ .start = start, .end = end, .owner = owner, .levels = levels };
	range_list_seek(list, start, links);
	for (i = 0; i < levels; i++) {
		range->next[i] = *links[i];
		*links[i] = range;
	}
	list->count++;
	return range;
}

/* Unlink the range that `links` lead to. */
static struct range *range_list_unlink(struct range_list *list, struct range **links[RANGE_LEVELS])
{
	struct range *range = *links[0];
	uint32_t i;

	for (i = 0; i < range->levels; i++)
		*links[i] = range->next[i];
	list->count--;
	return range;
}

/* The range before the one that `links` lead to, or NULL. */
static struct range *range_list_before(struct range_list *list, struct range **links[RANGE_LEVELS])
{
	if (links[0] == &list->first[0])
		return NULL;
	return (struct range *)((char *)links[0] - offsetof(struct range, next));
}

void range_list_add(struct range_list *list, uint64_t start, uint64_t end, void *owner)
{
	struct range **links[RANGE_LEVELS];
	struct range *left, *right;

	range_list_seek(list, start, links);
	left = range_list_before(list, links);
	right = *links[0];
	if (right && right->start == end && right->owner == owner) {
		end = right->end;
		free(range_list_unlink(list, links));
	}
	if (left && left->end == start && left->owner == owner)
		left->end = end;
	else
		range_list_insert(list, start, end, owner);
}

/* Let no range cross `address`. */
static void range_list_split(struct range_list *list, uint64_t address)
{
	struct range **links[RANGE_LEVELS];
	struct range *left;
	uint64_t end;

	range_list_seek(list, address, links);
	left = range_list_before(list, links);
	if (!left || left->end <= address)
		return;
	end = left->end;
	left->end = address;
	range_list_insert(list, address, end, left->owner);
}

struct range *range_list_take(struct range_list *list, uint64_t start, uint64_t end)
{
	struct range **links[RANGE_LEVELS];
	struct range *taken = NULL, **last = &taken;

	range_list_split(list, start);
	range_list_split(list, end);
	range_list_seek(list, start, links);
	while (*links[0] && (*links[0])->start < end) {
		*last = range_list_unlink(list, links);
		last = &(*last)->next[0];
		*last = NULL;
	}
	return taken;
}

void range_list_free(struct range_list *list)
{
	struct range *range = list->first[0], *next;

	for (; range; range = next) {
		next = range->next[0];
		free(range);
	}
	*list = (struct range_list){ .random = list->random };
}
