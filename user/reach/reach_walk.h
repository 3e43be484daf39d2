/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Visits all memory of a process that may hold pointers, in pieces: present pages, except clean
 * pages of files. Pages that became present meanwhile are read afterwards, since a growing table
 * moves to such pages.
 */
#ifndef REACH_REACH_WALK_H
#define REACH_REACH_WALK_H

#include "image/image.h"

/*
 * Consecutive passes go in opposite directions: data that moves along with one does not with the
 * next.
 */
enum reach_direction { REACH_UPWARD, REACH_DOWNWARD };

/* What was not read. */
struct reach_walk_left {
	uint64_t swapped_bytes;
	/*
	 * Could not be read, or is memory of a device, or is shared memory outside of the process's
	 * page table, where this one or another process may have left it.
	 */
	uint64_t unread_bytes;
	/*
	 * The mapping with most of it, without private memory that could not be read; 0 = none.
	 * Untrusted text, cut.
	 */
	uint64_t largest_bytes;
	char largest_name[64];
	uint64_t read_bytes;
};

struct reach_walk_sink {
	/* `length` bytes at `place`, both multiples of 8. */
	void (*piece)(void *context, uint64_t place, const unsigned char *bytes, size_t length);
	void *context;
};

/* False if time ran out. Uses the pages of the last image_refresh, and calls it itself. */
bool reach_walk(struct image *image, enum reach_direction direction,
		const struct reach_walk_sink *sink, struct reach_walk_left *ret_left);

#endif
