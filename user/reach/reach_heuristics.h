/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pointers to the inside of a block that a program holds in place of one to its start, as C++ and some libraries do. The four shapes, and the
 * order in which they are tried, are those of memcheck (its manual: --leak-check-heuristics):
 *
 *	stdstring		a string of the old C++ library: length, capacity, a count of owners, characters; the pointer is to these
 *	length64		the number of the bytes that follow, in 8 bytes; the pointer is behind it
 *	newarray		what new[] makes of objects with a destructor: how many there are, then these; the pointer is to the first
 *	multipleinheritance	an object of several bases: table of functions, ..., table of functions, ...; the pointer is to one of the later
 *
 * Memcheck knows how many bytes a program has asked for. Here that is known but roughly, since malloc has rounded it up: what fits one
 * of the sizes that may have been asked for is taken. So more is taken than by memcheck, and never less.
 */
#ifndef REACH_REACH_HEURISTICS_H
#define REACH_REACH_HEURISTICS_H

#include "base/table.h"
#include "image/image.h"
#include "reach/reach_blocks.h"
#include "image/window.h"
#include "model/leak_report.h"

#define REACH_HEURISTICS_ALL ((1u << LEAK_HEURISTICS) - 1)

struct reach_heuristics {
	unsigned int wanted; /* bits by enum leak_heuristic */
	struct image *image;
	struct window window;
	struct table tables; /* cache by address: is it a table of functions? */
};

/* `image` is borrowed. Free with reach_heuristics_close. */
void reach_heuristics_open(struct reach_heuristics *heuristics, struct image *image,
			   unsigned int wanted);
void reach_heuristics_close(struct reach_heuristics *heuristics);

/*
 * The heuristic that accepts a pointer `offset` bytes into a block; LEAK_HEURISTIC_NONE = none
 * does.
 */
enum leak_heuristic reach_heuristics_judge(struct reach_heuristics *heuristics,
					   const struct reach_block *block, uint64_t offset);

#endif
