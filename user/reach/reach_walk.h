/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All memory of a process that may hold pointers, in pieces: what is in memory and is no clean page of a file. Pages that have come meanwhile are
 * read behind the others: a table that grows moves to such pages.
 */
#ifndef REACH_REACH_WALK_H
#define REACH_REACH_WALK_H

#include "heap/image.h"

/* Passes that follow each other go opposite ways: what moves with one of them does not with the next. */
enum reach_direction { REACH_UPWARD, REACH_DOWNWARD };

/* What was not seen. */
struct reach_walk_left {
	uint64_t swapped_bytes;
	/* Could not be read, or is shared memory that is not in the process's page table, where others may have left it. */
	uint64_t unread_bytes;
	uint64_t read_bytes;
};

struct reach_walk_sink {
	/* `length` bytes at `place`, both multiples of 8. */
	void (*piece)(void *context, uint64_t place, const unsigned char *bytes, size_t length);
	void *context;
};

/* False if there was no time for all of it. Pages are those of the last image_refresh, and of those that it calls itself. */
bool reach_walk(struct image *image, enum reach_direction direction,
		const struct reach_walk_sink *sink, struct reach_walk_left *ret_left);

#endif
