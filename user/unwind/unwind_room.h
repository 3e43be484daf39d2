/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which places of an array are taken: given out in runs, first fit, and taken back. Neighbouring runs that are free are one,
 * so what is given back as a whole can be given out as a whole. Pure: the array itself is the caller's.
 */
#ifndef UNWIND_UNWIND_ROOM_H
#define UNWIND_UNWIND_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_run {
	uint32_t start, count;
};

/* {0} is an array without places. */
struct unwind_room {
	struct unwind_run *runs; /* free ones, in order; no two touch */
	size_t count, capacity;
	uint32_t left; /* places in all of them */
};

/* Start with `count` free places from `start` on. Free with unwind_room_free. */
void unwind_room_start(struct unwind_room *room, uint32_t start, uint32_t count);

/* Give out `count` places, at least one, in a row. False, with nothing changed, if there is no such run. */
bool unwind_room_take(struct unwind_room *room, uint32_t count, uint32_t *ret_start);

/* Take back places that were given out, all of them or a part. */
void unwind_room_give(struct unwind_room *room, uint32_t start, uint32_t count);

void unwind_room_free(struct unwind_room *room);

#endif
