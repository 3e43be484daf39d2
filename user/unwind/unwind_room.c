/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of free runs: see unwind_room.h. Files come and go in dozens, so it is short and an array does. */
#include "unwind/unwind_room.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void unwind_room_start(struct unwind_room *room, uint32_t start, uint32_t count)
{
	*room = (struct unwind_room){ 0 };
	unwind_room_give(room, start, count);
}

static void room_remove(struct unwind_room *room, size_t at)
{
	room->count--;
	memmove(room->runs + at, room->runs + at + 1, (room->count - at) * sizeof(*room->runs));
}

bool unwind_room_take(struct unwind_room *room, uint32_t count, uint32_t *ret_start)
{
	size_t i;

	for (i = 0; i < room->count; i++) {
		struct unwind_run *run = &room->runs[i];

		if (run->count < count)
			continue;
		*ret_start = run->start;
		run->start += count;
		run->count -= count;
		room->left -= count;
		if (!run->count)
			room_remove(room, i);
		return true;
	}
	return false;
}

/* Index of the first free run behind `start`. */
static size_t room_find(const struct unwind_room *room, uint32_t start)
{
	size_t low = 0, high = room->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (room->runs[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void room_insert(struct unwind_room *room, size_t at, struct unwind_run run)
{
	room->runs = memory_grow(room->runs, room->count, &room->capacity, sizeof(*room->runs));
	memmove(room->runs + at + 1, room->runs + at, (room->count - at) * sizeof(*room->runs));
	room->runs[at] = run;
	room->count++;
}

void unwind_room_give(struct unwind_room *room, uint32_t start, uint32_t count)
{
	size_t at = room_find(room, start);
	struct unwind_run *left = at ? &room->runs[at - 1] : NULL;
	struct unwind_run *right = at < room->count ? &room->runs[at] : NULL;

	if (!count)
		return;
	room->left += count;
	if (right && start + count == right->start) {
		right->start = start;
		right->count += count;
	} else if (left && left->start + left->count == start) {
		left->count += count;
		return;
	} else {
		room_insert(room, at, (struct unwind_run){ start, count });
		return;
	}
	if (left && left->start + left->count == start) {
		left->count += right->count;
		room_remove(room, at);
	}
}

void unwind_room_free(struct unwind_room *room)
{
	free(room->runs);
	*room = (struct unwind_room){ 0 };
}
